//! A game restored from a snapshot is the game that was folded from its header.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ed25519_dalek::{Signer as _, SigningKey};
use plybook_core::entropy::{self, IfAbsent, SeatSignature};
use plybook_core::entry::Actor;
use plybook_core::game::{Ask, BadSnapshot, Fault, Request, SNAPSHOT_FORMAT, State};
use plybook_core::header::UndoBy;
use plybook_core::limits::{HISTORY_STEP, SNAPSHOT_TAIL, UNDO_PLIES_MAX};
use plybook_core::{Action, Cell, Digest, Game, Rejection, Rules, Seat, Seed, Seq};
use plybook_rulesets::Registry;
use plybook_tests::golden;
use plybook_tests::random::{Random, repeat};
use plybook_tests::table::{SEED, Table, table, tester};

/// A book that grows at random, with the game folded from its header and every snapshot that was due.
struct Growing {
    game: Game,
    rules: Arc<dyn Rules>,
    seed: Seed,
    lines: Vec<(String, Digest)>,
    due: BTreeMap<Seq, Vec<u8>>,
    /// Between climbing and going back.
    climbs: bool,
}

impl Growing {
    fn from(table: &Table) -> Growing {
        let header = table.header();
        let rules = Registry::standard().rules_of(&header).unwrap();
        let game = Game::new(header, Arc::clone(&rules));
        Growing { game, rules, seed: Seed::new(SEED), lines: Vec::new(), due: BTreeMap::new(), climbs: true }
    }

    fn restore(&self, bytes: &[u8]) -> Result<Game, BadSnapshot> {
        Game::restore(self.game.header().clone(), Arc::clone(&self.rules), bytes)
    }

    /// The game at an earlier entry, from the nearest snapshot before it.
    fn at(&self, seq: Seq) -> Game {
        let nearest = self.due.range(..=seq).next_back();
        let mut game = nearest
            .map_or_else(|| Game::new(self.game.header().clone(), Arc::clone(&self.rules)), |(_, bytes)| self.restore(bytes).unwrap());
        assert!(seq.0 - game.head().seq.0 < HISTORY_STEP, "so many entries are followed at most");
        for (line, digest) in &self.lines[game.head().seq.0 as usize - 1..seq.0 as usize - 1] {
            game.apply_line(line, *digest).unwrap();
        }
        game
    }

    fn request(&self, seat: Option<Seat>, ask: Ask) -> Request {
        Request { actor: Actor { seat, by: tester() }, expected: self.game.head().seq, ask }
    }

    /// Takes back up to as many moves as one undo may, or fewer.
    fn back(&self, random: &mut Random) -> Option<Request> {
        let most = self.game.standing().len().min(if self.climbs { 10 } else { UNDO_PLIES_MAX });
        let moves = if random.once_in(3) { most } else { 1 + random.below(most.max(1) as u64) as usize };
        let at = self.game.standing().len().checked_sub(moves.max(1))?;
        Some(self.request(Some(self.game.play().standing()[at].seat), Ask::Undo(Some(self.game.standing()[at]))))
    }

    fn forward(&self, random: &mut Random) -> Option<Request> {
        let seat = self.game.to_move()?;
        let board = self.game.position().board();
        let action = match self.rules.shapes() {
            [plybook_core::action::Shape::Place] => {
                let cells = (0..200).map(|_| Cell(random.below(u64::from(board.len())) as u32));
                Action::Place(cells.into_iter().find(|cell| board.get(*cell).is_nothing())?)
            }
            _ => random.action(self.game.play())?.0,
        };
        Some(self.request(Some(seat), Ask::Move(action)))
    }

    /// One entry more.
    fn grow(&mut self, random: &mut Random) {
        if random.once_in(if self.climbs { 400 } else { 12 }) {
            self.climbs = !self.climbs;
        }
        let goes_back = if self.climbs { random.once_in(40) } else { !random.once_in(3) };
        let request = if goes_back { self.back(random) } else { self.forward(random) };
        let request = request.or_else(|| self.forward(random)).or_else(|| self.back(random)).unwrap();
        let entry = self.game.decide(&request, self.game.head().time, &self.seed).unwrap();
        let line = entry.to_string();
        let digest = self.game.apply(&entry).unwrap().digest;
        self.lines.push((line, digest));
        if self.game.snapshot_is_due() {
            self.due.insert(self.game.head().seq, self.game.snapshot().unwrap());
        }
    }
}

