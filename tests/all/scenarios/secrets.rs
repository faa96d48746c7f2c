//! E 44: what no RPC tells before the game is closed.

use plybook_core::Seed;
use plybook_proto::v1::{self, UndoBy};
use plybook_tests::injected::over_sqlite;
use plybook_tests::live::Live;
use plybook_tests::table::{nonce, table};
use plybook_tests::wire::{PlayedGame, fresh, pieces};
use prost::Message as _;

/// All that was told: replies, frames and refusals, as bytes and as text.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) by: std::collections::BTreeSet<&'static str>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
}

impl Told {
    fn reply<T: prost::Message + std::fmt::Debug>(&mut self, rpc: &'static str, reply: Result<tonic::Response<T>, tonic::Status>) {
        self.by.insert(rpc);
        match reply {
            Ok(reply) => {
                self.text += &format!("{:?}", reply.metadata());
                self.message(rpc, reply.get_ref());
            }
            Err(status) => self.refusal(&status),
        }
    }

    fn message<T: prost::Message + std::fmt::Debug>(&mut self, rpc: &'static str, message: &T) {
        self.by.insert(rpc);
        self.bytes.extend(message.encode_to_vec());
        self.text += &format!("{message:?}");
    }

    pub(crate) fn refusal(&mut self, status: &tonic::Status) {
        self.bytes.extend(status.details());
        self.text += &format!("{status:?}");
    }

    /// Whether a seed or a nonce is anywhere in it, raw, in hex, in base64 or as a list of numbers.
    fn tells(&self, raw: &[u8]) -> bool {
        let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
        let list = format!("{raw:?}");
        let found = self.bytes.windows(raw.len()).any(|window| window == raw);
        let text = String::from_utf8_lossy(&self.bytes);
        found
            || [hex.as_str(), &hex.to_uppercase(), &base64(raw), &list]
                .iter()
                .any(|secret| self.text.contains(secret) || text.contains(secret))
    }
}

/// Without padding, so that padded text is found too.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = bytes.chunks(3).flat_map(|three| {
        let bits = three.iter().chain([0; 2].iter()).take(3).fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        (0..=three.len()).map(move |at| char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]))
    });
    letters.collect()
}

