//! The matrix: every call by every kind of caller, by API keys and by an issuer's tokens.
//!
//! Invariant: what is expected stands in `access.txt` and nowhere else; a call that is not in it fails the test.

use std::collections::{BTreeMap, BTreeSet};

use plybook_core::Time;
use plybook_server::auth::Role;
use plybook_server::clock::Clock as _;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::issuer::IssuerKey;
use plybook_tests::keyring::{at_seat, keys_alone, keys_and_tokens, show, watching};
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Wire, fresh};
use serde_json::json;
use tonic::Status;

use super::calls::{call, names};

const TABLE: &str = include_str!("access.txt");

/// A game, and another of the same tenant.
struct Games {
    game: String,
    other: String,
}

/// What each caller bears; nothing for one.
type Bearers = BTreeMap<&'static str, Option<String>>;

/// Callers in the order of the table, and for each call what is expected of them.
fn table() -> (Vec<String>, BTreeMap<String, Vec<String>>) {
    let mut rows = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let callers = words(rows.next().unwrap())[1..].to_vec();
    let calls = rows.map(|row| (words(row)[0].clone(), words(row)[1..].to_vec())).collect();
    (callers, calls)
}

/// What an answer comes to, in the words of the table.
fn word(answer: Result<(), Status>) -> &'static str {
    let Err(status) = answer else { return "yes" };
    match Refused::of(&status).reason.as_str() {
        "ACCESS_DENIED" => "no",
        "GAME_NOT_FOUND" => "unknown",
        "CREDENTIALS_INVALID" => "bad",
        "CREDENTIALS_MISSING" => "missing",
        // Whatever a game or a file is refused for, its caller may ask.
        _ => "yes",
    }
}

async fn holds(local: &Local, games: &Games, bearers: &Bearers) {
    let (callers, calls) = table();
    assert_eq!(calls.keys().cloned().collect::<BTreeSet<_>>(), names().into_iter().collect(), "every call is in the table");
    assert_eq!(callers.iter().map(String::as_str).collect::<BTreeSet<_>>(), bearers.keys().copied().collect(), "so is every caller");
    let bare = local.wire().await;
    let mut wrong = Vec::new();
    // Whoever may end the game comes last: until then the other calls find it going on.
    let ending = ["AbortGame", "Resign"];
    let (last, first): (Vec<_>, Vec<_>) = calls.iter().partition(|(name, _)| ending.contains(&name.as_str()));
    for (name, expected) in first.into_iter().chain(last) {
        assert_eq!(expected.len(), callers.len(), "{name} has a word for each caller");
        for (caller, expected) in callers.iter().zip(expected) {
            let wire = bearers[caller.as_str()].as_ref().map_or_else(|| bare.clone(), |token| bare.bearing(token));
            let found = word(call(name, &wire, &games.game, 0).await);
            if found != expected {
                wrong.push(format!("{name} by {caller}: {found} instead of {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let never = fresh();
    denials_tell_nothing(&bare.bearing(bearers["elsewhere"].as_ref().unwrap()), [&games.game, &games.other, &never]).await;
}

/// A player elsewhere is refused in the same bytes, whether a game is theirs to know or not.
async fn denials_tell_nothing(elsewhere: &Wire, [there, _own, never]: [&str; 3]) {
    for name in ["GetGame", "StreamEvents", "MakeMove", "Resign", "GetBook", "SuggestMove", "CloseGame", "MintSeatToken"] {
        let told = |status: Status| (status.code(), status.message().to_owned(), status.details().to_vec());
        let there = told(call(name, elsewhere, there, 0).await.unwrap_err());
        let never = told(call(name, elsewhere, never, 0).await.unwrap_err());
        assert_eq!(there, never, "{name}");
    }
}

async fn games(local: &Local) -> Games {
    let service = local.service("shop").await;
    let (game, other) = (service.game().await, service.game().await);
    Games { game: game.id, other: other.id }
}

/// With its last digit another one.
fn changed(token: &str) -> String {
    let (rest, last) = token.split_at(token.len() - 2);
    format!("{rest}{}", if last.starts_with('A') { "BB" } else { "AA" })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_matrix_holds_for_api_keys() {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    let games = games(&local).await;
    let (shop, other) = (local.tenant("shop").await, local.tenant("other").await);
    let over = Time::from_unix_ms(local.clock.now().unix_ms() - 1);
    let service = local.api_key(shop, Role::Service, "svc/rooms").await;
    let wrong = service[..service.len() - 2].to_owned() + if service.ends_with("00") { "11" } else { "00" };
    let mut bearers = Bearers::from([
        ("expired", Some(local.api_key_until(shop, Role::Service, "svc/rooms", Some(over)).await)),
        ("wrong", Some(wrong)),
        ("service", Some(service)),
        ("stranger", Some(local.api_key(other, Role::Service, "svc/rooms").await)),
        ("none", None),
    ]);
    for (caller, role) in [
        ("seat", at_seat(&games.game, 0)),
        ("beside", at_seat(&games.game, 1)),
        ("elsewhere", at_seat(&games.other, 0)),
        ("watcher", watching(&games.game)),
        ("visitor", Role::Spectator { game: None }),
        ("auditor", Role::Auditor),
        ("operator", Role::Operator),
    ] {
        bearers.insert(caller, Some(local.api_key(shop, role, "somebody").await));
    }
    holds(&local, &games, &bearers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_matrix_holds_for_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let (file, key) = (folder.path().join("jwks.json"), IssuerKey::ed25519("k1", 7));
    show(&file, &[&key]);
    let local = over_sqlite().await.auth(keys_and_tokens(&file)).start().await;
    let games = games(&local).await;
    local.tenant("other").await;
    let signed = |role: &str, tenant: &str, change: serde_json::Value| {
        let mut claims = local.claims(tenant, role);
        change.as_object().unwrap().iter().for_each(|(name, value)| claims[name] = value.clone());
        Some(key.signs(&claims))
    };
    let seat = |game: &str, seat: u8| signed("seat", "shop", json!({"game": game, "seat": seat}));
    let service = signed("service", "shop", json!({}));
    let bearers = Bearers::from([
        ("expired", signed("service", "shop", json!({"exp": local.seconds() - 60}))),
        ("wrong", service.as_deref().map(changed)),
        ("service", service),
        ("stranger", signed("service", "other", json!({}))),
        ("seat", seat(&games.game, 0)),
        ("beside", seat(&games.game, 1)),
        ("elsewhere", seat(&games.other, 0)),
        ("watcher", signed("spectator", "shop", json!({"game": games.game}))),
        ("visitor", signed("spectator", "shop", json!({}))),
        ("auditor", signed("auditor", "shop", json!({}))),
        ("operator", signed("operator", "shop", json!({}))),
        ("none", None),
    ]);
    holds(&local, &games, &bearers).await;
}