/// Everything that anybody can ask of a game, as far as both know the way back.
#[track_caller]
fn same(restored: &mut Game, folded: &mut Game) {
    assert_eq!(restored.position(), folded.position());
    assert_eq!((restored.head(), restored.state(), restored.to_move()), (folded.head(), folded.state(), folded.to_move()));
    assert_eq!(restored.snapshot_is_due(), folded.snapshot_is_due());
    let known = restored.standing().len();
    assert!(known <= folded.standing().len());
    let forgotten = folded.standing().len() - known;
    assert_eq!(restored.standing(), &folded.standing()[forgotten..]);
    assert_eq!(restored.play().standing(), &folded.play().standing()[forgotten..]);
    assert_eq!(restored.play().floor(), folded.play().floor() + forgotten);
}

/// The same answers, refusals among them, to whoever wants to take something back.
#[track_caller]
fn answers_alike(grown: &Growing, restored: &mut Game, random: &mut Random) {
    let head = restored.head().seq.0;
    let targets = [None, Some(Seq(1)), Some(Seq(2)), Some(Seq(head)), Some(Seq(1 + random.below(u64::from(head)) as u32))];
    let near = restored.standing().len().checked_sub(1 + random.below(130) as usize).map(|at| restored.standing()[at]);
    let mut folded = grown.game.clone();
    for target in targets.into_iter().chain([near]) {
        for seat in (0..restored.header().seat_count()).map(Seat) {
            let request = grown.request(Some(seat), Ask::Undo(target));
            let time = restored.head().time;
            let answers = [&mut *restored, &mut folded].map(|game| game.decide(&request, time, &grown.seed));
            assert_eq!(answers[0], answers[1], "{request:?}");
            assert!(!matches!(answers[0], Err(Rejection::WayBack { .. })));
        }
    }
}

/// Follows a book entry by entry beside the fold, each time from the last snapshot: so every entry is read
/// from its nearest one.
fn read_from_snapshots(table: &Table, entries: u32, random: &mut Random) -> (usize, usize) {
    let mut grown = Growing::from(table);
    let mut restored = grown.game.clone();
    let mut lengthened = 0;
    while grown.game.head().seq.0 < entries {
        grown.grow(random);
        let (line, digest) = grown.lines.last().unwrap();
        // Never "the way back is not known".
        restored.apply_line(line, *digest).unwrap();
        same(&mut restored, &mut grown.game);
        if random.once_in(300) {
            assert_eq!(restored.position_digest(), grown.game.position_digest());
            answers_alike(&grown, &mut restored, random);
        }
        let Some(bytes) = grown.due.get(&grown.game.head().seq) else { continue };
        // Also from a node that knows the game only from snapshots: after it has looked further back.
        while let Some(below) = restored.way_back_needed(SNAPSHOT_TAIL) {
            lengthened += 1;
            assert_eq!(restored.snapshot(), None);
            let earlier = grown.at(below);
            assert!(restored.lengthen(&earlier));
            assert!(!restored.lengthen(&earlier), "that is not where it ends any more");
        }
        same(&mut restored, &mut grown.game);
        assert_eq!(restored.snapshot().as_ref(), Some(bytes));
        assert_eq!(restored.shortened().snapshot().as_ref(), Some(bytes));
        restored = grown.restore(bytes).unwrap();
        assert!(restored.standing().len() <= SNAPSHOT_TAIL);
        same(&mut restored, &mut grown.game);
    }
    (grown.due.len() - (entries / HISTORY_STEP) as usize, lengthened)
}

#[test]
fn every_entry_read_from_the_nearest_snapshot_is_the_entry_folded_from_the_header() {
    let tables: [fn() -> Table; 3] = [
        || table().mnk(70, 70, 70),
        || table().snakes(3_000, &[]).seats(3).undo_over_throw().undo_after_end(),
        || table().connect_four(60, 12, 60).undo_after_end(),
    ];
    let (mut descents, mut lengthened) = (0, 0);
    for table in tables {
        repeat(3, |random| {
            let (more, longer) = read_from_snapshots(&table(), 5 * HISTORY_STEP + 7, random);
            descents += more;
            lengthened += longer;
        });
    }
    assert!(descents > 40 && lengthened > 40, "{descents} snapshots between the regular ones, {lengthened} times further back");
}

/// The game after a detour through its snapshot.
#[track_caller]
fn there_and_back(game: &Game, rules: &Arc<dyn Rules>) -> Game {
    let mut restored = Game::restore(game.header().clone(), Arc::clone(rules), &game.snapshot().unwrap()).unwrap();
    same(&mut restored, &mut game.clone());
    assert_eq!((restored.joining(), restored.outcome(), restored.standing()), (game.joining(), game.outcome(), game.standing()));
    restored
}

