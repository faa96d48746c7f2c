//! Properties that hold for every ruleset under random parameters.

use plybook_core::action::Column;
use plybook_core::dice::Face;
use plybook_core::{Action, Card, Cell, ParamValue, Play, Position, RulesetId, Seat};
use plybook_rulesets::Registry;
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::oracle::{Oracle, State};
use plybook_tests::random::{Random, repeat};

/// Everything that anybody can ask of a position.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    position: Position,
    text: String,
    scores: Vec<i64>,
    legal: Vec<Action>,
}

pub(super) fn seen(play: &Play) -> Seen {
    Seen {
        position: play.position().clone(),
        text: play.position().canonical_text(&RulesetId::new("any", 1)),
        scores: play.rules().scores(play.position()),
        legal: play.legal(),
    }
}

/// Every word and flag of the card, and both ends of its seats, are among these deals.
#[track_caller]
fn draws_every_choice(deals: &[Deal], card: &Card) {
    let of_card = |deal: &&Deal| deal.version.is_none_or(|version| version == card.version);
    let deals: Vec<&Deal> = deals.iter().filter(of_card).collect();
    for seats in [card.seats.0, card.seats.1] {
        assert!(deals.iter().any(|deal| deal.seats == seats), "{} is drawn for {seats}", card.id());
    }
    for spec in &card.params {
        let drawn = |value: &ParamValue| deals.iter().any(|deal| deal.given.get(spec.name).unwrap_or(&spec.default) == value);
        let wanted: Vec<ParamValue> = match &spec.default {
            ParamValue::Bool(_) => vec![ParamValue::Bool(true), ParamValue::Bool(false)],
            _ => spec.choices.iter().map(|choice| ParamValue::Text((*choice).to_owned())).collect(),
        };
        let missing = wanted.iter().find(|value| !drawn(value));
        assert_eq!(missing, None, "{}: {} is never drawn so", card.id(), spec.name);
        let differs = deals.iter().any(|deal| deal.given.get(spec.name).is_some_and(|value| *value != spec.default));
        assert!(differs, "{}: {} is always as by default", card.id(), spec.name);
    }
}

/// What holds for every ruleset here holds for every one that is registered, under all of its parameters.
#[test]
fn every_registered_ruleset_is_drawn_with_each_of_its_parameters() {
    let registry = Registry::standard();
    let mut names: Vec<&str> = registry.cards().map(|card| card.name).collect();
    names.dedup();
    assert_eq!(names, RULESETS, "random deals know the rulesets of the release");
    let mut random = Random::new(1);
    for ruleset in RULESETS {
        let deals: Vec<Deal> = (0..600).map(|_| Deal::random(ruleset, 8, &mut random)).collect();
        registry.cards().filter(|card| card.name == ruleset).for_each(|card| draws_every_choice(&deals, card));
    }
}

/// Plays on at random, at most `plies`; answers what was played.
fn play_on(play: &mut Play, plies: u64, random: &mut Random) -> Vec<(Action, Vec<Face>)> {
    let mut played = Vec::new();
    for _ in 0..plies {
        let Some((action, faces)) = random.action(play) else { break };
        play.play(action, &faces).expect("a legal action resolves");
        played.push((action, faces));
    }
    played
}

#[track_caller]
fn same_again(deal: &Deal, random: &mut Random) {
    let mut play = deal.play();
    let before = random.below(20);
    play_on(&mut play, before, random);
    let mut straight = vec![seen(&play)];
    let played = {
        let mut trial = play.clone();
        let k = 1 + random.below(25);
        let played = play_on(&mut trial, k, random);
        for (action, faces) in &played {
            play.play(*action, faces).unwrap();
            straight.push(seen(&play));
        }
        played
    };
    for round in 0..2 {
        for want in straight.iter().rev().skip(1) {
            assert!(play.back().is_some());
            assert_eq!(seen(&play), *want, "taken back, round {round}: {deal:?}");
        }
        for ((action, faces), want) in played.iter().zip(&straight[1..]) {
            play.play(*action, faces).unwrap();
            assert_eq!(seen(&play), *want, "played again, round {round}: {deal:?}");
        }
    }
    while play.back().is_some() {}
    assert_eq!(seen(&play), seen(&deal.play()), "back at the beginning: {deal:?}");
}

#[test]
fn scenario_28_play_k_undo_k_play_k_equals_playing_straight() {
    for ruleset in RULESETS {
        repeat(400, |random| same_again(&Deal::random(ruleset, 8, random), random));
    }
}

/// Every action that exists on a board of this size, and some that do not.
fn every_action(play: &Play) -> Vec<Action> {
    let board = play.position().board();
    let beyond = [board.len(), board.len() + 1, u32::MAX];
    let cells = (0..board.len()).chain(beyond).map(|cell| Action::Place(Cell(cell)));
    let columns = || (0..u32::from(board.cols())).chain([u32::from(board.cols()), u32::MAX]).map(Column);
    cells.chain(columns().map(Action::Drop)).chain(columns().map(Action::Pop)).chain([Action::Roll]).collect()
}

