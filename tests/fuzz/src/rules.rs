//! What a seat asks for, and what a game is asked to be.

use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::dice::Throw;
use plybook_core::{Card, Play, Rules};
use plybook_records::value;
use plybook_rulesets::Registry;

use crate::text;

/// Deeper games take longer and are as right.
const MOVES_MAX: usize = 200;

/// The first byte chooses a ruleset, the second the seats and whatever it chooses among; the rest are notations, a line each.
/// What is played and taken back was never there.
pub fn actions(bytes: &[u8]) {
    let [ruleset, variant, rest @ ..] = bytes else { return };
    let Some(text) = text(rest) else { return };
    let registry = Registry::standard();
    let cards: Vec<&Card> = registry.cards().collect();
    let card = cards[usize::from(*ruleset) % cards.len()];
    let seats = card.seats.0 + variant % (card.seats.1 - card.seats.0 + 1);
    let mut given = BTreeMap::new();
    for (n, spec) in card.params.iter().filter(|spec| !spec.choices.is_empty()).enumerate() {
        let choice = spec.choices[(usize::from(*variant) >> n) % spec.choices.len()];
        given.extend(value::read(spec.name, choice, &spec.default).ok().map(|value| (spec.name.to_owned(), value)));
    }
    let Ok((id, _, rules)) = registry.choose(card.name, Some(card.version), given, seats) else { return };
    let mut play = Play::new(Arc::clone(&rules), seats);
    let before = play.position().digest(&id);
    let mut played = 0;
    for notation in text.lines().take(MOVES_MAX) {
        played += usize::from(one(&mut play, rules.as_ref(), notation));
    }
    for _ in 0..played {
        play.back().expect("what was played can be taken back");
    }
    assert_eq!(play.position().digest(&id), before, "what was taken back was never there");
}

/// Plays it, if it can be.
fn one(play: &mut Play, rules: &dyn Rules, notation: &str) -> bool {
    let Some(action) = rules.read_action(notation) else { return false };
    let written = rules.write_action(action);
    assert_eq!(rules.read_action(&written), Some(action), "{written:?} means what it was written for");
    if play.position().to_move().is_none() {
        return false;
    }
    let faces = rules.throw(action).map_or_else(Vec::new, |Throw { dice, sides }| {
        let face = |n: u8| notation.bytes().fold(n, u8::wrapping_add) % sides + 1;
        (0..dice).map(face).collect()
    });
    let legal = play.is_legal(action);
    let done = play.play(action, &faces).is_ok();
    assert_eq!(done, legal, "{written:?} is legal where it can be played");
    done
}

/// The first line names a ruleset and the seats, every other one a parameter: `name=value`.
pub fn parameters(bytes: &[u8]) {
    let Some((first, rest)) = text(bytes).and_then(|text| text.split_once('\n')) else { return };
    let (name, seats) = first.split_once(' ').unwrap_or((first, "2"));
    let (Ok(seats), registry) = (seats.parse::<u8>(), Registry::standard()) else { return };
    let Ok(card) = registry.card(name, None) else { return };
    let mut given = BTreeMap::new();
    for (name, text) in rest.lines().filter_map(|line| value::split(line).ok()) {
        let Some(spec) = card.params.iter().find(|spec| spec.name == name) else { continue };
        given.extend(value::read(name, text, &spec.default).ok().map(|value| (name.to_owned(), value)));
    }
    let Ok((_, params, rules)) = registry.choose(card.name, Some(card.version), given, seats) else { return };
    assert_eq!(
        registry.choose(card.name, Some(card.version), params.values().clone(), seats).map(|(_, again, _)| again).ok(),
        Some(params)
    );
    let play = Play::new(rules, seats);
    assert!(play.position().to_move().is_some() || play.position().outcome().is_some(), "somebody is to move, or it is over");
}
