//! What a full run emits has none of the secrets that were planted in it.
//!
//! Every call, answered and refused, over Postgres with a password, keys, callers' credentials of each kind and a collector's key;
//! everything that can be logged is logged, everything that can be traced is traced.
//!
//! Invariant: what may show a secret is one place for each: the standard output of what makes it, and the reply that mints it.

use std::collections::BTreeSet;
use std::path::Path;

use plybook_tests::collector::{Collector, collector};
use plybook_tests::issuer::{IssuerKey, claims};
use plybook_tests::keyring::show;
use plybook_tests::node::{self, Node};
use plybook_tests::patience::until;
use plybook_tests::postgres;
use plybook_tests::wire::Wire;
use serde_json::json;
use tempfile::TempDir;

use super::with_page;
use crate::auth::calls::{call, names};
use crate::scenarios::secrets::{Told, methods, walk};

const PASSWORD: &str = "correct-horse-battery";
const OTLP_KEY: &str = "staple-of-the-collector";
const UNKNOWN: &str = "bearer-that-nobody-knows";

/// A place, and what was emitted there.
type Emitted = (&'static str, String);

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

    /// Of a key of `plybook keygen` its last part: what comes before is the same in every key.
    fn key(what: &'static str, file: &str) -> Planted {
        let digits: String = std::fs::read_to_string(file).unwrap().lines().filter(|line| !line.starts_with('-')).collect();
        Planted::text(what, digits.get(digits.len() - 24..).unwrap())
    }

    /// Of an API key its secret.
    fn api_key(what: &'static str, key: &str) -> Planted {
        let (_, secret) = key.rsplit_once('_').unwrap();
        let byte = |at| u8::from_str_radix(secret.get(at..at + 2)?, 16).ok();
        Planted::bytes(what, &(0..secret.len()).step_by(2).map(|at| byte(at).unwrap()).collect::<Vec<_>>())
    }

    /// Of a token its signature.
    fn token(what: &'static str, token: &str) -> Planted {
        Planted::text(what, token.rsplit_once('.').unwrap().1)
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

/// What a command prints: where results go, and where everything else does.
fn printed(args: &[&str], environment: &[(&str, &str)]) -> [String; 2] {
    let output = std::process::Command::new(node::binary()).args(args).envs(environment.iter().copied()).output().unwrap();
    [as_text(&output.stdout), as_text(&output.stderr)]
}

/// What a node is started with, and what was printed while that was made.
struct Setting {
    folder: TempDir,
    database: String,
    otlp_headers: String,
    flags: Vec<String>,
    planted: Vec<Planted>,
    emitted: Vec<Emitted>,
}

impl Setting {
    fn new(database: &str, collector: &Collector) -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let [signing, seats, jwks] = ["plybook.key", "seats.key", "jwks.json"].map(file);
        for key in [&signing, &seats] {
            printed(&["keygen", "--out", key], &[]);
        }
        show(Path::new(&jwks), &[&issuer()]);
        let planted = vec![
            Planted::text("the database's password", PASSWORD),
            Planted::text("the collector's key", OTLP_KEY),
            Planted::text("a credential that is none", UNKNOWN),
            Planted::key("the signing key", &signing),
            Planted::key("the key of seats' tokens", &seats),
        ];
        let collector = collector.url();
        let flags = ["--log", "trace", "--signing-key", &signing, "--otlp-endpoint", &collector];
        let credentials = ["--auth", "required", "--seat-token-key", &seats, "--jwks", &jwks];
        Setting {
            database: database.replacen("plybook@", &format!("plybook:{PASSWORD}@"), 1),
            otlp_headers: format!("api-key={OTLP_KEY}"),
            flags: flags.into_iter().chain(credentials).map(str::to_owned).collect(),
            planted,
            emitted: Vec::new(),
            folder,
        }
    }

    fn environment(&self) -> [(&str, &str); 2] {
        [("PLYBOOK_DATABASE", &self.database), ("OTEL_EXPORTER_OTLP_HEADERS", &self.otlp_headers)]
    }

    /// Runs a command whose results are a secret, and keeps all else that it prints.
    fn makes(&mut self, place: &'static str, args: &[&str], environment: &[(&str, &str)]) -> String {
        let [secret, beside] = printed(args, &[&self.environment(), environment].concat());
        assert!(!secret.trim().is_empty(), "{place}: {beside}");
        self.emitted.push((place, beside));
        secret.trim().to_owned()
    }

    /// Runs a command, and keeps all that it prints.
    fn runs(&mut self, place: &'static str, args: &[&str], environment: &[(&str, &str)]) {
        let printed = printed(args, &[&self.environment(), environment].concat()).concat();
        self.emitted.push((place, printed));
    }

    /// Runs a command with the flags of a node.
    fn runs_as_node(&mut self, place: &'static str, command: &str) {
        let flags = self.flags.clone();
        let words: Vec<&str> = command.split(' ').chain(flags.iter().map(String::as_str)).collect();
        self.runs(place, &words, &[]);
    }

    fn starts(&self, log: &Path) -> Node {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        let setup = with_page(node::over(&self.database)).with(&flags);
        setup.env("OTEL_EXPORTER_OTLP_HEADERS", &self.otlp_headers).logs_to(log).start()
    }
}

fn issuer() -> IssuerKey {
    IssuerKey::ed25519("k1", 7)
}

/// What callers have; each of them holds, but for the last two.
struct Credentials {
    key: String,
    jwt: String,
    revoked: String,
    expired: String,
}

impl Credentials {
    fn made(setting: &mut Setting) -> Credentials {
        setting.runs("plybook tenant create", &["tenant", "create", "shop"], &[]);
        let create = ["token", "create", "--tenant", "shop", "--role", "service", "--name", "svc/rooms"];
        let [key, revoked] = ["plybook token create", "the same again"].map(|place| setting.makes(place, &create, &[]));
        setting.runs("plybook token revoke", &["token", "revoke", &revoked], &[]);
        setting.runs("plybook token list", &["token", "list", "--tenant", "shop"], &[]);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        let (holds, over) = (claims("shop", "service", "idp/rooms", now), claims("shop", "service", "idp/rooms", now - 3_600));
        let (jwt, expired) = (issuer().signs(&holds), issuer().signs(&over));
        setting.planted.extend([
            Planted::api_key("an API key", &key),
            Planted::api_key("a revoked API key", &revoked),
            Planted::token("an issuer's token", &jwt),
            Planted::token("an expired token", &expired),
        ]);
        Credentials { key, jwt, revoked, expired }
    }
}

/// Every call, by every kind of credential. Game 1 has the planted seed and is not ended; game 2 is what tokens for seats are for.
async fn calls(node: &Node, setting: &mut Setting, credentials: &Credentials) -> Told {
    let seed: Vec<u8> = (0..32).map(|n| 0xa1_u8.wrapping_add(n * 7)).collect();
    setting.planted.push(Planted::bytes("the seed of a caller", &seed));
    let bare = node.wire().await;
    let service = bare.bearing(&credentials.key);
    let mut told = Told::default();
    let opening = service.game().snakes(100, &[]).seed(&seed);
    let mut game = service.open(&opening.sent().await.unwrap().game_id).await;
    told.by.insert("CreateGame");
    game.play("roll roll").await;
    walk(&game, &mut told).await;
    assert_eq!(told.by.iter().map(|rpc| (*rpc).to_owned()).collect::<BTreeSet<_>>(), methods(), "every RPC was walked");
    walk(&game.through(&bare.bearing(&credentials.jwt)), &mut told).await;

    let other = service.game().await.id;
    let mint = ["token", "mint", &other, "--seat", "1", "--server", &node.url()];
    let seat = setting.makes("plybook token mint", &mint, &[("PLYBOOK_TOKEN", &credentials.key)]);
    setting.planted.push(Planted::token("a token for a seat", &seat));
    let (most, last) = credentials.key.split_at(credentials.key.len() - 1);
    let changed = format!("{most}{}", if last == "0" { 1 } else { 0 });
    for (bearer, holds) in [(&seat, true), (&credentials.revoked, false), (&credentials.expired, false), (&changed, false)] {
        assert_eq!(each_call(&bare.bearing(bearer), &other, &mut told).await, holds);
    }
    assert!(!each_call(&bare.bearing(UNKNOWN), &other, &mut told).await);
    told
}

/// Makes every call for seat 1 and keeps what it is refused with: whether any was answered.
async fn each_call(wire: &Wire, game: &str, told: &mut Told) -> bool {
    let mut answered = false;
    for name in names() {
        match call(&name, wire, game, 1).await {
            Ok(()) => answered = true,
            Err(status) => told.refusal(&status),
        }
    }
    answered
}

/// A node from its start to its end.
async fn runs_a_node(setting: &mut Setting, credentials: &Credentials, collector: &Collector) {
    let log = setting.folder.path().join("log");
    let node = setting.starts(&log);
    let told = calls(&node, setting, credentials).await;
    let (status, page) = node.page("/metrics").await;
    assert_eq!(status, 200);
    let ready = node.page("/readyz").await.1;
    node.terminate();
    assert!(node.ended().success());
    until("what is left is sent", async || !collector.spans().is_empty() && !collector.metrics().is_empty()).await;
    let (logged, exported) = (as_text(&std::fs::read(&log).unwrap()), as_text(&collector.everything()));
    assert!(logged.contains("sqlx::query") && exported.contains("MakeMove") && exported.contains("plybook.call.refusals"), "all is there");
    assert!(logged.contains("CREDENTIALS_INVALID") && page.contains("it has expired"), "credentials were looked at");
    assert!(collector.headers().iter().all(|headers| headers.contains(OTLP_KEY)), "the key was used");
    setting.emitted.extend([
        ("the log", logged),
        ("spans and numbers", exported),
        ("the page of metrics", page),
        ("the page of readiness", ready),
        ("replies and errors", told.text + &as_text(&told.bytes)),
    ]);
}

/// What else a terminal shows.
fn commands(setting: &mut Setting, credentials: &Credentials) {
    setting.runs_as_node("plybook config", "config");
    setting.runs_as_node("plybook config --toml", "config --toml");
    setting.runs_as_node("plybook config --check", "config --check");
    setting.runs_as_node("plybook serve --help", "serve --help");
    setting.runs_as_node("a flag that does not parse", "serve --streams many");
    let address = format!("mysql://u:{PASSWORD}@h/d");
    setting.runs("an address that does not parse", &["serve", "--database", &address], &[]);
    setting.runs("headers that do not parse", &["serve", "--otlp-endpoint", "http://h", "--otlp-headers", OTLP_KEY], &[]);
    let collector = format!("ftp://u:{OTLP_KEY}@h");
    setting.runs("a collector's address that does not parse", &["serve", "--otlp-endpoint", &collector], &[]);
    let issuer = format!("https://u:{PASSWORD}@h/jwks?key={OTLP_KEY}");
    for (place, command) in [("an issuer's address with a password", "serve"), ("the same, shown", "config")] {
        setting.runs(place, &[command, "--jwks", &issuer], &[]);
    }
    let token = [("PLYBOOK_TOKEN", credentials.key.as_str())];
    setting.runs("a client's help", &["keys", "--help"], &token);
    setting.runs("a client that finds no server", &["keys", "--server", "http://127.0.0.1:1", "--patience", "0"], &token);
    setting.runs("a client far away without TLS", &["keys", "--server", "http://192.0.2.1:1", "--token", &credentials.jwt], &[]);
    setting.runs("a token twice", &["keys", "--token", &credentials.jwt, "--token-file", "nowhere"], &[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_full_run_emits_has_a_planted_secret() {
    let (database, collector) = (postgres::database().await, collector().await);
    let mut setting = Setting::new(&database.url, &collector);
    let credentials = Credentials::made(&mut setting);
    runs_a_node(&mut setting, &credentials, &collector).await;
    commands(&mut setting, &credentials);

    assert_eq!((setting.planted.len(), setting.emitted.len()), (11, 25));
    for (place, emitted) in &setting.emitted {
        assert!(!emitted.is_empty(), "{place} says nothing");
        for secret in &setting.planted {
            assert!(!secret.is_in(emitted), "{} is in {place}", secret.what);
        }
    }
    // The search finds what is there.
    let there = format!("{}{}{}", setting.database, setting.otlp_headers, json!([credentials.key, credentials.jwt]));
    assert_eq!(setting.planted.iter().filter(|secret| secret.is_in(&there)).count(), 4);
}
