//! A client's certificate says who calls, and the book says so too.

use plybook_client::{Client, Options, Trust};
use plybook_proto::v1;
use plybook_server::auth::cert_list::CertList;
use plybook_server::auth::client_certs::ClientCerts;
use plybook_tests::certificates::{Authority, Leaf, Safe};
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::patience::{PATIENCE, until};

const KNOWN: &str = r#"{"name": "uri:spiffe://shop/rooms", "tenant": "default", "principal": "svc/rooms", "role": "service"}
{"name": "dns:audit.shop", "tenant": "default", "principal": "audit", "role": "auditor"}"#;

fn as_holder(local: &Local, trust: Trust, leaf: &Leaf) -> Client {
    let port = local.address().rsplit_once(':').unwrap().1;
    let trust = trust.certificate(leaf.certificate.clone(), leaf.key.clone());
    let options = Options { trust, patience: PATIENCE, timeout: PATIENCE, connect_timeout: PATIENCE, ..Options::default() };
    Client::with(&format!("https://localhost:{port}"), options).unwrap()
}

fn tic_tac_toe() -> v1::CreateGameRequest {
    let ruleset = v1::RulesetSpec { id: "mnk".into(), ..Default::default() };
    v1::CreateGameRequest { ruleset: Some(ruleset), seats: vec![v1::Seat::default(); 2], ..Default::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_says_who_calls() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), Some(&clients.roots()));
    let local = over_sqlite().await.config(|config| {
        config.tls = Some(safe.files(true));
        config.auth.required = true;
        config.auth.client_certs = Some(CertList::of(ClientCerts::read(KNOWN).unwrap()));
    });
    let local = local.start().await;
    let rooms = as_holder(&local, authority.trust(), &clients.client("somebody", &["rooms.internal", "spiffe://shop/rooms"]));
    let game = rooms.create_game(tic_tac_toe()).await.unwrap();
    let book = String::from_utf8(rooms.book(&game.game_id).await.unwrap()).unwrap();
    assert!(book.contains("svc/rooms"), "{book}");

    let audit = as_holder(&local, authority.trust(), &clients.client("somebody", &["audit.shop"]));
    assert!(audit.book(&game.game_id).await.is_ok());
    let refused = audit.create_game(tic_tac_toe()).await.unwrap_err();
    assert!(refused.refused().unwrap().is(v1::ErrorReason::AccessDenied), "{refused}");

    // Names of another kind are other names, and a common name beside others is none.
    for (common, names) in [("svc/rooms", &[][..]), ("audit.shop", &[]), ("audit.shop", &["eve.shop"]), ("eve", &["https://audit.shop"])] {
        let nobody = as_holder(&local, authority.trust(), &clients.client(common, names));
        let refused = nobody.book(&game.game_id).await.unwrap_err();
        let refused = refused.refused().unwrap();
        let is_stranger = [v1::ErrorReason::CredentialsMissing, v1::ErrorReason::CredentialsInvalid].map(|reason| refused.is(reason));
        assert!(is_stranger.contains(&true), "{common} {names:?}: {refused}");
    }
}

/// The list is a file, and what is written into it counts: whoever is struck out is a stranger, and their stream ends.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_is_written_anew_counts_while_the_node_runs() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), Some(&clients.roots()));
    safe.write("certs", KNOWN.lines().next().unwrap());
    let local = over_sqlite().await.config(|config| {
        config.tls = Some(safe.files(true));
        config.auth.required = true;
        config.auth.client_certs = Some(CertList::open(&safe.path("certs")).unwrap());
    });
    let local = local.start().await;
    let rooms = as_holder(&local, authority.trust(), &clients.client("rooms", &["spiffe://shop/rooms"]));
    let audit = as_holder(&local, authority.trust(), &clients.client("audit", &["audit.shop"]));
    let game = rooms.create_game(tic_tac_toe()).await.unwrap().game_id;
    assert!(audit.book(&game).await.is_err(), "nobody has written of it yet");
    let mut events = rooms.events(&game, 0);
    assert_eq!(events.next().await.unwrap().unwrap().seq, 1);

    safe.write("certs", &format!("{KNOWN}\nhalf of a l"));
    safe.write("certs", KNOWN);
    until("the auditor is let in", async || audit.book(&game).await.is_ok()).await;
    assert!(rooms.book(&game).await.is_ok(), "who was in the list before is in it still");

    safe.write("certs", KNOWN.lines().nth(1).unwrap());
    let ended = events.next().await.unwrap().unwrap_err();
    assert!(ended.refused().unwrap().is(v1::ErrorReason::CredentialsInvalid), "{ended}");
    until("nobody calls by it", async || rooms.book(&game).await.is_err()).await;
    assert!(audit.book(&game).await.is_ok());
}