#[track_caller]
fn legal_is_what_resolves(play: &Play, deal: &Deal) {
    let accepted = |action: &Action| play.rules().shapes().contains(&action.shape());
    let mut resolving: Vec<Action> = every_action(play).into_iter().filter(|action| accepted(action) && play.is_legal(*action)).collect();
    let mut legal = play.legal();
    for action in &legal {
        let notation = play.rules().write_action(*action);
        assert_eq!(play.rules().read_action(&notation), Some(*action), "{notation}: {deal:?}");
        assert!(!notation.contains(' ') && notation.len() <= 32, "{notation}");
    }
    let offered = legal.len();
    resolving.sort_unstable();
    legal.sort_unstable();
    legal.dedup();
    assert_eq!(legal.len(), offered, "each once: {deal:?}");
    assert_eq!(legal, resolving, "{deal:?}");
}

#[test]
fn legal_is_what_resolves_and_reads_back() {
    for ruleset in RULESETS {
        repeat(60, |random| {
            let deal = Deal::random(ruleset, 7, random);
            let mut play = deal.play();
            legal_is_what_resolves(&play, &deal);
            while !play_on(&mut play, 1, random).is_empty() && play.position().ply() < 120 {
                legal_is_what_resolves(&play, &deal);
            }
        });
    }
}

#[track_caller]
fn agree(play: &Play, state: &State, oracle: &Oracle, deal: &Deal) {
    let drawn = || format!("{deal:?}\n{:?}", state.cells.chunks(usize::from(play.position().board().cols())).collect::<Vec<_>>());
    let mut cells = vec![0; state.cells.len()];
    play.position().board().occupied().for_each(|(cell, content)| cells[cell.index()] = content.0);
    assert_eq!(cells, state.cells, "{}", drawn());
    let outcome = play.position().outcome();
    let over = outcome.map(|outcome| (outcome.winning_seats().iter().map(|seat| seat.0).collect(), outcome.reason.as_str()));
    assert_eq!(over, state.over, "{}", drawn());
    assert_eq!(play.position().to_move(), state.over.is_none().then_some(Seat(state.to_move)), "{}", drawn());
    let (mut legal, mut naive) = (play.legal(), oracle.legal(state));
    legal.sort_unstable();
    naive.sort_unstable();
    assert_eq!(legal, naive, "{}", drawn());
}

/// Wins found through the changed cell, draws read off counters and legal moves are those of a full
/// scan, move by move.
#[track_caller]
fn agrees_with_the_oracle(deal: &Deal, random: &mut Random) -> u32 {
    let oracle = Oracle::of(deal).expect("the oracle knows the game");
    let (mut play, mut state) = (deal.play(), oracle.begin());
    agree(&play, &state, &oracle, deal);
    while let Some((action, _)) = random.action(&play) {
        play.play(action, &[]).unwrap();
        state = oracle.after(&state, action);
        agree(&play, &state, &oracle, deal);
        if play.position().ply() >= 300 {
            break;
        }
    }
    play.position().ply()
}

#[test]
fn every_move_is_judged_as_a_full_scan_judges_it() {
    for (ruleset, times, side) in [("mnk", 1500, 7), ("connect_four", 800, 7), ("gomoku", 60, 9), ("othello", 60, 10)] {
        let mut plies = 0;
        repeat(times, |random| plies += u64::from(agrees_with_the_oracle(&Deal::random(ruleset, side, random), random)));
        assert!(plies > times, "games of {ruleset} were played");
    }
}

#[test]
fn an_early_draw_comes_exactly_when_no_line_can_be_completed() {
    let mut early = 0;
    repeat(1500, |random| {
        let deal = Deal::random("mnk", 5, random).with("early_draw", true);
        let oracle = Oracle::of(&deal).unwrap();
        let (mut play, mut state) = (deal.play(), oracle.begin());
        while let Some((action, _)) = random.action(&play) {
            play.play(action, &[]).unwrap();
            state = oracle.after(&state, action);
            agree(&play, &state, &oracle, &deal);
        }
        early += u32::from(play.position().outcome().is_some_and(|outcome| outcome.reason.as_str() == "no_line_left"));
    });
    assert!(early > 200, "{early} games ended early");
}

/// The two win rules for lines, and gomoku and mnk, are the same where both apply.
#[track_caller]
fn alike(a: &Deal, b: &Deal, random: &mut Random) {
    let (mut one, mut other) = (a.play(), b.play());
    while let Some((action, _)) = random.action(&one) {
        one.play(action, &[]).unwrap();
        other.play(action, &[]).unwrap();
        let winners = |play: &Play| play.position().outcome().map(|outcome| outcome.winning_seats());
        assert_eq!(winners(&one), winners(&other), "{a:?} {b:?}");
        assert_eq!(one.position().to_move(), other.position().to_move());
        assert_eq!(one.legal(), other.legal());
    }
    assert_eq!(other.position().to_move(), None);
}

#[test]
fn runs_and_counters_of_whole_lines_agree() {
    repeat(1500, |random| {
        let size = random.from_to(2, 6);
        let square = Deal::of("mnk").with("rows", size).with("cols", size).with("k", size).with("misere", random.once_in(2));
        let square = square.with("early_draw", random.once_in(2)).seats(random.from_to(2, 8).min(size * size) as u8);
        alike(&square.clone().with("win", "run"), &square.with("win", "full_line"), random);
    });
}

#[test]
fn gomoku_is_five_in_a_row() {
    repeat(40, |random| {
        let size = random.from_to(5, 12);
        for (rule, win) in [("freestyle", "run"), ("standard", "exact")] {
            let five = Deal::of("mnk").with("rows", size).with("cols", size).with("k", 5).with("win", win);
            alike(&Deal::of("gomoku").with("size", size).with("rule", rule), &five, random);
        }
    });
}
