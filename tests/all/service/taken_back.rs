//! What an undo does to the clocks, over the wire, to the millisecond.

use plybook_core::Time;
use plybook_proto::v1::clock_policy::Pace;
use plybook_proto::v1::{self, ClockPolicy, ClockUndo, OfferAnswer, UndoBy};
use plybook_server::replies;
use plybook_tests::injected::{Local, Setup};
use plybook_tests::live::{fischer, ms, per_move};
use plybook_tests::patience::until;
use plybook_tests::table::START;
use plybook_tests::wire::PlayedGame;

use super::settling::on_both;

on_both![
    scenario_20_after_an_undo_the_clocks_are_as_their_rule_says_to_the_millisecond,
    scenario_20_after_an_undo_to_the_beginning_the_clock_still_runs_out,
];

const PERIOD: u64 = 2_000;

fn bronstein(total_ms: i64, delay_ms: i64) -> ClockPolicy {
    let pace = v1::BronsteinPace { total: Some(ms(total_ms)), delay: Some(ms(delay_ms)) };
    ClockPolicy { pace: Some(Pace::Bronstein(pace)), ..ClockPolicy::default() }
}

fn byo_yomi(main_ms: i64, periods: u32) -> ClockPolicy {
    let pace = v1::ByoYomiPace { main: Some(ms(main_ms)), period: Some(ms(PERIOD as i64)), periods };
    ClockPolicy { pace: Some(Pace::ByoYomi(pace)), ..ClockPolicy::default() }
}

/// The time of a test, which begins with its game.
struct Stage<'a> {
    local: &'a Local,
    now: u64,
}

impl Stage<'_> {
    fn after(&mut self, ms: u64) {
        self.now += ms;
        self.local.clock.set(self.time());
    }

    const fn time(&self) -> Time {
        Time::from_unix_ms(START.unix_ms() + self.now)
    }

    /// The seats have this much, and the time of the seat to move runs, which is this one's.
    async fn shows(&self, game: &PlayedGame, left: [u64; 2], seat: u32) {
        let now = game.now().await;
        let clock = now.clock.unwrap();
        let total = |seat: &v1::SeatTime| {
            let remaining = seat.remaining.unwrap();
            remaining.seconds as u64 * 1_000 + remaining.nanos as u64 / 1_000_000 + u64::from(seat.periods) * PERIOD
        };
        assert_eq!(clock.as_of, Some(replies::time(self.time())));
        assert_eq!((now.seat_to_move, clock.running_seat), (Some(seat), Some(seat)), "who is to move is who ticks");
        assert_eq!(clock.seats.iter().map(total).collect::<Vec<_>>(), left);
        let deadline = Time::from_unix_ms(self.time().unix_ms() + left[seat as usize]);
        assert_eq!((clock.deadline, now.deadline.unwrap().time), (Some(replies::time(deadline)), Some(replies::time(deadline))));
    }
}

/// 10.000 s, 5.000 s and 3.000 s are thought; 2.500 s into the fourth turn the third move is taken back.
async fn taken_back(local: &Local, clock: ClockPolicy, on_undo: ClockUndo, by: UndoBy, left: [u64; 2]) {
    let mut stage = Stage { local, now: 0 };
    stage.after(0);
    let clock = ClockPolicy { on_undo: on_undo.into(), ..clock };
    let fixed = matches!(clock.pace, Some(Pace::PerMove(_)));
    let mut game = local.wire().await.game().mnk(6, 6, 5).undo(by).clock(clock).await;
    for (thought, notation) in [(10_000, "a1"), (5_000, "b1"), (3_000, "a2")] {
        stage.after(thought);
        game.play(notation).await;
    }
    if by == UndoBy::Agreement {
        stage.after(1_000);
        game.acts(game.offering_undo(0, 4)).await;
        stage.after(1_500);
        game.acts(game.answering_undo(1, 4, OfferAnswer::Accept)).await;
    } else {
        stage.after(2_500);
        game.takes_back(0, 4).await;
    }
    stage.shows(&game, left, 0).await;
    // The right one ticks, and no other.
    stage.after(1_234);
    let thought = [left[0] - 1_234, left[1]];
    stage.shows(&game, thought, 0).await;
    game.play("a2").await;
    let other = game.now().await.clock.unwrap();
    assert_eq!(other.running_seat, Some(1));
    if fixed {
        stage.shows(&game, left, 1).await;
    }
    game.wire.proves(&game.id).await;
}

async fn scenario_20_after_an_undo_the_clocks_are_as_their_rule_says_to_the_millisecond(setup: Setup) {
    let local = setup.start().await;
    for by in [UndoBy::Free, UndoBy::Agreement] {
        for (clock, restored, kept) in [
            (fischer(60_000, 1_000), [51_000, 56_000], [49_000, 53_500]),
            (bronstein(60_000, 4_000), [54_000, 59_000], [54_000, 59_000]),
            (byo_yomi(8_000, 5), [10_000, 13_000], [8_000, 10_500]),
            (per_move(30_000), [30_000, 30_000], [30_000, 30_000]),
        ] {
            taken_back(&local, clock, ClockUndo::Restore, by, restored).await;
            taken_back(&local, clock, ClockUndo::Keep, by, kept).await;
        }
    }
}

/// Nobody asks for anything after the undo, and the time of the seat to move is over at its moment.
async fn scenario_20_after_an_undo_to_the_beginning_the_clock_still_runs_out(setup: Setup) {
    let local = setup.sweeping().start().await;
    let wire = local.wire().await;
    for (clock, on_undo, left) in [
        (fischer(5_000, 100), ClockUndo::Restore, [5_000, 5_000]),
        (fischer(5_000, 100), ClockUndo::Keep, [3_950, 4_400]),
        (per_move(1_500), ClockUndo::Keep, [1_500, 1_500]),
    ] {
        let mut stage = Stage { local: &local, now: 0 };
        stage.after(0);
        let clock = ClockPolicy { on_undo: on_undo.into(), ..clock };
        let mut game = wire.game().mnk(6, 6, 5).undo(UndoBy::Free).clock(clock).await;
        stage.after(1_100);
        game.play("a1").await;
        stage.after(700);
        game.play("b1").await;
        stage.after(50);
        game.takes_back(0, 2).await;
        assert_eq!(game.now().await.position.unwrap().ply, 0);
        stage.shows(&game, left, 0).await;
        stage.after(left[0]);
        let deadline = replies::time(stage.time());
        stage.shows(&game, [0, left[1]], 0).await;
        stage.after(1);
        until("the time is over", || async { game.now().await.state() == v1::GameState::Closed }).await;
        let last = wire.history(&game.id).await.pop().unwrap();
        assert_eq!((last.create_time, last.seq, last.actor.as_str()), (Some(deadline), 5, "plybook"));
        let outcome = last.outcome.unwrap();
        assert_eq!((outcome.winners, outcome.reason.as_str()), (vec![1], "timeout"));
        wire.proves(&game.id).await;
    }
}
