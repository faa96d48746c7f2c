//! `plybook sink`: the feed in JetStream, each entry once, whatever is killed on the way.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, Context};
use plybook_proto::v1;
use plybook_tests::nats::{self, Nats};
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::random::Random;
use plybook_tests::wire::Wire;
use plybook_tests::{long, ports};
use prost::Message as _;

use super::{command, ended, run, send};

const STREAM: &str = "PLYBOOK";

/// A server over a file of its own, and NATS.
struct Shop {
    node: Node,
    nats: Nats,
    /// Of the file.
    _folder: tempfile::TempDir,
}

impl Shop {
    /// Whose books have so many games of so many entries already.
    async fn with_books(books: &[u32]) -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("books.db");
        for entries in books {
            long::book(Path::new(&file), *entries).await;
        }
        let node = node::over(file.to_str().unwrap()).start();
        let nats = tokio::task::spawn_blocking(nats::server).await.unwrap();
        Shop { node, nats, _folder: folder }
    }

    fn args<'a>(&'a self, url: &'a str, to: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["sink", "--server", url, "--to", to], more].concat()
    }

    fn sink(&self, more: &[&str]) -> Child {
        let (url, to) = (self.node.url(), self.nats.url());
        command(&self.args(&url, &to, more)).spawn().unwrap()
    }

    /// Fills to the end of the feed.
    async fn fills(&self, more: &[&str]) {
        let sink = self.sink(&[&["--until-head"], more].concat());
        tokio::task::spawn_blocking(move || ended(sink).ok()).await.unwrap();
    }

    async fn jetstream(&self) -> Context {
        jetstream::new(async_nats::connect(self.nats.url()).await.unwrap())
    }

    /// How much is in the stream.
    async fn count(&self) -> u64 {
        match self.jetstream().await.get_stream(STREAM).await {
            Ok(stream) => stream.cached_info().state.messages,
            Err(_) => 0,
        }
    }

    /// All that is in the stream, in its order.
    async fn messages(&self, stream: &str) -> Vec<StreamMessage> {
        let stream = self.jetstream().await.get_stream(stream).await.unwrap();
        let mut messages = Vec::new();
        for at in 1..=stream.cached_info().state.last_sequence {
            messages.push(stream.get_raw_message(at).await.unwrap());
        }
        assert_eq!(messages.len() as u64, stream.cached_info().state.messages);
        messages
    }

    /// The stream has the feed: each entry once, and those of a game in order.
    async fn is_filled(&self) {
        let feed = self.node.wire().await.feed().whole().await;
        let mut wanted: BTreeMap<String, Vec<v1::Event>> = BTreeMap::new();
        for event in feed {
            wanted.entry(event.game_id.clone()).or_default().push(event);
        }
        let mut found: BTreeMap<String, Vec<v1::Event>> = BTreeMap::new();
        for message in self.messages(STREAM).await {
            let event = v1::Event::decode(message.payload.clone()).unwrap();
            assert_eq!(header(&message, "Nats-Msg-Id"), format!("{}:{}", event.game_id, event.seq));
            found.entry(event.game_id.clone()).or_default().push(event);
        }
        let told = |games: &BTreeMap<String, Vec<v1::Event>>| -> Vec<(String, Vec<u64>)> {
            games.iter().map(|(game, events)| (game.clone(), events.iter().map(|event| event.seq).collect())).collect()
        };
        assert_eq!(told(&found), told(&wanted));
        assert!(found == wanted, "the bodies are the feed's");
    }

    async fn token_is_lost(&self) {
        self.jetstream().await.delete_stream("PLYBOOK_SINK").await.unwrap();
    }
}

fn header<'m>(message: &'m StreamMessage, name: &str) -> &'m str {
    message.headers.get(name).unwrap().as_str()
}

/// Plays on in games of its own until told to stop; answers how many moves.
async fn plays_on(wire: Wire, stop: tokio::sync::watch::Receiver<bool>) -> usize {
    let mut games = Vec::new();
    for _ in 0..4 {
        games.push(wire.game().mnk(26, 26, 26).await);
    }
    let mut moves = 0;
    while !*stop.borrow() && moves < 2_000 {
        let at = moves / games.len();
        let game = moves % games.len();
        games[game].play(&format!("{}{}", char::from(b'a' + (at % 26) as u8), at / 26 + 1)).await;
        moves += 1;
    }
    moves
}

