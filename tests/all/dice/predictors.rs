//! Every predictor by name over 10,000 faces: none does better than chance, and none worse, which would tell as much.
//!
//! The bound: a predictor that knows nothing hits one face in six, so its hits are 1,666.7 with a standard deviation of
//! 37.3. How many standard deviations it may be off has to allow for the number of predictors: were all of them blind,
//! any of them would be beyond the bound once in a thousand runs (Bonferroni). Seeds are fixed: a run never varies.

use plybook_core::dice::{Face, Throw};
use plybook_core::{Dice, Seat, Seed};

use super::generators::GENERATORS;
use super::guesses::{GUESSES, STARTS, generated};
use super::hashed::{FIELDS, READINGS, WAYS, first_eight, hmac};
use super::public::{FACES_A_GAME, HONEST, Played, Public, SIDES};
use super::statistics::chi_square_tail;

/// Blind predictors stay inside the bound, all of them, in all but one of so many runs.
const ONCE_IN: f64 = 1_000.0;

/// Hits of one predictor among so many faces.
#[derive(Debug)]
pub(super) struct Score {
    pub(super) name: String,
    pub(super) hits: usize,
    pub(super) faces: usize,
}

impl Score {
    /// Whether it knows something, being one of so many that were tried.
    pub(super) fn is_caught(&self, predictors: usize) -> bool {
        let (faces, chance) = (self.faces as f64, 1.0 / f64::from(SIDES));
        let z = (self.hits as f64 - faces * chance) / (faces * chance * (1.0 - chance)).sqrt();
        chi_square_tail(z * z, 1.0) < 1.0 / (ONCE_IN * predictors as f64)
    }
}

/// The names of all, in the order of [`guess_all`].
fn names() -> Vec<String> {
    let ways = FIELDS.iter().flat_map(|(field, _)| WAYS.iter().map(move |(way, _)| way.replace("{}", field)));
    let hashed = ways.flat_map(|way| READINGS.iter().map(move |(reading, _)| format!("{reading} of {way}")));
    let guesses = GUESSES.iter().map(|(name, _)| (*name).to_owned());
    let starts = STARTS.iter().flat_map(|(start, _)| GENERATORS.iter().map(move |(name, _)| format!("{name} started with {start}")));
    hashed.chain(guesses).chain(starts).collect()
}

fn guess_all(public: &Public<'_>) -> Vec<Face> {
    let mut all = Vec::new();
    for (_, field) in FIELDS {
        let field = field(public);
        for (_, way) in WAYS {
            let bytes = way(&field, public);
            all.extend(READINGS.iter().map(|(_, read)| read(&bytes)));
        }
    }
    all.extend(GUESSES.iter().map(|(_, guess)| guess(public)));
    for (_, start) in STARTS {
        let start = start(public);
        all.extend((0..GENERATORS.len()).map(|generator| generated(generator, start, public)));
    }
    all
}

/// Calls `at` with every face of every game.
fn walk(games: &[Played], mut at: impl FnMut(&Played, &Public<'_>, Face)) {
    for (number, game) in games.iter().enumerate() {
        let before = number.checked_sub(1).map(|at| &games[at]);
        game.walk(before, |public, face| at(game, public, face));
    }
}

/// Tries them all.
pub(super) fn scores(games: &[Played]) -> Vec<Score> {
    let faces = games.len() * FACES_A_GAME;
    let mut scores: Vec<Score> = names().into_iter().map(|name| Score { name, hits: 0, faces }).collect();
    walk(games, |_, public, face| {
        let guessed = guess_all(public);
        assert_eq!(guessed.len(), scores.len(), "each guess has its name");
        scores.iter_mut().zip(guessed).for_each(|(score, guess)| score.hits += usize::from(guess == face));
    });
    scores
}

#[test]
fn scenario_32_ten_thousand_faces_are_foretold_by_nothing_public() {
    let scores = scores(&HONEST.plays(200));
    assert!(scores.len() > 400, "{} predictors", scores.len());
    let names: std::collections::BTreeSet<&str> = scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names.len(), scores.len(), "each has a name of its own");
    for score in &scores {
        assert_eq!(score.faces, 10_000);
        assert!(!score.is_caught(scores.len()), "{score:?}");
    }
}

/// One more predictor, which knows what it should not.
#[track_caller]
fn cheats(games: &[Played], mut guess: impl FnMut(&Played, &Public<'_>, Face) -> Face) -> Score {
    let mut score = Score { name: "a cheat".to_owned(), hits: 0, faces: games.len() * FACES_A_GAME };
    walk(games, |game, public, face| score.hits += usize::from(guess(game, public, face) == face));
    score
}

/// With the seed for a field, one of the ways above foretells everything: only the key is missing.
#[test]
fn scenario_32_whoever_knows_the_seed_foretells_every_face() {
    let games = HONEST.plays(200);
    let by_dice = cheats(&games, |game, public, _| {
        let dice = Dice::new(Seed::new(game.seed), &public.nonces.each_ref().map(Vec::as_slice));
        dice.throw(public.draw, Seat(public.seat), Throw { dice: 2, sides: SIDES })[usize::from(public.die)]
    });
    let by_page = cheats(&games, |game, public, _| first_eight(&hmac(&game.seed, &public.message())));
    assert_eq!((by_dice.hits, by_page.hits), (10_000, 10_000));
    assert!(by_page.is_caught(names().len()));
    let seeded = WAYS
        .iter()
        .filter(|(_, way)| cheats(&games[..4], |game, public, _| first_eight(&way(&game.seed, public))).hits == 4 * FACES_A_GAME);
    assert_eq!(seeded.map(|(way, _)| *way).collect::<Vec<_>>(), ["HMAC(key {}, message)"]);
}

/// Whoever sees one face in twenty before it falls, and guesses the others, is caught; so is who only knows one in twenty that
/// it will not be.
#[test]
fn scenario_32_a_glimpse_is_caught() {
    let (games, tried) = (HONEST.plays(200), names().len());
    let mut seen = 0;
    let peeks = cheats(&games, |_, _, face| {
        seen += 1;
        if seen % 20 == 0 { face } else { 3 }
    });
    assert!(peeks.is_caught(tried), "{peeks:?}");
    let avoids = cheats(&games, |_, public, face| {
        let guess = (public.draw % u64::from(SIDES)) as Face + 1;
        if guess == face && public.faces.len() % 5 == 0 { guess % SIDES + 1 } else { guess }
    });
    assert!(avoids.is_caught(tried), "{avoids:?}");
    let blind = cheats(&games, |_, _, _| 3);
    assert!(!blind.is_caught(tried), "{blind:?}");
}
