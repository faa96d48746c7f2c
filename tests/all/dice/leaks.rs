//! Dice that leak, each with a predictor from the list that must see it.
//!
//! Invariant: these games are played and written as all others are; only seed or faces come from a worse place. Fewer
//! faces than in the real test are enough.

use plybook_core::Digest;
use plybook_core::dice::Face;
use plybook_tests::random::Random;

use super::generators::GENERATORS;
use super::guesses::generated;
use super::hashed::{first_eight, hmac};
use super::predictors::{Score, scores};
use super::public::{FACES_A_GAME, Maker, Opening, Public, SIDES, secret};

/// Games, of fifty faces each.
const GAMES: usize = 24;

fn caught(maker: Maker<'_>) -> Vec<Score> {
    let mut scores = scores(&maker.plays(GAMES));
    let tried = scores.len();
    scores.retain(|score| score.is_caught(tried));
    scores
}

/// The predictor with this name foretells every face but those of so many games.
#[track_caller]
fn foretold(maker: Maker<'_>, by: &str, games_before: usize) {
    let caught = caught(maker);
    let found = caught.iter().find(|score| score.name == by).unwrap_or_else(|| panic!("{by:?} is not among {caught:?}"));
    let least = (GAMES - games_before) * FACES_A_GAME;
    assert!(found.hits >= least, "{found:?}: fewer than {least}");
}

fn seeded(seed: &dyn Fn(&Opening<'_>) -> [u8; 32]) -> Maker<'_> {
    Maker { seed, die: None }
}

type Die<'a> = &'a dyn Fn(&Public<'_>) -> Face;

fn thrown(die: Die<'_>) -> Maker<'_> {
    Maker { seed: &secret, die: Some(die) }
}

#[test]
fn seeds_made_of_what_is_public_are_seen() {
    let by_id = |opening: &Opening<'_>| Digest::of(&opening.id.to_be_bytes()).0;
    foretold(seeded(&by_id), "first eight bytes of HMAC(key SHA-256(the game's id), message)", 0);
    let by_time = |opening: &Opening<'_>| {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&opening.created.unix_ms().to_be_bytes());
        seed
    };
    foretold(seeded(&by_time), "first eight bytes of HMAC(key the time of creation, message)", 0);
    foretold(seeded(&|_| [7; 32]), "first eight bytes of HMAC(key the seed of the game before, message)", 1);
    let chained = |opening: &Opening<'_>| opening.before.map_or([7; 32], |before| Digest::of(&before.seed).0);
    foretold(seeded(&chained), "first eight bytes of HMAC(key SHA-256(the seed of the game before), message)", 1);
}

/// Where the outcome is hashed the same way as what was published, all is known.
#[test]
fn scenario_32_faces_made_of_the_commitment_are_seen() {
    let keyed = |public: &Public<'_>| first_eight(&hmac(&public.header.commitment.0, &public.message()));
    foretold(thrown(&keyed), "first eight bytes of HMAC(key the commitment, message)", 0);
    let as_message = |public: &Public<'_>| first_eight(&hmac(&public.message(), &public.header.commitment.0));
    foretold(thrown(&as_message), "first eight bytes of HMAC(key message, the commitment)", 0);
    let counted = |public: &Public<'_>| Digest::of_parts(&[&public.header.commitment.0, &public.draw.to_be_bytes()]).0[31] % SIDES + 1;
    foretold(thrown(&counted), "last byte of SHA-256(the commitment ‖ draw)", 0);
}

#[test]
fn faces_made_of_the_book_are_seen() {
    let chained = |public: &Public<'_>| first_eight(&public.last().digest.0);
    foretold(thrown(&chained), "first eight bytes of the book digest itself", 0);
    let by_line = |public: &Public<'_>| Digest::of(public.last().text.as_bytes()).0[31] % SIDES + 1;
    foretold(thrown(&by_line), "last byte of SHA-256(the last line)", 0);
}

/// Every generator, started with the time as everybody starts them.
#[test]
fn generators_started_with_the_time_are_seen() {
    for (number, (name, _)) in GENERATORS.iter().enumerate() {
        let by_second = |public: &Public<'_>| generated(number, public.header.created.unix_ms() / 1000, public);
        foretold(thrown(&by_second), &format!("{name} started with the second of creation"), 0);
    }
}

/// What a gambler would find, were it there: each die leans as its predictor says, and no more than that.
#[test]
fn leaning_dice_are_seen() {
    let even = |random: &std::cell::RefCell<Random>| random.borrow_mut().below(SIDES.into()) as Face + 1;
    let last = |public: &Public<'_>| public.faces.last().copied().unwrap_or(1);
    let random = std::cell::RefCell::new(Random::new(9));
    let once_in = |times| random.borrow_mut().once_in(times);

    let sticky = |public: &Public<'_>| if once_in(8) { last(public) } else { even(&random) };
    let loaded = |_: &Public<'_>| if once_in(8) { 6 } else { even(&random) };
    let never_twice = |public: &Public<'_>| {
        let face = even(&random);
        if face == last(public) { face % SIDES + 1 } else { face }
    };
    let in_turn = |public: &Public<'_>| last(public) % SIDES + 1;
    let due = |public: &Public<'_>| {
        let unseen = |face: &Face| public.faces.iter().rev().take(12).all(|seen| seen != face);
        (1..=SIDES).find(unseen).filter(|_| public.faces.len() >= 12).unwrap_or_else(|| even(&random))
    };
    let alike = |public: &Public<'_>| public.before.map_or_else(|| even(&random), |before| before.faces[public.faces.len()]);
    let dice: [(Die<'_>, &str); 6] = [
        (&sticky, "the last face"),
        (&loaded, "always 6"),
        (&never_twice, "the last face"),
        (&in_turn, "what mostly followed the last face"),
        (&due, "the face that is due"),
        (&alike, "what the game before showed here"),
    ];
    for (die, by) in dice {
        let caught = caught(thrown(die));
        assert!(caught.iter().any(|score| score.name == by), "{by:?} is not among {caught:?}");
    }
    assert!(caught(thrown(&|_| even(&random))).is_empty(), "an even die of another make is foretold by nothing");
}
