//! What everybody knows in the moment before a die falls.
//!
//! Invariant: nothing here comes from the game's own seed but its commitment and the faces that were shown.

use plybook_core::book::Link;
use plybook_core::dice::Face;
use plybook_core::entropy::IfAbsent;
use plybook_core::{Digest, Header, Time};
use plybook_tests::random::Random;
use plybook_tests::table::{START, Table, nonce, table};

/// Sides of every die here.
pub(super) const SIDES: u8 = 6;
/// Faces of a game: of so many throws of one die, or of half as many throws of two.
pub(super) const FACES_A_GAME: usize = 50;

/// What everybody knows in the moment before a die falls.
pub(super) struct Public<'a> {
    /// The header.
    pub(super) header: &'a Header,
    /// The text of the book so far, each piece with its digest; the header first.
    pub(super) links: &'a [Link],
    /// Every face of this game so far. Those of this very throw's other dice are no longer secret to whoever
    /// would guess the next: a predictor may know too much, and must fail all the same.
    pub(super) faces: &'a [Face],
    /// Standing throws before this one.
    pub(super) draw: u64,
    /// Who throws.
    pub(super) seat: u8,
    /// Which die of the throw.
    pub(super) die: u16,
    /// The time that the entry with this throw will have.
    pub(super) now: Time,
    /// What the seats added, in games that ask them: revealed before the first throw.
    pub(super) nonces: [Vec<u8>; 2],
    /// The game before this one: over, so that its seed is revealed.
    pub(super) before: Option<&'a Played>,
}

impl Public<'_> {
    /// What the die is made of, but for the key: proto/book-format.md, section 6.
    pub(super) fn message(&self) -> [u8; 60] {
        let mut message = [0; 60];
        message[..14].copy_from_slice(b"plybook-dice/1");
        message[14..22].copy_from_slice(&self.draw.to_be_bytes());
        message[22..24].copy_from_slice(&u16::from(self.seat).to_be_bytes());
        message[24..26].copy_from_slice(&self.die.to_be_bytes());
        let lengths = self.nonces.each_ref().map(|nonce| (nonce.len() as u16).to_be_bytes());
        let nonces = Digest::of_parts(&[&lengths[0], &self.nonces[0], &lengths[1], &self.nonces[1]]);
        message[28..].copy_from_slice(&nonces.0);
        message
    }

    /// The last entry.
    pub(super) fn last(&self) -> &Link {
        self.links.last().unwrap()
    }
}

/// A game that was played, with its secret.
#[derive(Clone)]
pub(super) struct Played {
    pub(super) seed: [u8; 32],
    pub(super) faces: Vec<Face>,
    header: Header,
    links: Vec<Link>,
    custom: Custom,
}

/// What differs between games: how many dice there are, and whether the seats add nonces.
#[derive(Clone, Copy)]
struct Custom {
    dice: usize,
    joint: bool,
}

impl Custom {
    /// Each in turn.
    const fn of(number: u64) -> Custom {
        Custom { dice: 1 + number as usize % 2, joint: number % 4 >= 2 }
    }

    /// Entries before the first throw: the header, and two promises and two nonces where there are any.
    const fn entries_before(self) -> usize {
        if self.joint { 5 } else { 1 }
    }
}

impl Played {
    /// Calls `at` with what is known before each die, and with the face that it then shows.
    pub(super) fn walk(&self, before: Option<&Played>, mut at: impl FnMut(&Public<'_>, Face)) {
        for (nth, face) in self.faces.iter().enumerate() {
            let links = &self.links[..self.custom.entries_before() + nth / self.custom.dice];
            at(&known(&self.header, links, &self.faces[..nth], self.custom, before), *face);
        }
    }
}

fn known<'a>(header: &'a Header, links: &'a [Link], faces: &'a [Face], custom: Custom, before: Option<&'a Played>) -> Public<'a> {
    let draw = (links.len() - custom.entries_before()) as u64;
    let now = Time::from_unix_ms(header.created.unix_ms() + 1000 * links.len() as u64);
    let nonces = if custom.joint { [nonce(0), nonce(1)] } else { [vec![], vec![]] };
    Public { header, links, faces, draw, seat: (draw % 2) as u8, die: (faces.len() % custom.dice) as u16, now, nonces, before }
}

/// What a game begins with.
pub(super) struct Opening<'a> {
    pub(super) number: u64,
    pub(super) id: u128,
    pub(super) created: Time,
    pub(super) before: Option<&'a Played>,
}

/// Whoever makes seeds and dice.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    /// The seed of a game.
    pub(super) seed: &'a dyn Fn(&Opening<'_>) -> [u8; 32],
    /// Faces that come from elsewhere than the seed.
    pub(super) die: Option<&'a dyn Fn(&Public<'_>) -> Face>,
}

/// The seeds of a service that keeps them to itself.
pub(super) fn secret(opening: &Opening<'_>) -> [u8; 32] {
    Digest::of_parts(&[b"known to this test alone", &opening.number.to_be_bytes()]).0
}

/// An honest service.
pub(super) const HONEST: Maker<'static> = Maker { seed: &secret, die: None };

impl Maker<'_> {
    /// So many games, one after the other.
    pub(super) fn plays(&self, games: usize) -> Vec<Played> {
        let (mut random, mut created, mut played) = (Random::new(32), START.unix_ms(), Vec::<Played>::new());
        for number in 0..games as u64 {
            created += 60_000 + random.below(10_000_000);
            let bits = u128::from(random.bits()) << 64 | u128::from(random.bits());
            // A UUID of version 7, as the service makes them: the time is in it.
            let id = u128::from(created) << 80 | 7 << 76 | bits >> 56 << 64 & 0xfff << 64 | 2 << 62 | bits & ((1 << 62) - 1);
            let opening = Opening { number, id, created: Time::from_unix_ms(created), before: played.last() };
            let game = self.play(&opening);
            played.push(game);
        }
        played
    }

    fn play(&self, opening: &Opening<'_>) -> Played {
        let (seed, custom) = ((self.seed)(opening), Custom::of(opening.number));
        let dice = custom.dice;
        let mut table = table().snakes(1000, &[]).with("finish", "reach").with("dice", dice as i64).with("sides", i64::from(SIDES));
        table = table.id(opening.id).created(opening.created).seed(seed);
        if custom.joint {
            table = table.joint(60, IfAbsent::Abort).joined();
        }
        let (header, mut faces) = (table.header(), Vec::new());
        while faces.len() < FACES_A_GAME {
            table = match self.die {
                None => table.roll(1),
                Some(die) => {
                    let mut thrown = faces.clone();
                    for _ in 0..dice {
                        thrown.push(die(&known(&header, table.book().links(), &thrown, custom, opening.before)));
                    }
                    table.throw(&thrown[faces.len()..])
                }
            };
            faces.extend(shown(&table));
        }
        Played { seed, faces, header, links: table.book().links().to_vec(), custom }
    }
}

/// The faces in the last line.
fn shown(table: &Table) -> Vec<Face> {
    let throw = table.last_line().split(' ').find_map(|fact| fact.strip_prefix("throw=")).expect("a roll shows faces");
    throw.split(',').map(|face| face.parse().unwrap()).collect()
}
