//! Joint entropy: what each party knows when it can still choose foretells nothing, and what it learns later it can no
//! longer use.
//!
//! The bound is that of the predictors.

use plybook_core::dice::{Face, Throw};
use plybook_core::entropy::{IfAbsent, JoinRefusal, commitment};
use plybook_core::{Dice, Digest, Seat, Seed};
use plybook_tests::table::{SEED, nonce, table};

use super::predictors::Score;

const GAMES: u32 = 10_000;
const DIE: Throw = Throw { dice: 1, sides: 6 };

/// 32 bytes that differ from game to game and from one another.
fn drawn(what: &str, game: u32) -> [u8; 32] {
    Digest::of_parts(&[what.as_bytes(), &game.to_be_bytes()]).0
}

fn first(seed: [u8; 32], nonces: &[&[u8]]) -> Face {
    Dice::new(Seed::new(seed), nonces).throw(0, Seat(0), DIE)[0]
}

/// What one who has not all of it says of the first face.
type Guess = fn(game: u32) -> Face;

fn truth(game: u32) -> Face {
    first(drawn("seed", game), &[&drawn("first", game), &drawn("second", game)])
}

fn nonces(game: u32) -> [[u8; 32]; 2] {
    [drawn("first", game), drawn("second", game)]
}

fn promise(seat: u8, game: u32) -> [u8; 32] {
    commitment(&Digest(drawn("header", game)), Seat(seat), &nonces(game)[usize::from(seat)]).0
}

/// Who reveals last knows every nonce and the seed's commitment; who has the seed knows, when the last seat commits,
/// all other nonces if these seats are its friends, and that seat's commitment.
const GUESSES: [(&str, Guess); 9] = [
    ("all nonces, and the seed's commitment for the seed", |game| {
        let [one, other] = nonces(game);
        first(Seed::new(drawn("seed", game)).commitment().0, &[&one, &other])
    }),
    ("all nonces, and no seed", |game| first([0; 32], &nonces(game).each_ref().map(<[u8; 32]>::as_slice))),
    ("all nonces, and one of them for the seed", |game| {
        let [one, other] = nonces(game);
        first(one, &[&one, &other])
    }),
    ("all nonces, and the seed of the game before", |game| {
        first(drawn("seed", game.wrapping_sub(1)), &nonces(game).each_ref().map(<[u8; 32]>::as_slice))
    }),
    ("the seed, and no nonces", |game| first(drawn("seed", game), &[&[], &[]])),
    ("the seed, and the other nonce alone", |game| first(drawn("seed", game), &[&nonces(game)[0], &[]])),
    ("the seed, the other nonce, and the commitment for the last", |game| {
        first(drawn("seed", game), &[&nonces(game)[0], &promise(1, game)])
    }),
    ("the seed, and the other nonce for both", |game| first(drawn("seed", game), &[&nonces(game)[0], &nonces(game)[0]])),
    ("the seed, and both commitments", |game| first(drawn("seed", game), &[&promise(0, game), &promise(1, game)])),
];

#[test]
fn scenario_32_who_lacks_the_seed_or_one_nonce_foretells_nothing() {
    let score = |name: &str, guess: Guess| {
        let hits = (0..GAMES).filter(|game| guess(*game) == truth(*game)).count();
        Score { name: name.to_owned(), hits, faces: GAMES as usize }
    };
    for (name, guess) in GUESSES {
        let score = score(name, guess);
        assert!(!score.is_caught(GUESSES.len()), "{score:?}");
    }
    // The bound sees one who has all of it for one game in ten.
    let cheat: Guess = |game| if game.is_multiple_of(10) { truth(game) } else { 1 };
    assert!(score("a cheat", cheat).is_caught(GUESSES.len()));
}

/// A seat that reveals last and has been told the seed looks for a nonce that throws a six: it finds many, and the
/// game takes none of them.
#[test]
fn scenario_32_a_nonce_that_throws_a_six_comes_too_late() {
    let table = table().of("snakes_and_ladders").joint(60, IfAbsent::Forfeit).commit(0).commit(1).reveal(0);
    let (game, at) = (table.game(), table.game().head().time);
    let joining = game.joining().unwrap();
    let sixes: Vec<[u8; 32]> =
        (0..1_000).map(|n| drawn("sought", n)).filter(|sought| first(SEED, &[nonce(0).as_slice(), sought.as_slice()]) == 6).collect();
    assert!(sixes.len() > 100, "one in six would do: {}", sixes.len());
    for sought in sixes {
        assert_eq!(joining.check_reveal(Seat(1), &sought, at), Err(JoinRefusal::NonceMismatch));
    }
    assert_eq!(joining.check_reveal(Seat(1), &nonce(1), at), Ok(()));
    // Nor can it promise anew what it would rather have promised.
    assert_eq!(joining.check_commit(Seat(1), &table.promise(1), at), Err(JoinRefusal::AlreadyDone));
}
