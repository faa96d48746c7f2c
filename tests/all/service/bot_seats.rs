//! Who moves for whom: a bot's seat is the service's, and nobody else goes by the service's names.

use plybook_core::Time;
use plybook_proto::v1::{ClockPolicy, IfExpired};
use plybook_server::limits::QUICK_BOT_NODES;
use plybook_tests::both::on_both;
use plybook_tests::injected::Local;
use plybook_tests::live::{bot, per_move};
use plybook_tests::refused::Refused;
use plybook_tests::table::START;
use plybook_tests::wire::PlayedGame;
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};

/// What the service's own entries stand under.
const NAMES: [&str; 3] = ["plybook", "plybook/bot", "plybook/fallback"];

/// Where a caller might say who they are.
const SAID: [&str; 6] = ["authorization", "x-principal", "x-actor", "x-forwarded-user", "plybook-principal", "actor"];

/// The move that this player would make now, by this seat, under one of these names wherever a name might stand.
fn under(name: &str, game: &PlayedGame, seat: u32, notation: &str) -> Request<plybook_proto::v1::MakeMoveRequest> {
    let mut request = Request::new(plybook_proto::v1::MakeMoveRequest { seat: Some(seat), ..game.asks(notation) });
    let value: MetadataValue<Ascii> = name.parse().unwrap();
    for key in SAID {
        request.metadata_mut().insert(key, value.clone());
    }
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_moves_for_a_bot_under_whatever_name() {
    on_both(pretending).await;
}

async fn pretending(local: &Local) {
    let wire = local.wire().await;
    // So many nodes that the turn is left to the queue, which nobody looks after here.
    let slow = bot("mcts", QUICK_BOT_NODES + 1);
    for name in NAMES {
        // A player's name is the calling service's word, and gives no right.
        let mut game = wire.game().players(&[name, name]).bot(1, slow.clone()).await;
        let early = Refused::by(wire.games().make_move(under(name, &game, 1, "b2")).await);
        early.with("NOT_YOUR_TURN").meta("seat_to_move", 0);
        let moved = wire.games().make_move(under(name, &game, 0, "a1")).await.unwrap().into_inner().event.unwrap();
        assert_eq!(game.sees(moved).actor, "anonymous", "whoever says so is who they are without it");
        let refused = Refused::by(wire.games().make_move(under(name, &game, 1, "b2")).await);
        refused.with("SEAT_IS_BOT").only(&["head_seq", "seat"]).meta("seat", 1).meta("head_seq", 2);
        game.refuses("b2").await.with("SEAT_IS_BOT").meta("seat", 1);
        let book = wire.book(&game.id).await;
        assert!(book.lines().any(|line| line.contains(" 0:anonymous move a1 ")), "{book}");
        assert!(!book.contains(":plybook"), "{book}");
    }
}

/// A person's seat too is the service's for one turn, once its time is over and the fallback moves for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_moves_for_a_seat_whose_fallback_is_to() {
    on_both(late).await;
}

async fn late(local: &Local) {
    let wire = local.wire().await;
    for name in NAMES {
        local.clock.set(START);
        let clock = ClockPolicy { if_expired: IfExpired::Bot.into(), ..per_move(1_000) };
        let slow = Some(bot("mcts", QUICK_BOT_NODES + 1));
        let mut game = wire.game().clock(clock).terms(|terms| terms.fallback = slow).await;
        local.clock.set(Time::from_unix_ms(START.unix_ms() + 1_001));
        Refused::by(wire.games().make_move(under(name, &game, 0, "a1")).await);
        assert_eq!(game.looks().await.seat_to_move, Some(0), "its time is over, and it does not leave");
        assert_eq!(game.head, 2);
        let refused = Refused::by(wire.games().make_move(under(name, &game, 0, "a1")).await);
        refused.with("SEAT_IS_BOT").meta("seat", 0).meta("head_seq", 2);
        let last = wire.history(&game.id).await.pop().unwrap();
        assert_eq!((last.seq, last.actor.as_str()), (2, "plybook"), "the service has said that it is over, and nobody has moved");
    }
}
