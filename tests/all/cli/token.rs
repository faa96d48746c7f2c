//! `plybook tenant` and `plybook token`: tenants and credentials, made, shown once, listed, revoked.

use std::path::Path;

use plybook_tests::patience::PATIENCE;
use plybook_tests::{node, postgres};

use super::{Ran, run};

struct Shop {
    folder: tempfile::TempDir,
    books: String,
}

impl Shop {
    fn open() -> Shop {
        let folder = tempfile::tempdir().unwrap();
        let books = folder.path().join("books.db").to_str().unwrap().to_owned();
        run(&["tenant", "create", "shop", "--database", &books], "").ok();
        Shop { folder, books }
    }

    fn token(&self, args: &[&str]) -> Ran {
        run(&[&["token"], args, &["--database", &self.books]].concat(), "")
    }

    fn creates(&self, args: &[&str]) -> String {
        let flags = ["create", "--tenant", "shop", "--role", "service", "--name", "svc/rooms"];
        let ran = self.token(&[&flags, args].concat()).ok();
        assert_eq!(ran.out.lines().count(), 1, "the key stands alone");
        assert!(!ran.err.contains(ran.out.trim()));
        ran.out.trim().to_owned()
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// What a file of a database holds, its log included.
fn bytes(books: &str) -> Vec<u8> {
    let read = |suffix: &str| std::fs::read(Path::new(&format!("{books}{suffix}"))).unwrap_or_default();
    [read(""), read("-wal")].concat()
}

#[test]
fn tenants_are_made_once_and_listed() {
    let shop = Shop::open();
    let again = run(&["tenant", "create", "shop", "--database", &shop.books], "").ok();
    let other = run(&["tenant", "create", "other", "--database", &shop.books], "").ok();
    assert_eq!((again.out.trim(), other.out.trim()), ("2    shop", "3    other"));
    let listed = run(&["tenant", "list", "--database", &shop.books], "").ok();
    assert_eq!(listed.out, "1    default\n2    shop\n3    other\n");
    let long = "x".repeat(65);
    for name in ["", "two words", "tab\there", &long] {
        run(&["tenant", "create", name, "--database", &shop.books], "").fails(2, "a tenant's name has");
    }
}

#[test]
fn a_key_is_shown_once_and_only_its_hash_is_kept() {
    let shop = Shop::open();
    let key = shop.creates(&["--expires", "30d"]);
    let secret = key.rsplit('_').next().unwrap().to_owned();
    assert!(key.starts_with("ply_2-") && secret.len() == 64);
    let raw: Vec<u8> = (0..64).step_by(2).map(|at| u8::from_str_radix(&secret[at..at + 2], 16).unwrap()).collect();
    let file = bytes(&shop.books);
    assert!(!file.windows(32).any(|window| window == raw) && !file.windows(64).any(|window| window == secret.as_bytes()));
    let listed = shop.token(&["list", "--tenant", "shop"]).ok();
    assert!(listed.out.contains("svc/rooms") && listed.out.contains("holds until") && !listed.out.contains(&secret), "{}", listed.out);
    assert_eq!(shop.token(&["list"]).ok().out.lines().count(), 1, "another tenant's keys are not listed");
}

#[test]
fn what_makes_no_sense_is_told() {
    let shop = Shop::open();
    let create = |role: &str, args: &[&str]| shop.token(&[&["create", "--tenant", "shop", "--role", role, "--name", "ann"], args].concat());
    let game = "01900000-0000-7000-8000-000000000000";
    create("seat", &[]).fails(2, "the role seat needs a game and a seat");
    create("seat", &["--seat", "1"]).fails(2, "--game");
    create("service", &["--game", game]).fails(2, "the role reaches farther");
    create("root", &[]).fails(2, "root");
    create("service", &["--expires", "soon"]).fails(2, "is no time");
    create("service", &["--expires", "0d"]).fails(2, "is no time");
    create("seat", &["--game", game, "--seat", "1"]).ok();
    let named = |name: &str| shop.token(&["create", "--tenant", "shop", "--role", "service", "--name", name]);
    named("plybook/bot").fails(2, "is a name that no credential can give");
    named("two words").fails(2, "is no name");
    shop.token(&["create", "--tenant", "nobody", "--role", "service", "--name", "ann"]).fails(2, "plybook tenant create nobody");
    shop.token(&["list", "--tenant", "nobody"]).fails(2, "there is no tenant \"nobody\"");
    shop.token(&["revoke", "2-0123456789abcdef"]).fails(2, "there is no API key 2-0123456789abcdef");
    shop.token(&["revoke", "everything"]).fails(2, "is no id of a key");
}

#[test]
fn flags_that_contradict_each_other_start_no_server() {
    let shop = Shop::open();
    let key = shop.folder.path().join("seats.key");
    let key = key.to_str().unwrap();
    run(&["keygen", "--out", key], "").ok();
    let serve = |flags: &[&str]| run(&[&["serve", "--listen", "127.0.0.1:0", "--database", &shop.books], flags].concat(), "");
    serve(&["--auth", "none", "--seat-token-key", key]).fails(2, "--auth none takes no credential");
    serve(&["--jwt-issuer", "x"]).fails(2, "--jwks");
    serve(&["--jwks", "/nonexistent/jwks.json"]).fails(2, "/nonexistent/jwks.json");
    serve(&["--jwks", "http://id.example/jwks"]).fails(2, "https is needed");
    serve(&["--jwks", "https://user:word@id.example/jwks"]).fails(2, "has a name or a password in it");
    serve(&["--jwks", &shop.file("none.json", "{}")]).fails(2, "is no JWK set");
    serve(&["--client-certs", &shop.file("certs", "{}")]).fails(2, "line 1");
    serve(&["--auth", "required", "--api-key-trust-seconds", "0"]).fails(2, "api-key-trust");
    serve(&["--auth", "required", "--seat-token-ttl-max-seconds", "0"]).fails(2, "seat-token-ttl-max");
}

/// Over Postgres a node's own role makes no credentials, and whoever tries as it is told as whom to come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_without_rights_is_told_whose_they_are() {
    let database = postgres::database().await;
    database.execute("CREATE ROLE plybook_teller LOGIN; SELECT plybook_grant('plybook_teller')").await;
    let teller = database.url.replace("//plybook@", "//plybook_teller@");
    let over = |url: &str, args: &[&str]| run(&[args, &["--database", url]].concat(), "");
    over(&database.url, &["tenant", "create", "shop"]).ok();
    let create = ["token", "create", "--tenant", "shop", "--role", "service", "--name", "svc/rooms"];
    let made = over(&database.url, &create).ok().out;
    let id = made.trim().strip_prefix("ply_").unwrap().rsplit_once('_').unwrap().0.to_owned();
    for denied in [&["tenant", "create", "other"][..], &create, &["token", "revoke", &id]] {
        let ran = over(&teller, denied).fails(2, "permission denied for table");
        assert!(ran.err.contains("the owner of the schema") && ran.err.contains("--database (PLYBOOK_DATABASE)"), "{ran:#?}");
        assert_eq!((ran.out.as_str(), ran.err.lines().count()), ("", 1), "{ran:#?}");
    }
    over(&teller, &["token", "list", "--tenant", "shop"]).ok().says("svc/rooms");
    over(&teller, &["tenant", "list"]).ok().says("shop");
    database.execute("CREATE ROLE plybook_nobody LOGIN").await;
    let nobody = database.url.replace("//plybook@", "//plybook_nobody@");
    for denied in [&["token", "list", "--tenant", "shop"][..], &["tenant", "list"], &create] {
        over(&nobody, denied).fails(2, "the owner of the schema");
    }
}

/// A server process from its flags: a key lets in, a token for a seat is minted and plays for its seat, and a revoked key dies
/// while the server goes on.
#[test]
fn a_server_takes_a_key_until_it_is_revoked() {
    let shop = Shop::open();
    let key = shop.folder.path().join("seats.key").to_str().unwrap().to_owned();
    run(&["keygen", "--out", &key], "").ok();
    let rooms = shop.file("rooms", &shop.creates(&[]));
    let node = node::over(&shop.books).with(&["--auth", "required", "--seat-token-key", &key, "--api-key-trust-seconds", "1"]).start();
    let ask = |command: &[&str], token: &str| run(&[command, &["--server", &node.url(), "--token-file", token]].concat(), "");
    run(&["keys", "--server", &node.url()], "").fails(1, "CREDENTIALS_MISSING");
    ask(&["keys"], &rooms).ok();
    let game = ask(&["play"], &rooms).ok().game();
    let minted = ask(&["token", "mint", &game, "--seat", "0", "--ttl", "10m"], &rooms).ok();
    let seat = shop.file("seat", minted.out.trim());
    ask(&["export", &game], &seat).ok();
    ask(&["suggest", &game], &seat).fails(1, "ACCESS_DENIED");
    ask(&["token", "mint", &game, "--seat", "0", "--ttl", "10d"], &rooms).fails(1, "LIMIT_EXCEEDED");
    let listed = shop.token(&["list", "--tenant", "shop"]).ok().out;
    let kept = listed.lines().nth(1).unwrap().split(' ').next().unwrap();
    shop.token(&["revoke", kept]).ok();
    assert!(shop.token(&["list", "--tenant", "shop"]).ok().out.contains("revoked"));
    let by = std::time::Instant::now() + PATIENCE;
    while ask(&["keys"], &rooms).code == 0 {
        assert!(std::time::Instant::now() < by, "the key lives on");
    }
    ask(&["keys"], &rooms).fails(1, "CREDENTIALS_INVALID");
    ask(&["export", &game], &seat).ok();
}