/// Killed at any moment, while moves go on; beyond the window in which the stream knows ids, which is as short as can be;
/// and once without the memory of how far it came.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_is_killed_again_and_again_fills_the_stream_once() {
    let shop = Shop::with_books(&[vec![100; 30], vec![700]].concat()).await;
    let config = Config {
        name: STREAM.to_owned(),
        subjects: vec!["plybook.games.default.>".to_owned()],
        duplicate_window: Duration::from_millis(100),
        ..Config::default()
    };
    shop.jetstream().await.create_stream(config).await.unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let playing = tokio::spawn(plays_on(shop.node.wire().await, stopped));
    let mut random = Random::new(0x51_4b);
    for round in 0..8 {
        let before = shop.count().await;
        let sink = shop.sink(&[]);
        // Sometimes before its first message, sometimes far behind the history.
        let more = random.from_to(0, 600).unsigned_abs();
        let enough = before + if round < 6 { more } else { 1 };
        until("the stream grows", async || shop.count().await >= enough || playing.is_finished()).await;
        send("KILL", &sink);
        assert_eq!(tokio::task::spawn_blocking(move || ended(sink).code).await.unwrap(), -1);
        if round == 3 {
            shop.token_is_lost().await;
        }
    }
    stop.send_replace(true);
    assert!(playing.await.unwrap() > 0);
    shop.fills(&[]).await;
    shop.is_filled().await;
    // Everything once more is nothing more.
    shop.fills(&["--again"]).await;
    shop.is_filled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_new_is_in_the_stream_at_once_and_a_signal_ends_it_well() {
    let shop = Shop::with_books(&[]).await;
    let sink = shop.sink(&[]);
    let mut game = shop.node.wire().await.game().await;
    game.play("a1 b1 a2").await;
    until("the entries are in the stream", async || shop.count().await == 4).await;
    let messages = shop.messages(STREAM).await;
    let message = &messages[3];
    let event = v1::Event::decode(message.payload.clone()).unwrap();
    let digest: String = event.book_digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(message.subject.as_str(), format!("plybook.games.default.mnk.{}", game.id));
    assert_eq!((header(message, "Plybook-Game"), header(message, "Plybook-Seq")), (&*game.id, "4"));
    assert_eq!((header(message, "Plybook-Digest"), header(message, "Nats-Msg-Id")), (&*digest, &*format!("{}:4", game.id)));
    assert_eq!(header(message, "Content-Type"), "application/protobuf; proto=plybook.v1.Event");
    send("TERM", &sink);
    tokio::task::spawn_blocking(move || ended(sink).ok()).await.unwrap();
    // It goes on where it was, in a game whose beginning this one has not seen.
    game.play("b2").await;
    shop.fills(&[]).await;
    shop.is_filled().await;
}

/// Two at once are one: the stream says who was first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sinks_fill_one_stream_once() {
    let shop = Shop::with_books(&[100; 8]).await;
    tokio::join!(shop.fills(&[]), shop.fills(&[]));
    shop.is_filled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nats_server_that_is_killed_on_the_way_loses_and_doubles_nothing() {
    let mut shop = Shop::with_books(&[100; 20]).await;
    let sink = shop.sink(&[]);
    for enough in [200, 700, 1_200] {
        until("the stream grows", async || shop.count().await >= enough).await;
        tokio::task::block_in_place(|| {
            shop.nats.kill();
            shop.nats.start();
        });
    }
    until("all is in the stream", async || shop.count().await >= 2_000).await;
    send("TERM", &sink);
    tokio::task::spawn_blocking(move || ended(sink)).await.unwrap();
    shop.is_filled().await;
}

