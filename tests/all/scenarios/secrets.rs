//! E 44 and 40: what no RPC tells, and what no node pretends to know.

use plybook_core::Seed;
use plybook_proto::v1::{self, UndoBy};
use plybook_tests::injected::over_sqlite;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{PlayedGame, Wire};
use prost::Message as _;

use super::two_nodes;

/// All that was told: replies, frames and refusals, as bytes and as text.
#[derive(Default)]
struct Told {
    by: std::collections::BTreeSet<&'static str>,
    bytes: Vec<u8>,
    text: String,
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

    fn refusal(&mut self, status: &tonic::Status) {
        self.bytes.extend(status.details());
        self.text += &format!("{status:?}");
    }

    /// Whether the seed is anywhere in it, raw, in hex, in base64 or as a list of numbers.
    fn tells(&self, seed: &Seed) -> bool {
        let raw = seed.reveal();
        let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
        let list = format!("{raw:?}");
        let found = self.bytes.windows(32).any(|window| window == raw);
        let text = String::from_utf8_lossy(&self.bytes);
        found || [hex.as_str(), &hex.to_uppercase(), &base64(raw), &list].iter().any(|seed| self.text.contains(seed) || text.contains(seed))
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
async fn walk(game: &PlayedGame, told: &mut Told) {
    let (wire, id) = (&game.wire, game.id.clone());
    let mut games = wire.games();
    told.reply("GetGame", games.get_game(v1::GetGameRequest { game_id: id.clone(), at_seq: None }).await);
    for seq in [0, 1, game.head / 2 + 1, game.head, game.head + 1] {
        told.reply("GetGame", games.get_game(v1::GetGameRequest { game_id: id.clone(), at_seq: Some(seq) }).await);
    }
    told.reply("ListGames", games.list_games(v1::ListGamesRequest::default()).await);
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
    let mut book = wire.audit().get_book(v1::GetBookRequest { game_id: id.clone() }).await.unwrap().into_inner();
    while let Some(piece) = book.message().await.unwrap() {
        told.message("GetBook", &piece);
    }
    refusals(game, told).await;
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
    told.reply("CloseGame", games.close_game(stale.asks_close()).await);
}

/// The names of every method of the contract.
fn methods() -> std::collections::BTreeSet<String> {
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
    assert!(!told.tells(&seed), "an open game tells its seed");

    let mut after = Told::default();
    let closed = wire.games().close_game(game.asks_close()).await;
    game.sees(closed.as_ref().unwrap().get_ref().event.clone().unwrap());
    after.reply("CloseGame", closed);
    assert_eq!(told.by.iter().map(|rpc| (*rpc).to_owned()).collect::<std::collections::BTreeSet<_>>(), methods(), "every RPC was walked");
    walk(&game, &mut after).await;
    // The search finds it where it is: in replies, and in the text of the book alone.
    assert!(after.tells(&seed), "a closed game tells its seed");
    let book = Told { text: wire.book(&game.id).await, ..Told::default() };
    assert!(book.tells(&seed));
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
        assert!(!told.tells(&seed));
        let event = game.play("roll").await;
        assert_eq!(event.revealed_seed.is_empty(), event.outcome.is_none());
    }
    let mut told = Told::default();
    walk(&game, &mut told).await;
    assert!(told.tells(&seed));
}

/// Writes past the server that a game was created under rules of another build.
async fn pin(wire: &Wire, pair: &super::Pair, from: &str, to: &str) -> String {
    let mut game = wire.game().mnk(3, 3, 3).players(&["old", "new"]).undo(UndoBy::Free).await;
    game.play("a1 b1 a2").await;
    let book = wire.book(&game.id).await;
    let mut links = Vec::new();
    let mut digest: Option<plybook_core::Digest> = None;
    let header = book.split("\n= ").next().unwrap().replace(from, to);
    assert!(header.contains(to), "{header}");
    for text in std::iter::once(header).chain(wire.history(&game.id).await.into_iter().skip(1).map(|event| event.line)) {
        let next = digest.map_or_else(|| plybook_core::Digest::of(text.as_bytes()), |digest| digest.chain(&text));
        links.push((text, next));
        digest = Some(next);
    }
    let mut sql = String::from("ALTER TABLE book_entry DISABLE TRIGGER USER;");
    for (seq, (text, digest)) in (1..).zip(links) {
        let text = text.replace('\'', "''");
        let id = &game.id;
        sql +=
            &format!("UPDATE book_entry SET line = '{text}', digest = decode('{digest}', 'hex') WHERE game_id = '{id}' AND seq = {seq};");
    }
    pair.database.execute(&(sql + "ALTER TABLE book_entry ENABLE TRIGGER USER;")).await;
    game.id
}

/// The rows of a game, as the database has them.
async fn rows(pair: &super::Pair, id: &str) -> Vec<String> {
    pair.database.column(&format!("SELECT e::text FROM book_entry e WHERE game_id = '{id}' ORDER BY seq")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scenario_40_a_game_under_rules_that_this_build_has_not_is_refused_and_left_alone() {
    let mut pair = two_nodes().await;
    let [a, _] = pair.wires().await;
    let future = pin(&a, &pair, "ruleset mnk@1", "ruleset mnk@7").await;
    let missing = pin(&a, &pair, "ruleset mnk@1", "ruleset hex@1").await;
    let healthy = a.game().players(&["old", "new"]).await;
    pair.replace();
    let [a, b] = pair.wires().await;
    for (id, reason, known) in
        [(&future, "RULESET_VERSION_UNSUPPORTED", "1"), (&missing, "UNKNOWN_RULESET", "connect_four,gomoku,mnk,othello,snakes_and_ladders")]
    {
        let before = rows(&pair, id).await;
        assert_eq!(before.len(), 4);
        for wire in [&a, &b] {
            let game = PlayedGame { wire: wire.clone(), id: id.clone(), head: 4, to_move: Some(1) };
            let legal = v1::ListLegalActionsRequest { game_id: id.clone(), ..Default::default() };
            for refused in [
                Refused::by(wire.try_get(id, None).await),
                Refused::by(wire.try_get(id, Some(2)).await),
                Refused::by(wire.games().list_legal_actions(legal).await),
                game.refuses("c1").await,
                game.refuses_undo(game.asks_undo(0, None)).await,
                game.refuses_close(game.asks_close()).await,
                wire.follow(id).refused().await,
            ] {
                refused.with(reason).meta("known", known);
            }
            // What is kept is still handed out, and does not stand in the way of other games.
            assert!(wire.book(id).await.contains("move b1"), "the book itself can be read");
        }
        assert_eq!(rows(&pair, id).await, before, "nothing is rewritten");
    }
    let request = v1::ListGamesRequest { player_id: "old".to_owned(), ..Default::default() };
    let listed = a.games().list_games(request).await.unwrap().into_inner().games;
    assert_eq!(listed.len(), 3, "lists still work");
    healthy.through(&a).play("b2").await;
}