/// Every RPC about a game, answered and refused.
pub(crate) async fn walk(game: &PlayedGame, told: &mut Told) {
    let (wire, id) = (&game.wire, game.id.clone());
    let mut games = wire.games();
    told.reply("GetGame", games.get_game(v1::GetGameRequest { game_id: id.clone(), at_seq: None }).await);
    for seq in [0, 1, game.head / 2 + 1, game.head, game.head + 1] {
        told.reply("GetGame", games.get_game(v1::GetGameRequest { game_id: id.clone(), at_seq: Some(seq) }).await);
    }
    told.reply("ListGames", games.list_games(v1::ListGamesRequest::default()).await);
    told.reply("ListStrategies", games.list_strategies(v1::ListStrategiesRequest::default()).await);
    told.reply("ListRulesets", games.list_rulesets(v1::ListRulesetsRequest::default()).await);
    let legal = v1::ListLegalActionsRequest { game_id: id.clone(), page_size: 1, ..Default::default() };
    told.reply("ListLegalActions", games.list_legal_actions(legal).await);
    for (after_seq, snapshot) in [(0, false), (0, true), (1, true), (game.head, false), (game.head + 1, false)] {
        let request = v1::StreamEventsRequest { game_id: id.clone(), after_seq, snapshot, stop_at_head: true, ..Default::default() };
        match games.stream_events(request).await {
            Ok(stream) => {
                let mut stream = stream.into_inner();
                while let Some(frame) = stream.message().await.unwrap() {
                    told.message("StreamEvents", &frame);
                }
            }
            Err(status) => told.refusal(&status),
        }
    }
    for from_now in [false, true] {
        let request = v1::StreamAllEventsRequest { from_now, stop_at_head: true, ..Default::default() };
        let mut feed = wire.audit().stream_all_events(request).await.unwrap().into_inner();
        while let Some(frame) = feed.message().await.unwrap() {
            told.message("StreamAllEvents", &frame);
        }
    }
    let mut book = wire.audit().get_book(v1::GetBookRequest { game_id: id.clone() }).await.unwrap().into_inner();
    while let Some(piece) = book.message().await.unwrap() {
        told.message("GetBook", &piece);
    }
    let holder = Some(v1::mint_seat_token_request::Holder::Seat(0));
    told.reply("MintSeatToken", games.mint_seat_token(v1::MintSeatTokenRequest { game_id: id.clone(), holder, ttl: None }).await);
    told.reply("ListKeys", wire.audit().list_keys(v1::ListKeysRequest {}).await);
    told.reply("VerifyGame", wire.audit().verify_game(v1::VerifyGameRequest { game_id: id.clone() }).await);
    // With itself, and with a game of other moves: both positions, both lines.
    let other = wire.game().snakes(30, &[3, 11, 17, 5]).await.id;
    let book = |id: &str| Some(v1::ComparedBook { book: Some(v1::compared_book::Book::GameId(id.to_owned())) });
    for other in [&id, &other] {
        let request = v1::CompareBooksRequest { left: book(&id), right: book(other) };
        told.reply("CompareBooks", wire.audit().compare_books(request).await);
    }
    advice(game, told).await;
    // The game is there, so its own file is refused; and another one is not of it.
    let own = wire.book(&id).await;
    for file in [own.clone(), own.replace("ply=1", "ply=2"), table().play("b2").book().print()] {
        let file = futures::stream::iter(pieces(file.as_bytes(), 500));
        told.reply("ImportBook", wire.audit().import_book(file).await);
    }
    forks(game, told).await;
    living(game, told).await;
    refusals(game, told).await;
    wire.remembers(&id, 7).await;
    told.reply(
        "ListRefusals",
        wire.audit().list_refusals(v1::ListRefusalsRequest { game_id: id, page_size: 500, ..Default::default() }).await,
    );
}

/// What every strategy would play, and what every action looks like, now and before; refused once the game is over.
async fn advice(game: &PlayedGame, told: &mut Told) {
    let mut games = game.wire.games();
    for at_seq in [None, Some(1), Some(game.head / 2 + 1), Some(game.head + 1)] {
        for strategy in ["random", "heuristic", "minimax", "mcts", "perfect"] {
            let strategy = Some(v1::StrategySpec { id: strategy.to_owned(), version: 0 });
            let asks = v1::SuggestMoveRequest { game_id: game.id.clone(), at_seq, strategy, nodes: 1 };
            told.reply("SuggestMove", games.suggest_move(asks).await);
        }
        let asks = v1::AnalyzePositionRequest { game_id: game.id.clone(), at_seq, nodes: 200, max_actions: 0 };
        told.reply("AnalyzePosition", games.analyze_position(asks).await);
    }
}

/// A fork has a seed of its own, and nothing of the other game's.
async fn forks(game: &PlayedGame, told: &mut Told) {
    for at in [1, game.head, game.head + 1] {
        let request = v1::ForkGameRequest {
            request_id: plybook_tests::wire::fresh(),
            game_id: game.id.clone(),
            at_seq: Some(at),
            ..v1::ForkGameRequest::default()
        };
        let forked = game.wire.games().fork_game(request).await;
        if let Ok(fork) = &forked {
            let id = &fork.get_ref().game.as_ref().unwrap().game_id;
            told.text += &game.wire.book(id).await;
        }
        told.reply("ForkGame", forked);
    }
}

