//! Turns that pass without a move, under every ruleset: what they change, and that going back by moves
//! gives back what was there right before them.

use plybook_core::dice::Face;
use plybook_core::perft::perft;
use plybook_core::{Action, Digest, Play, Position, RulesetId, Seat, SeatSet};
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::random::{Random, repeat};

use super::properties::{Seen, seen};

/// Everything that anybody can ask of a play.
#[derive(Debug, PartialEq)]
struct Known {
    seen: Seen,
    digest: Digest,
    bytes: usize,
    can_move: Vec<Seat>,
}

fn known(play: &mut Play) -> Known {
    let seats = (0..play.position().seats()).map(Seat);
    let can_move = seats.filter(|seat| play.can_move(*seat)).collect();
    Known { seen: seen(play), digest: play.position().digest(&RulesetId::new("any", 1)), bytes: play.bytes(), can_move }
}

/// What happens between two positions.
#[derive(Debug)]
enum Happening {
    Move(Action, Vec<Face>),
    Pass(Seat),
}

fn happen(play: &mut Play, happening: &Happening) {
    match happening {
        Happening::Move(action, faces) => {
            play.play(*action, faces).unwrap();
        }
        Happening::Pass(seat) => assert!(play.pass_to(*seat).is_some()),
    }
}

fn some_seat(play: &Play, random: &mut Random) -> Seat {
    Seat(random.below(u64::from(play.position().seats())) as u8)
}

/// A pass now and then, and where the seat to move has no move; nothing once the game is over.
fn anything(play: &Play, random: &mut Random) -> Option<Happening> {
    play.position().to_move()?;
    match random.action(play).filter(|_| !random.once_in(3)) {
        Some((action, faces)) => Some(Happening::Move(action, faces)),
        None => Some(Happening::Pass(some_seat(play, random))),
    }
}

/// The canonical text without the lines that a pass may change.
fn all_but_turn_and_registers(position: &Position) -> Vec<String> {
    let text = position.canonical_text(&RulesetId::new("any", 1));
    text.lines().filter(|line| !line.starts_with("turn ") && !line.starts_with("registers ")).map(str::to_owned).collect()
}

/// A pass changes whose turn it is and registers of a turn that has begun, nothing else; and no turn is
/// lost twice.
#[track_caller]
fn passes(play: &mut Play, to: Seat, deal: &Deal) -> bool {
    let (before, had) = (play.position().clone(), play.position().to_move());
    let whose = play.standing().last().map(|standing| standing.seat);
    assert_eq!(play.pass_to(to), had);
    assert_eq!(play.position().to_move(), Some(to));
    assert_eq!(all_but_turn_and_registers(play.position()), all_but_turn_and_registers(&before), "{deal:?}");
    let mut turned = play.clone();
    turned.hand_turn(had.unwrap());
    let lost = *turned.position() != before;
    assert!(!lost || (whose == had && had != Some(to)), "only a turn in which somebody has moved has registers: {deal:?}");
    let once = play.position().clone();
    play.pass_to(had.unwrap());
    play.pass_to(to);
    assert_eq!(*play.position(), once, "a turn that has only begun leaves nothing: {deal:?}");
    lost
}

/// Moves, passes and steps back in any order, held against what was there before each standing move.
#[track_caller]
fn goes_back_to_right_before(deal: &Deal, random: &mut Random) -> u32 {
    let mut play = deal.play();
    let (mut before, mut lost) = (Vec::new(), 0);
    for _ in 0..60 {
        if random.once_in(4) || play.position().to_move().is_none() {
            let stood = before.pop();
            assert_eq!(play.back().is_some(), stood.is_some());
            if let Some(stood) = stood {
                assert_eq!(known(&mut play), stood, "{deal:?}");
            }
            continue;
        }
        match anything(&play, random).unwrap() {
            Happening::Pass(seat) => lost += u32::from(passes(&mut play, seat, deal)),
            moved @ Happening::Move(..) => {
                before.push(known(&mut play));
                happen(&mut play, &moved);
            }
        }
    }
    while let Some(stood) = before.pop() {
        play.back();
        assert_eq!(known(&mut play), stood, "{deal:?}");
    }
    assert!(play.back().is_none());
    lost
}

#[test]
fn going_back_by_a_move_leads_to_right_before_it_whatever_passed() {
    for ruleset in RULESETS {
        let mut lost = 0;
        repeat(150, |random| lost += goes_back_to_right_before(&Deal::random(ruleset, 6, random), random));
        // No other ruleset keeps anything of a turn.
        assert_eq!(lost > 0, ruleset == "snakes_and_ladders", "{ruleset}: {lost} turns lost something");
    }
}

