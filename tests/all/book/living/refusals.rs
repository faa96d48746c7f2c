//! What is refused, in every state of a game, and by which word: a table.

use plybook_core::entropy::IfAbsent;
use plybook_core::entry::{Act, Claim, Step};
use plybook_core::game::Ask;
use plybook_core::header::UndoBy;
use plybook_core::presence::IfAway;
use plybook_core::{Seat, Seq};
use plybook_tests::table::{Table, code, table};

/// Everything that seat 1 may ask and that is no move, in the order of the columns below.
const ACTS: [(&str, Act); 14] = [
    ("resign", Act::Resign),
    ("abort", Act::Abort),
    ("away", Act::Away),
    ("back", Act::Back),
    ("claim win", Act::Claim(Claim::Win)),
    ("claim draw", Act::Claim(Claim::Draw)),
    ("draw offer", Act::Draw(Step::Offer)),
    ("draw accept", Act::Draw(Step::Accept)),
    ("draw decline", Act::Draw(Step::Decline)),
    ("draw withdraw", Act::Draw(Step::Withdraw)),
    ("undo-offer", Act::Undo(Step::Offer, Seq(2))),
    ("undo-accept", Act::Undo(Step::Accept, Seq(2))),
    ("undo-decline", Act::Undo(Step::Decline, Seq(2))),
    ("undo-withdraw", Act::Undo(Step::Withdraw, Seq(2))),
];

/// A name, a table, and what seat 1 is told for each of [`ACTS`]; `ok` where it is not refused.
type Row = (&'static str, fn() -> Table, [&'static str; 14]);

fn live() -> Table {
    table().mnk(5, 5, 4).undo_by(UndoBy::Agreement).absence(1000, IfAway::ClaimWin)
}

const ROWS: [Row; 13] = {
    const OVER: &str = "GAME_FINISHED";
    const LEFT: &str = "SEAT_LEFT";
    const BOT: &str = "SEAT_IS_BOT";
    const PLAIN: &str = "PRESENCE_NOT_KEPT";
    [
        (
            "no terms",
            || table().play("a1"),
            [
                "ok", "ok", PLAIN, PLAIN, "POLICY", "POLICY", "ok", "NOT_OPEN", "NOT_OPEN", "NOT_OPEN", "POLICY", "POLICY", "POLICY",
                "POLICY",
            ],
        ),
        (
            "all terms",
            || live().play("a1"),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
            ],
        ),
        (
            "no move",
            live,
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOTHING_TO_UNDO",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
            ],
        ),
        (
            "offered by 0",
            || live().play("a1").offers_draw(0).offers_undo(0, 1),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "ALREADY_OPEN",
                "ok",
                "ok",
                "NOT_OWN",
                "ALREADY_OPEN",
                "ok",
                "ok",
                "NOT_OWN",
            ],
        ),
        (
            "offered by 1",
            || live().play("a1").offers_draw(1).offers_undo(1, 1),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "ALREADY_OPEN",
                "OWN",
                "OWN",
                "ok",
                "ALREADY_OPEN",
                "OWN",
                "OWN",
                "ok",
            ],
        ),
        (
            "declined",
            || live().play("a1").offers_draw(1).offers_undo(1, 1).declines_draw(0).declines_undo(0),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "REPEATED",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
                "REPEATED",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
            ],
        ),
        (
            "accepted by 1 of 3",
            || live().seats(3).play("a1").offers_draw(0).offers_undo(0, 1).accepts_draw(1).accepts_undo(1),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "NOBODY_AWAY",
                "NOBODY_AWAY",
                "ALREADY_OPEN",
                "ANSWERED",
                "ok",
                "NOT_OWN",
                "ALREADY_OPEN",
                "ANSWERED",
                "ok",
                "NOT_OWN",
            ],
        ),
        (
            "0 away, too short",
            || live().play("a1").away(0),
            [
                "ok",
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "GRACE",
                "GRACE",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
            ],
        ),
        (
            "1 away",
            || live().play("a1").away(1),
            [
                "ok",
                "ok",
                "PRESENCE_UNCHANGED",
                "ok",
                "NOT_THERE",
                "NOT_THERE",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
                "ok",
                "NOT_OPEN",
                "NOT_OPEN",
                "NOT_OPEN",
            ],
        ),
        ("seat 1 is a bot", || live().bot(1, "random@1 1").play("a1"), [BOT; 14]),
        ("seat 1 has left", || live().seats(3).play("a1").resigns(1), [LEFT; 14]),
        (
            "joining",
            || table().joint(60, IfAbsent::Abort).commit(0),
            [
                "NOT_JOINED",
                "ok",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
                "NOT_JOINED",
            ],
        ),
        (
            "finished",
            || table().mnk(3, 3, 1).undo_by(UndoBy::Agreement).undo_after_end().play("a1"),
            [OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, "ok", "NOT_OPEN", "NOT_OPEN", "NOT_OPEN"],
        ),
    ]
};