/// What is no move, of this game refused and of another done; and the rematch of one that is over.
async fn living(game: &PlayedGame, told: &mut Told) {
    use plybook_proto::v1::{AbsenceClaim, IfAway, OfferAnswer};
    let nobody = PlayedGame { head: 0, ..game.clone() };
    let mut other = game.wire.game().undo(UndoBy::Agreement).absence(1_000, IfAway::Forfeit).await;
    other.play("b2").await;
    for game in [&nobody, &other] {
        let mut games = game.wire.games();
        macro_rules! asks {
            ($name:literal, $rpc:ident, $live:expr, $kind:ident) => {
                if let Live::$kind(request) = $live {
                    told.reply($name, games.$rpc(request).await);
                }
            };
        }
        asks!("OfferDraw", offer_draw, game.offering_draw(0), OfferDraw);
        asks!("AnswerDraw", answer_draw, game.answering_draw(1, OfferAnswer::Decline), AnswerDraw);
        asks!("OfferUndo", offer_undo, game.offering_undo(0, 2), OfferUndo);
        asks!("AnswerUndo", answer_undo, game.answering_undo(1, 2, OfferAnswer::Accept), AnswerUndo);
        asks!("ReportPresence", report_presence, game.reporting(0, false), Presence);
        asks!("ClaimAbsence", claim_absence, game.claiming(1, AbsenceClaim::Win), Claim);
    }
    // Of this game with a seat that nobody has, or it would end here.
    let ending = [game.clone(), other];
    for (game, seat) in ending.iter().zip([9, 0]) {
        let mut games = game.wire.games();
        if let Live::Remove(request) = game.removing(9) {
            told.reply("RemoveSeat", games.remove_seat(request).await);
        }
        if let Live::Abort(request) = game.aborting(Some(9)) {
            told.reply("AbortGame", games.abort_game(request).await);
        }
        if let Live::Resign(request) = game.resigning(seat) {
            told.reply("Resign", games.resign(request).await);
        }
    }
    for id in ending.iter().map(|game| game.id.clone()) {
        let again = game.wire.games().rematch(v1::RematchRequest { game_id: id, with_receipt: false }).await;
        if let Ok(new) = &again {
            told.text += &game.wire.book(&new.get_ref().game.as_ref().unwrap().game_id).await;
        }
        told.reply("Rematch", again);
    }
}

/// Requests that append, each refused.
async fn refusals(game: &PlayedGame, told: &mut Told) {
    let mut games = game.wire.games();
    let stale = PlayedGame { head: 1, ..game.clone() };
    for asks in [
        game.asks("x9"),
        v1::MakeMoveRequest { seat: Some(1 - game.to_move.unwrap_or(0)), ..game.asks("roll") },
        v1::MakeMoveRequest { expected_seq: Some(game.head + 5), ..game.asks("roll") },
        v1::MakeMoveRequest { request_id: String::new(), ..game.asks("roll") },
        v1::MakeMoveRequest { expected_seq: Some(0), ..game.asks("roll") },
    ] {
        let refused = games.make_move(asks).await;
        assert!(refused.is_err());
        told.reply("MakeMove", refused);
    }
    told.reply("Undo", games.undo(game.asks_undo(0, Some(1))).await);
    let step = Some(v1::join_game_request::Step::Reveal(vec![7; 32]));
    let joins = v1::JoinGameRequest { request_id: fresh(), game_id: game.id.clone(), seat: Some(0), step, with_receipt: false };
    told.reply("JoinGame", games.join_game(joins).await);
    told.reply("CloseGame", games.close_game(stale.asks_close()).await);
}

