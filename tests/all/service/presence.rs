//! Presence: who is away, whose grace runs, and what may be claimed.

use plybook_core::Time;
use plybook_proto::v1::{self, AbsenceClaim, IfAway, LeftBecause, event::Body};
use plybook_server::replies;
use plybook_tests::both::on_both;
use plybook_tests::injected::Local;
use plybook_tests::live::fischer;

const BEGIN: u64 = 1_800_000_000_000;

/// It is so many milliseconds after the beginning.
fn at(local: &Local, ms: u64) -> Time {
    let now = Time::from_unix_ms(BEGIN + ms);
    local.clock.set(now);
    now
}

fn away(game: &v1::Game) -> Vec<(u32, Option<prost_types::Timestamp>, Option<prost_types::Timestamp>)> {
    game.away_seats.iter().map(|away| (away.seat, away.away_since, away.grace_until)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_is_an_entry_and_the_same_again_is_none() {
    on_both(reporting).await;
}

async fn reporting(local: &Local) {
    let begin = at(local, 0);
    let wire = local.wire().await;
    let mut game = wire.game().absence(60_000, IfAway::Forfeit).await;
    let same = wire.asks(game.reporting(1, true)).await.unwrap();
    assert_eq!((same, game.now().await.seq), ((None, None), 1), "everybody is there from the beginning");
    let asked = game.reporting(1, false);
    let left = game.acts(asked.clone()).await;
    assert_eq!(left.body, Some(Body::PresenceChanged(v1::PresenceChanged { seat: 1, present: false })));
    assert_eq!(left.seat_to_move, Some(0));
    let until = Some(replies::time(Time::from_unix_ms(BEGIN + 60_000)));
    let now = game.now().await;
    assert_eq!(away(&now), vec![(1, Some(replies::time(begin)), until)]);
    let deadline = now.deadline.unwrap();
    assert_eq!((deadline.time, deadline.kind(), deadline.seat), (until, v1::DeadlineKind::Absence, Some(1)));
    for present in [false, false] {
        assert_eq!(wire.asks(game.reporting(1, present)).await.unwrap(), (None, None));
    }
    assert_eq!(wire.asks(asked).await.unwrap().0, Some(left), "a retry is answered as the first time");
    game.play("a1").await;
    at(local, 60_000);
    game.acts(game.reporting(1, true)).await;
    let now = game.now().await;
    assert_eq!((now.away_seats, now.deadline, now.seq), (vec![], None, 4), "the last moment of the grace is in time");
    wire.proves(&game.id).await;
    // Nothing of this was refused.
    let refusals = v1::ListRefusalsRequest { game_id: game.id.clone(), ..Default::default() };
    assert_eq!(wire.audit().list_refusals(refusals).await.unwrap().into_inner().refusals, vec![]);
}

/// All are away, nobody waits, and nothing is lost; who comes back has the others wait for their whole grace again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_65_everybody_is_away_and_an_hour_later_the_game_is_there() {
    on_both(deserting).await;
}

async fn deserting(local: &Local) {
    at(local, 0);
    let wire = local.wire().await;
    let mut game = wire.game().absence(60_000, IfAway::Forfeit).await;
    game.play("a1").await;
    game.acts(game.reporting(0, false)).await;
    at(local, 30_000);
    game.acts(game.reporting(1, false)).await;
    let now = game.now().await;
    assert!(now.deadline.is_none() && now.away_seats.iter().all(|away| away.grace_until.is_none()), "no grace runs: {now:?}");
    at(local, 3_600_000);
    let returned = at(local, 3_630_000);
    game.acts(game.reporting(1, true)).await;
    let now = game.now().await;
    assert_eq!((now.state(), now.seat_to_move, now.left_seats.len()), (v1::GameState::Active, Some(1), 0));
    let until = Some(replies::time(Time::from_unix_ms(returned.unix_ms() + 60_000)));
    assert_eq!(away(&now), vec![(0, Some(replies::time(Time::from_unix_ms(BEGIN))), until)]);
    game.play("b1").await;
    at(local, 3_690_000);
    game.play("a2").await;
    assert_eq!(game.now().await.away_seats, vec![], "who moves is there");
    wire.proves(&game.id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_there_claims_what_the_policy_gives() {
    on_both(claiming).await;
}

async fn claiming(local: &Local) {
    let wire = local.wire().await;
    for (policy, claim) in
        [(IfAway::ClaimWin, AbsenceClaim::Win), (IfAway::ClaimWin, AbsenceClaim::Draw), (IfAway::ClaimDraw, AbsenceClaim::Draw)]
    {
        at(local, 0);
        let mut game = wire.game().absence(60_000, policy).await;
        game.acts(game.reporting(1, false)).await;
        at(local, 60_000);
        game.refuses_act(game.claiming(0, claim)).await.with("CLAIM_NOT_ALLOWED").meta("cause", "GRACE");
        at(local, 60_001);
        let event = game.acts(game.claiming(0, claim)).await;
        let left_seats = if claim == AbsenceClaim::Win { vec![1] } else { vec![] };
        let claimed = v1::AbsenceClaimed { seat: 0, claim: claim.into(), left_seats };
        assert_eq!(event.body, Some(Body::AbsenceClaimed(claimed)));
        let outcome = event.outcome.clone().unwrap();
        let winners = if claim == AbsenceClaim::Win { vec![0] } else { vec![] };
        assert_eq!((outcome.winners, outcome.reason.as_str(), outcome.no_result), (winners, "absent", false));
        assert_eq!(wire.history(&game.id).await.last(), Some(&event));
        wire.proves(&game.id).await;
    }
    at(local, 0);
    let mut draw_only = wire.game().absence(60_000, IfAway::ClaimDraw).await;
    draw_only.acts(draw_only.reporting(1, false)).await;
    at(local, 60_001);
    draw_only.refuses_act(draw_only.claiming(0, AbsenceClaim::Win)).await.with("CLAIM_NOT_ALLOWED").meta("cause", "POLICY");
    assert!(draw_only.now().await.deadline.is_none(), "nothing happens by itself");
}

/// At a larger table those leave whose grace is over, and no others; the event says who.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_names_those_who_leave_by_it() {
    on_both(naming).await;
}

async fn naming(local: &Local) {
    at(local, 0);
    let wire = local.wire().await;
    let mut game = wire.game().mnk(6, 6, 4).seats(4).absence(60_000, IfAway::ClaimWin).clock(fischer(600_000, 1_000)).await;
    game.acts(game.reporting(0, false)).await;
    game.acts(game.reporting(2, false)).await;
    at(local, 30_000);
    game.acts(game.reporting(3, false)).await;
    let claimed = at(local, 60_001);
    let event = game.acts(game.claiming(1, AbsenceClaim::Win)).await;
    let Some(Body::AbsenceClaimed(body)) = &event.body else { panic!("{event:?}") };
    assert_eq!((body.left_seats.as_slice(), event.seat_to_move, event.outcome.is_none()), ([0, 2].as_slice(), Some(1), true));
    let now = game.now().await;
    let left: Vec<_> = now.left_seats.iter().map(|left| (left.seat, left.because(), left.seq)).collect();
    assert_eq!(left, vec![(0, LeftBecause::Absent, 5), (2, LeftBecause::Absent, 5)]);
    let clock = now.clock.unwrap();
    let deadline = Time::from_unix_ms(claimed.unix_ms() + 600_000);
    assert_eq!((clock.running_seat, clock.deadline), (Some(1), Some(replies::time(deadline))), "the turn and its time have moved on");
    assert_eq!(wire.history(&game.id).await.last(), Some(&event));
    wire.proves(&game.id).await;
}