#[test]
fn every_act_in_every_state_has_its_answer() {
    for (state, lay, told) in ROWS {
        for ((what, act), expected) in ACTS.into_iter().zip(told) {
            let mut game = lay();
            let (seed, now) = (game.the_seed(), game.game().head().time);
            let request = game.requested(Some(Seat(1)), Ask::Act(act));
            let answered = game.tries(&request, now);
            let answer = answered.as_ref().map_or_else(code, |_| "ok");
            assert_eq!(answer, expected, "{state}: {what}");
            // What was decided is what folds, to the byte; and nobody else may write it down in the seat's place.
            let Ok(entry) = answered else { continue };
            let mut other = lay().game().clone();
            assert_eq!(other.decide(&request, now, &seed), Ok(entry.clone()), "{state}: {what}");
            let mut forged = entry.clone();
            forged.actor.seat = None;
            let nobodys = act == Act::Abort;
            assert_eq!(other.clone().apply(&forged).is_ok(), nobodys, "{state}: {what} by nobody at the table");
            other.apply(&entry).unwrap();
        }
    }
}

#[test]
fn nothing_is_done_in_a_closed_game() {
    for (what, act) in ACTS {
        let closed = table().mnk(3, 3, 1).play("a1").closed();
        closed.refuses_act(1, act, "GAME_FINISHED").refuses_ask(None, Ask::Act(Act::Abort), "GAME_FINISHED");
        assert!(!what.is_empty());
    }
}

/// What happens by time is nobody's to ask for, and the seats that a request names are of the table.
#[test]
fn nobody_asks_for_what_time_does() {
    for act in [Act::Timeout(Seat(0)), Act::Forfeit(Seat(0)), Act::Credit(5)] {
        let game = table().mnk(5, 5, 4).clock("per_move 1000 forfeit keep credit 10").absence(10, IfAway::Forfeit).play("a1");
        game.refuses_act(0, act, "SEAT_NEEDED").refuses_ask(None, Ask::Act(act), "SEAT_NEEDED");
    }
    for seat in [2, 9, 16, 255] {
        let game = table().refuses_ask(None, Ask::Act(Act::Remove(Seat(seat))), "NO_SUCH_SEAT");
        game.refuses_act(0, Act::Remove(Seat(seat)), "NO_SUCH_SEAT").refuses_act(seat, Act::Resign, "NO_SUCH_SEAT");
    }
    table().refuses_act(1, Act::Remove(Seat(0)), "SEAT_NEEDED");
}

/// Whoever is waited for by the others cannot be taken out: the game is aborted, or the time of joining passes.
#[test]
fn nobody_is_removed_while_seats_have_yet_to_join() {
    let game = table().seats(3).clock("per_move 1000 forfeit keep").joint(60, IfAbsent::Forfeit).commit(0);
    let game = game.refuses_ask(None, Ask::Act(Act::Remove(Seat(0))), "NOT_JOINED").commit(1).commit(2).reveal(2).reveal(1);
    game.aborted().because("aborted");
}

/// An answer is to the offer that its sender has seen, not to the next one.
#[test]
fn an_answer_to_an_offer_that_nobody_has_seen_is_stale() {
    let game = table().mnk(5, 5, 4).seats(3).play("a1").offers_draw(0).withdraws_draw(0).offers_draw(2);
    let request = game.requested(Some(Seat(1)), Ask::Act(Act::Draw(Step::Accept)));
    let now = game.game().head().time;
    let mut game = game;
    for (expected, told) in [(2, "STALE_SEQ"), (4, "STALE_SEQ"), (6, "STALE_SEQ")] {
        let early = plybook_core::game::Request { expected: Seq(expected), ..request.clone() };
        assert_eq!(game.tries(&early, now).as_ref().map_or_else(code, |_| "ok"), told, "decided on entry {expected}");
    }
    assert!(game.tries(&plybook_core::game::Request { expected: Seq(5), ..request }, now).is_ok());
}