/// The names of every method of the contract.
pub(crate) fn methods() -> std::collections::BTreeSet<String> {
    let set = prost_types::FileDescriptorSet::decode(plybook_proto::DESCRIPTOR_SET).unwrap();
    let files = set.file.into_iter().filter(|file| file.package() == "plybook.v1");
    files.flat_map(|file| file.service).flat_map(|service| service.method).map(|method| method.name().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_44_no_rpc_tells_the_seed_before_the_game_is_closed() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let seed = Seed::new(std::array::from_fn(|at| (at as u8).wrapping_mul(37) ^ 0x5a));
    local.ids.next_seed(seed.clone());
    let mut told = Told::default();
    let opening = wire.game().snakes(30, &[3, 11, 17, 5]).undo(UndoBy::Free).undo_over_throw().undo_after_end();
    let created = wire.games().create_game(opening.request.clone()).await;
    let mut game = wire.open(&created.as_ref().unwrap().get_ref().game.as_ref().unwrap().game_id).await;
    told.reply("CreateGame", created);
    walk(&game, &mut told).await;
    while game.to_move.is_some() {
        let asks = v1::MakeMoveRequest { with_position: true, ..game.asks("roll") };
        let reply = wire.games().make_move(asks).await;
        game.sees(reply.as_ref().unwrap().get_ref().event.clone().unwrap());
        told.reply("MakeMove", reply);
        walk(&game, &mut told).await;
    }
    // Finished, reopened, finished again: still not closed.
    let reply = wire.games().undo(v1::UndoRequest { with_position: true, ..game.asks_undo(0, Some(game.head)) }).await;
    game.sees(reply.as_ref().unwrap().get_ref().event.clone().unwrap());
    told.reply("Undo", reply);
    walk(&game, &mut told).await;
    game.play("roll").await;
    walk(&game, &mut told).await;
    assert_eq!(game.now().await.state(), v1::GameState::Finished);
    assert!(!told.tells(seed.reveal()), "an open game tells its seed");

    let mut after = Told::default();
    let closed = wire.games().close_game(game.asks_close()).await;
    game.sees(closed.as_ref().unwrap().get_ref().event.clone().unwrap());
    after.reply("CloseGame", closed);
    assert_eq!(told.by.iter().map(|rpc| (*rpc).to_owned()).collect::<std::collections::BTreeSet<_>>(), methods(), "every RPC was walked");
    walk(&game, &mut after).await;
    // The search finds it where it is: in replies, and in the text of the book alone.
    assert!(after.tells(seed.reveal()), "a closed game tells its seed");
    let book = Told { text: wire.book(&game.id).await, ..Told::default() };
    assert!(book.tells(seed.reveal()));
    let earlier = wire.try_get(&game.id, Some(game.head - 1)).await.unwrap();
    assert!(earlier.revealed_seed.is_empty(), "nor does the past of a closed game");
}

/// Without undo after the end, the last move reveals it, and nothing before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_44_the_move_that_closes_the_game_is_the_first_to_tell() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let seed = Seed::new([0xa7; 32]);
    local.ids.next_seed(seed.clone());
    let mut game = wire.game().snakes(12, &[]).await;
    while game.to_move.is_some() {
        let mut told = Told::default();
        walk(&game, &mut told).await;
        assert!(!told.tells(seed.reveal()));
        let event = game.play("roll").await;
        assert_eq!(event.revealed_seed.is_empty(), event.outcome.is_none());
    }
    let mut told = Told::default();
    walk(&game, &mut told).await;
    assert!(told.tells(seed.reveal()));
}

/// A nonce is told by the entry that reveals it, and by nothing before: not even after it was sent too early.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_44_no_rpc_tells_a_nonce_before_its_seat_reveals_it() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let seed = Seed::new([0x5b; 32]);
    local.ids.next_seed(seed.clone());
    let mut game = wire.game().snakes(12, &[]).joint(3600, v1::IfAbsent::Forfeit).await;
    let mut told = Told::default();
    walk(&game, &mut told).await;
    game.commit(0).await;
    told.reply("JoinGame", wire.games().join_game(game.asks_reveal(0)).await);
    walk(&game, &mut told).await;
    game.commit(1).await;
    let of_another_seat = v1::JoinGameRequest { seat: Some(0), ..game.asks_reveal(1) };
    told.reply("JoinGame", wire.games().join_game(of_another_seat).await);
    walk(&game, &mut told).await;
    assert!(!told.tells(&nonce(0)) && !told.tells(&nonce(1)));
    game.reveal(0).await;
    walk(&game, &mut told).await;
    assert!(told.tells(&nonce(0)) && !told.tells(&nonce(1)), "each nonce is told by its own entry");
    game.reveal(1).await;
    walk(&game, &mut told).await;
    assert!(told.tells(&nonce(1)));
    game.play("roll").await;
    walk(&game, &mut told).await;
    assert!(!told.tells(seed.reveal()), "nonces tell no seed");
}