/// From any entry on, every golden goes on as it did.
#[test]
fn a_golden_goes_on_from_a_snapshot_of_any_entry() {
    let mut entries = 0;
    for golden in golden::all() {
        let header = golden.book.header().clone();
        let rules = golden::registry().rules_of(&header).unwrap();
        let mut game = Game::new(header, Arc::clone(&rules));
        let mut restored = there_and_back(&game, &rules);
        for link in golden.book.lines() {
            game.apply_line(&link.text, link.digest).unwrap();
            restored.apply_line(&link.text, link.digest).unwrap();
            same(&mut restored, &mut game);
            restored = there_and_back(&game, &rules);
            entries += 1;
        }
    }
    assert!(entries > 100);
}

/// Nonces are promised, signed, revealed and kept back; the dice that follow are the same.
#[test]
fn joining_goes_on_from_a_snapshot_of_any_step() {
    let key = SigningKey::from_bytes(&[5; 32]);
    let signs = |table: Table| {
        let mut commit = table.promise(1);
        let bytes = entropy::signed_bytes(&table.header().digest(), Seat(1), &commit.commitment);
        let signature = key.sign(&bytes).to_bytes();
        commit.signed = Some(SeatSignature { key: key.verifying_key().to_bytes(), signature });
        table.asks(Some(Seat(1)), Ask::Commit(commit))
    };
    let steps: [&dyn Fn(Table) -> Table; 8] = [
        &|table| table.commit(2),
        &signs,
        &|table| table.commit(0),
        &|table| table.reveal(1),
        &|table| table.reveal(0),
        &|table| table.reveal(2),
        &|table| table.roll(1),
        &|table| table.roll(3),
    ];
    let mut table = race(IfAbsent::Forfeit);
    for (number, step) in steps.iter().enumerate() {
        let rules = Registry::standard().rules_of(&table.header()).unwrap();
        let mut restored = there_and_back(table.game(), &rules);
        let before = table.game().head().seq.0 as usize;
        table = step(table);
        for link in &table.book().links()[before..] {
            let entry = restored.clone().apply_line(&link.text, link.digest).unwrap();
            let again = restored.decide(&golden::request_of(&entry), entry.time, &Seed::new(SEED)).unwrap();
            assert_eq!(again, entry, "step {number}");
            restored.apply(&entry).unwrap();
        }
        there_and_back(table.game(), &rules);
    }
    for rule in [IfAbsent::Forfeit, IfAbsent::Abort] {
        let table = race(rule).commit(0).later(61).close();
        let rules = Registry::standard().rules_of(&table.header()).unwrap();
        assert_eq!(there_and_back(table.game(), &rules).state(), State::Closed);
    }
}

fn race(rule: IfAbsent) -> Table {
    table().snakes(100, &[]).seats(3).joint(60, rule)
}

/// A game with everything in it that a snapshot can hold: repetitions, an outcome, lines, moves of tail.
fn finished() -> Growing {
    let mut grown = Growing::from(&table().of("connect_four").with("pop_out", true).undo_after_end());
    for notation in "1 2 1 2 1 3 1^ 3 1 5 1".split(' ') {
        let request = grown.request(grown.game.to_move(), Ask::MoveText(notation.to_owned()));
        let entry = grown.game.decide(&request, grown.game.head().time, &grown.seed).unwrap();
        grown.game.apply(&entry).unwrap();
    }
    assert_eq!(grown.game.state(), State::Finished);
    grown
}

/// The bytes with another sum under them.
fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 32);
    let sum = Digest::of(&bytes);
    bytes.extend(sum.0);
    bytes
}

#[test]
fn a_damaged_snapshot_never_restores() {
    let grown = finished();
    let bytes = grown.game.snapshot().unwrap();
    same(&mut grown.restore(&bytes).unwrap(), &mut grown.game.clone());
    for length in 0..bytes.len() {
        assert_eq!(grown.restore(&bytes[..length]).err(), Some(BadSnapshot::Damaged), "cut to {length} bytes");
    }
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut other = bytes.clone();
            other[at] ^= flip;
            assert!(grown.restore(&other).is_err(), "byte {at} is another");
        }
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert_eq!(grown.restore(&longer).err(), Some(BadSnapshot::Damaged));
}

