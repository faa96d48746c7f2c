//! What a full run emits has none of the secrets that were planted in it.
//!
//! Every call, answered and refused, over Postgres with a password, a signing key and a collector's key; everything that can be
//! logged is logged, everything that can be traced is traced.

use plybook_tests::collector::collector;
use plybook_tests::node;
use plybook_tests::patience::until;
use plybook_tests::postgres;

use super::with_page;
use crate::scenarios::secrets::{Told, methods, walk};

/// A secret, in each form in which it might be emitted.
struct Planted {
    what: &'static str,
    forms: Vec<String>,
}

impl Planted {
    fn text(what: &'static str, secret: &str) -> Planted {
        Planted { what, forms: vec![secret.to_owned(), base64(secret.as_bytes()), hex(secret.as_bytes())] }
    }

    /// Raw bytes, of which each form is looked for by its beginning.
    fn bytes(what: &'static str, secret: &[u8]) -> Planted {
        let decimal = format!("{:?}", &secret[..8]);
        let forms = vec![
            hex(&secret[..8]),
            hex(&secret[..8]).to_uppercase(),
            base64(secret),
            decimal.trim_matches(['[', ']']).to_owned(),
            as_text(&secret[..8]),
        ];
        Planted { what, forms }
    }

    fn is_in(&self, emitted: &str) -> bool {
        self.forms.iter().any(|form| emitted.contains(form))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes as characters of the same number, so that text and bytes are searched alike.
fn as_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Without the last group, which may be padded.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = |three: &[u8]| {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    };
    bytes.chunks_exact(3).flat_map(letters).collect()
}

/// What a command prints, both ways.
fn printed(args: &[&str], environment: &[(&str, &str)]) -> String {
    let output = std::process::Command::new(node::binary()).args(args).envs(environment.iter().copied()).output().unwrap();
    as_text(&output.stdout) + &as_text(&output.stderr)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_full_run_emits_has_a_planted_secret() {
    const PASSWORD: &str = "correct-horse-battery";
    const OTLP_KEY: &str = "staple-of-the-collector";
    const BEARER: &str = "bearer-that-nobody-knows";
    let (database, folder, collector) = (postgres::database().await, tempfile::tempdir().unwrap(), collector().await);
    let (log, key) = (folder.path().join("log"), folder.path().join("plybook.key"));
    let key = key.to_str().unwrap();
    printed(&["keygen", "--out", key], &[]);
    let signing: String = std::fs::read_to_string(key).unwrap().lines().filter(|line| !line.starts_with('-')).collect();
    assert!(signing.len() > 20, "there is a key");
    let seed: Vec<u8> = (0..32).map(|n| 0xa1_u8.wrapping_add(n * 7)).collect();
    let planted = [
        Planted::text("the database's password", PASSWORD),
        Planted::text("the collector's key", OTLP_KEY),
        Planted::text("a caller's credential", BEARER),
        // Its last part: what comes before is the same in every key.
        Planted::text("the signing key", signing.get(signing.len() - 24..).unwrap()),
        Planted::bytes("the seed of a caller", &seed),
    ];

    let address = database.url.replacen("plybook@", &format!("plybook:{PASSWORD}@"), 1);
    let otlp_headers = format!("api-key={OTLP_KEY}");
    let environment = [("PLYBOOK_DATABASE", address.as_str()), ("OTEL_EXPORTER_OTLP_HEADERS", &otlp_headers)];
    let flags = ["--log", "trace", "--signing-key", key, "--otlp-endpoint", &collector.url()];
    let node = with_page(node::over(&address)).with(&flags).env(environment[1].0, environment[1].1).logs_to(&log).start();
    let wire = node.wire().await;
    let opening = wire.game().snakes(100, &[]).seed(&seed);
    let mut asks = tonic::Request::new(opening.request.clone());
    asks.metadata_mut().insert("authorization", format!("Bearer {BEARER}").parse().unwrap());
    let created = wire.games().create_game(asks).await;
    let mut game = wire.open(&created.as_ref().unwrap().get_ref().game.as_ref().unwrap().game_id).await;
    let mut told = Told::default();
    told.by.insert("CreateGame");
    game.play("roll roll").await;
    walk(&game, &mut told).await;
    assert_eq!(told.by.iter().map(|rpc| (*rpc).to_owned()).collect::<std::collections::BTreeSet<_>>(), methods(), "every RPC was walked");
    let (status, page) = node.page("/metrics").await;
    assert_eq!(status, 200);
    let ready = node.page("/readyz").await.1;
    drop((wire, game));
    node.terminate();
    assert!(node.ended().success());
    until("what is left is sent", async || !collector.spans().is_empty() && !collector.metrics().is_empty()).await;

    let logged = as_text(&std::fs::read(&log).unwrap());
    let exported = as_text(&collector.everything());
    assert!(logged.contains("sqlx::query") && exported.contains("MakeMove") && exported.contains("plybook.call.refusals"), "all is there");
    assert!(collector.headers().iter().all(|headers| headers.contains(OTLP_KEY)), "the key was used");
    let serve = |how: &str| {
        let words: Vec<&str> = how.split(' ').chain(flags).collect();
        printed(&words, &environment)
    };
    let emitted = [
        ("the log", logged),
        ("spans and numbers", exported),
        ("the page of metrics", page),
        ("the page of readiness", ready),
        ("replies and errors", told.text + &as_text(&told.bytes)),
        ("plybook config", serve("config")),
        ("plybook config --toml", serve("config --toml")),
        ("plybook config --check", serve("config --check")),
        ("plybook serve --help", serve("serve --help")),
        ("a flag that does not parse", serve("serve --streams many")),
        ("an address that does not parse", printed(&["serve", "--database", &format!("mysql://u:{PASSWORD}@h/d")], &environment)),
        ("headers that do not parse", printed(&["serve", "--otlp-endpoint", "http://h", "--otlp-headers", OTLP_KEY], &environment)),
        (
            "a collector's address that does not parse",
            printed(&["serve", "--otlp-endpoint", &format!("ftp://u:{OTLP_KEY}@h")], &environment),
        ),
    ];
    for (place, emitted) in &emitted {
        assert!(!emitted.is_empty(), "{place} says nothing");
        for secret in &planted {
            assert!(!secret.is_in(emitted), "{} is in {place}", secret.what);
        }
    }
    // The search finds what is there.
    assert!(planted[0].is_in(&address) && planted[1].is_in(&otlp_headers) && planted[4].is_in(&hex(&seed)));
}