/// Waiting in short steps must not begin each time anew: it would neither go to the next server nor ever end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_takes_calls_and_never_answers_is_left_for_the_next_one_or_given_up() {
    let shop = Shop::with_books(&[50]).await;
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, to) = (format!("http://{}", silent.local_addr().unwrap()), shop.nats.url());
    let both = format!("{url},{}", shop.node.url());
    let alone = command(&shop.args(&url, &to, &["--patience", "1", "--stream", "NOTHING", "--prefix", "nothing"])).spawn().unwrap();
    let sink = command(&shop.args(&both, &to, &["--until-head"])).spawn().unwrap();
    tokio::task::block_in_place(|| {
        ended(sink).ok();
        ended(alone).fails(1, "did not open");
    });
    shop.is_filled().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filtered_sink_is_a_stream_of_results_as_json() {
    let shop = Shop::with_books(&[]).await;
    let wire = shop.node.wire().await;
    let (mut won, mut open) = (wire.game().await, wire.game().of("gomoku").await);
    won.play("a1 b1 a2 b2 a3").await;
    open.play("h8").await;
    let results = ["--stream", "RESULTS", "--prefix", "results", "--state", "closed", "--state", "finished", "--format", "json"];
    shop.fills(&results).await;
    let messages = shop.messages("RESULTS").await;
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].subject.as_str(), format!("results.mnk.{}", won.id));
    let told: serde_json::Value = serde_json::from_slice(&messages[0].payload).unwrap();
    assert_eq!(
        (told["game_id"].as_str(), told["seq"].as_u64(), &told["outcome"]["winners"]),
        (Some(&*won.id), Some(6), &serde_json::json!([0]))
    );
    assert_eq!(header(&messages[0], "Content-Type"), "application/json");
    let (url, to) = (shop.node.url(), shop.nats.url());
    let other = ["--stream", "RESULTS", "--prefix", "results", "--until-head"];
    run(&shop.args(&url, &to, &other), "").fails(2, "begun with another filter");
    run(&shop.args(&url, &to, &["--prefix", "a.*"]), "").fails(2, "--prefix");
    run(&shop.args(&url, &to, &["--stream", "a b"]), "").fails(2, "--stream");
    run(&shop.args(&url, "redis://localhost", &[]), "").fails(2, "--to");
    let nobody = ports::Nobody::new();
    let nobody = format!("nats://me:secret@{}", nobody.address());
    let ran = run(&shop.args(&url, &nobody, &["--patience", "1"]), "").fails(1, "NATS");
    assert!(!ran.err.contains("secret"), "{ran:?}");
}

/// A backup was restored, and its game went on along another line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_books_than_the_stream_was_filled_from_are_told_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let [books, backup] = ["books.db", "backup.db"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let node = node::over(&books).start();
    let mut game = node.wire().await.game().await;
    game.play("a1").await;
    node.terminate();
    assert!(node.ended().success());
    std::fs::copy(&books, &backup).unwrap();
    let plays = async |node: &Node, cell: &str| {
        let client = plybook_client::Client::connect(&node.url()).unwrap();
        client.table(&game.id).seat(1).play(cell).at(2).await.unwrap();
    };
    let node = node::over(&books).start();
    plays(&node, "b2").await;
    let mut shop = Shop { node, nats: tokio::task::spawn_blocking(nats::server).await.unwrap(), _folder: folder };
    shop.fills(&[]).await;
    shop.node = node::over(&backup).start();
    plays(&shop.node, "c3").await;
    let before = shop.messages(STREAM).await;
    let again = shop.sink(&["--until-head", "--again"]);
    let ran = tokio::task::spawn_blocking(move || ended(again)).await.unwrap();
    ran.fails(1, &format!("entry 3 of {} in the stream is another one", game.id));
    let after = shop.messages(STREAM).await;
    assert_eq!(
        after.iter().map(|message| &message.payload).collect::<Vec<_>>(),
        before.iter().map(|message| &message.payload).collect::<Vec<_>>()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entry_that_nats_does_not_take_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("nats.conf");
    std::fs::write(&config, "max_payload: 1024\n").unwrap();
    let node = node::over(folder.path().join("books.db").to_str().unwrap()).start();
    node.wire().await.game().await;
    let flags = ["--config", config.to_str().unwrap()];
    let nats = tokio::task::block_in_place(|| nats::server_with(&flags));
    let shop = Shop { node, nats, _folder: folder };
    // With the usual patience: it must not be used up.
    let sink = shop.sink(&["--until-head", "--patience", "3600"]);
    tokio::task::spawn_blocking(move || ended(sink)).await.unwrap().fails(1, "and NATS takes 1024: raise max_payload there");
}