/// Whatever somebody writes into the store, nothing is done but to refuse it, or to play on from it.
#[test]
fn a_snapshot_that_was_made_up_harms_nobody() {
    let grown = finished();
    let bytes = grown.game.snapshot().unwrap();
    let mut restored = 0;
    let mut tried = |other: Vec<u8>, what: &str| {
        let harmless = catch_unwind(AssertUnwindSafe(|| {
            let Ok(mut game) = grown.restore(&summed(other)) else { return 0 };
            while game.standing().len() > 1 {
                let seat = game.play().standing()[0].seat;
                let ask = Ask::Undo(Some(game.standing()[0]));
                let request = Request { actor: Actor { seat: Some(seat), by: tester() }, expected: game.head().seq, ask };
                let Ok(entry) = game.decide(&request, game.head().time, &grown.seed) else { break };
                game.apply(&entry).unwrap();
            }
            1
        }));
        restored += harmless.unwrap_or_else(|_| panic!("{what} panics"));
    };
    for at in 0..bytes.len() - 32 {
        for byte in [0, 1, 0x7f, 0x80, 0xff, bytes[at] ^ 1, bytes[at].wrapping_add(1)] {
            let mut other = bytes.clone();
            other[at] = byte;
            tried(other, &format!("byte {at} = {byte}"));
        }
        // A length of billions where there are no bytes behind it.
        let mut other = bytes[..at].to_vec();
        other.extend([0xff, 0xff, 0xff, 0xff, 0x7f]);
        other.extend([0; 32]);
        tried(other, &format!("a length at {at}"));
    }
    assert!(restored > 0, "some bytes are free");
}

#[test]
fn another_build_and_another_game_are_told_apart() {
    let grown = finished();
    let bytes = grown.game.snapshot().unwrap();
    for format in [SNAPSHOT_FORMAT - 1, SNAPSHOT_FORMAT + 1] {
        let mut other = bytes.clone();
        other[16..18].copy_from_slice(&format.to_be_bytes());
        assert_eq!(grown.restore(&summed(other)).err(), Some(BadSnapshot::Format(format)));
    }
    let release = env!("CARGO_PKG_VERSION").as_bytes();
    let at = bytes.windows(release.len()).position(|window| window == release).unwrap();
    let mut later = bytes.clone();
    later[at] += 1;
    assert_eq!(grown.restore(&summed(later)).err(), Some(BadSnapshot::Build), "a position of a release with other mistakes");
    let other = Growing::from(&table().of("connect_four").with("pop_out", true).undo_by(UndoBy::None));
    assert_eq!(other.restore(&bytes).err(), Some(BadSnapshot::OtherGame));
    let mut elsewhere = other.game.clone();
    assert!(!elsewhere.lengthen(&grown.game));
}

/// Below its floor a restored game guesses nothing, and says from where it has to be told.
#[test]
fn below_its_floor_a_restored_game_asks_to_be_lengthened() {
    let mut grown = Growing::from(&table().mnk(40, 40, 40));
    let mut random = Random::new(3);
    while grown.game.position().ply() < 1_000 {
        grown.climbs = true;
        let request = grown.forward(&mut random).unwrap();
        let entry = grown.game.decide(&request, grown.game.head().time, &grown.seed).unwrap();
        let digest = grown.game.apply(&entry).unwrap().digest;
        grown.lines.push((entry.to_string(), digest));
    }
    let mut restored = grown.restore(&grown.game.snapshot().unwrap()).unwrap();
    assert_eq!((restored.standing().len(), restored.play().floor()), (SNAPSHOT_TAIL, 1_000 - SNAPSHOT_TAIL));
    let takes_back = |game: &Game| {
        let at = game.standing().len() - UNDO_PLIES_MAX;
        let seat = Some(game.play().standing()[at].seat);
        Request { actor: Actor { seat, by: tester() }, expected: game.head().seq, ask: Ask::Undo(Some(game.standing()[at])) }
    };
    let mut asked = 0;
    while grown.game.position().ply() > UNDO_PLIES_MAX as u32 {
        let request = takes_back(&grown.game);
        let time = grown.game.head().time;
        let entry = grown.game.decide(&request, time, &grown.seed).unwrap();
        let digest = grown.game.apply(&entry).unwrap().digest;
        if let Err(refused) = restored.clone().decide(&request, time, &grown.seed) {
            let Rejection::WayBack { below } = refused else { panic!("{refused}") };
            let before = restored.head();
            let error = restored.apply_line(&entry.to_string(), digest).unwrap_err();
            assert_eq!((error.fault, restored.head()), (Fault::WayBack { below }, before));
            assert_eq!(restored.way_back_needed(UNDO_PLIES_MAX + 1), Some(below));
            // No snapshot was kept, so this is folded from the header.
            let earlier = grown.at(below);
            assert!(restored.lengthen(&earlier.shortened()));
            asked += 1;
        }
        restored.apply_line(&entry.to_string(), digest).unwrap();
        same(&mut restored, &mut grown.game);
    }
    assert!(asked >= 2, "{asked} times");
}