/// The way that was gone from a move on, and what was known after each thing that happened on it.
#[track_caller]
fn same_again(deal: &Deal, random: &mut Random) {
    let mut play = deal.play();
    for _ in 0..random.below(20) {
        let Some(happening) = anything(&play, random) else { break };
        happen(&mut play, &happening);
    }
    let Some((action, faces)) = random.action(&play) else { return };
    let (mut way, mut straight) = (Vec::new(), vec![known(&mut play)]);
    let mut next = Some(Happening::Move(action, faces));
    while let Some(happening) = next {
        happen(&mut play, &happening);
        straight.push(known(&mut play));
        way.push(happening);
        next = if way.len() < 30 { anything(&play, random) } else { None };
    }
    for round in 0..2 {
        for (happening, want) in way.iter().zip(&straight).rev() {
            if matches!(happening, Happening::Move(..)) {
                assert!(play.back().is_some());
                assert_eq!(known(&mut play), *want, "taken back, round {round}: {deal:?}");
            }
        }
        for (happening, want) in way.iter().zip(&straight[1..]) {
            happen(&mut play, happening);
            assert_eq!(known(&mut play), *want, "played again, round {round}: {deal:?}");
        }
    }
}

#[test]
fn play_k_with_passes_undo_k_and_the_same_again_equals_playing_straight() {
    for ruleset in RULESETS {
        repeat(150, |random| same_again(&Deal::random(ruleset, 6, random), random));
    }
}

/// Who moves next by trying on copies, in which the turn has passed for good.
fn by_trying(play: &Play, live: SeatSet) -> Option<(Seat, SeatSet)> {
    let seats = play.position().seats();
    let first = play.position().to_move()?;
    let order = (0..seats).map(|i| Seat((first.0 + i) % seats)).filter(|seat| live.contains(*seat));
    let mut passed_over = SeatSet::EMPTY;
    for seat in order {
        let mut trial = play.clone();
        trial.pass_to(seat);
        if perft(&mut trial, 1) > 0 {
            return Some((seat, passed_over));
        }
        passed_over = passed_over.with(seat);
    }
    None
}

#[test]
fn the_next_mover_is_the_first_that_stays_and_can_move() {
    let (mut over, mut nobody, mut others) = (0, 0, 0);
    for ruleset in RULESETS {
        repeat(100, |random| {
            let deal = if random.once_in(3) && ruleset == "connect_four" {
                Deal::of(ruleset).with("pop_out", true).with("rows", 2).with("cols", 2).with("k", 2)
            } else {
                Deal::random(ruleset, 6, random)
            };
            let mut play = deal.play();
            for _ in 0..60 {
                let Some(happening) = anything(&play, random) else { break };
                happen(&mut play, &happening);
                let live: SeatSet = (0..play.position().seats()).map(Seat).filter(|_| !random.once_in(3)).collect();
                let before = seen(&play);
                let next = play.next_mover(live);
                assert_eq!(next, by_trying(&play, live), "{live}: {deal:?}");
                assert_eq!(seen(&play), before, "asking changes nothing: {deal:?}");
                over += u32::from(next.is_some_and(|(_, passed_over)| !passed_over.is_empty()));
                nobody += u32::from(next.is_none() && !live.is_empty() && play.position().to_move().is_some());
                others += u32::from(next.is_some_and(|(seat, _)| Some(seat) != play.position().to_move()));
            }
        });
    }
    assert!(over > 10 && nobody > 10 && others > 100, "{over} times over somebody, {nobody} times nobody, {others} times another");
}

#[test]
fn once_the_game_is_over_no_turn_passes() {
    for ruleset in RULESETS {
        repeat(20, |random| {
            let deal = Deal::random(ruleset, 5, random);
            let mut play = deal.play();
            while let Some((action, faces)) = random.action(&play).filter(|_| play.position().ply() < 2_000) {
                play.play(action, &faces).unwrap();
            }
            if play.position().outcome().is_none() {
                return;
            }
            let over = seen(&play);
            let everybody = SeatSet::all(play.position().seats());
            let seat = some_seat(&play, random);
            assert_eq!((play.pass_to(seat), play.can_move(seat), play.next_mover(everybody)), (None, false, None));
            assert_eq!(seen(&play), over, "{deal:?}");
        });
    }
}

/// In a game that is restored or forked nobody may sit where there is no seat.
#[test]
fn a_seat_that_the_table_has_not_cannot_move() {
    for ruleset in RULESETS {
        let mut play = Deal::of(ruleset).play();
        assert_eq!([1, 2, 7, u8::MAX].map(|seat| play.can_move(Seat(seat))), [true, false, false, false], "{ruleset}");
        let beyond = SeatSet::EMPTY.with(Seat(2)).with(Seat(9));
        assert_eq!(play.next_mover(beyond), None);
        assert_eq!(play.next_mover(beyond.with(Seat(1))), Some((Seat(1), SeatSet::EMPTY)));
    }
}
