//! TLS: what is shown, to whom, and what follows when the files change.

use plybook_client::{Client, Code, Error, Options, Trust};
use plybook_proto::v1;
use plybook_server::edge::TlsFiles;
use plybook_tests::certificates::{Authority, Leaf, Safe, der, shown};
use plybook_tests::frames::{HELLO, left, silent};
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::patience::{PATIENCE, until};
use std::time::Duration;

async fn serving(files: TlsFiles) -> Local {
    over_sqlite().await.config(|config| config.tls = Some(files)).start().await
}

fn client(local: &Local, trust: Trust) -> Client {
    let port = local.address().rsplit_once(':').unwrap().1;
    let options = Options { trust, patience: PATIENCE, timeout: PATIENCE, connect_timeout: PATIENCE, ..Options::default() };
    Client::with(&format!("https://localhost:{port}"), options).unwrap()
}

/// Asks once.
async fn is_let_in(local: &Local, trust: Trust) -> bool {
    let port = local.address().rsplit_once(':').unwrap().1;
    let options = Options { trust, patience: Duration::ZERO, timeout: PATIENCE, connect_timeout: PATIENCE, ..Options::default() };
    let asked = Client::with(&format!("https://localhost:{port}"), options).unwrap().rulesets().await;
    // The alert may be lost where the line was cut before it was read.
    let is_expected = match &asked {
        Ok(_) | Err(Error::Unavailable(_)) => true,
        Err(Error::Refused(refused)) => refused.code == Code::Unauthenticated,
    };
    assert!(is_expected, "{asked:?}");
    asked.is_ok()
}

fn holding(authority: &Authority, leaf: &Leaf) -> Trust {
    authority.trust().certificate(leaf.certificate.clone(), leaf.key.clone())
}

async fn plays(client: &Client) {
    let ruleset = v1::RulesetSpec { id: "mnk".into(), ..Default::default() };
    let seats = vec![v1::Seat::default(); 2];
    let game = client.create_game(v1::CreateGameRequest { ruleset: Some(ruleset), seats, ..Default::default() }).await.unwrap();
    let mut events = client.events(&game.game_id, 0);
    assert_eq!(events.next().await.unwrap().unwrap().seq, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_through_tls_and_none_in_clear() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), None);
    let local = serving(safe.files(true)).await;
    plays(&client(&local, authority.trust())).await;
    assert!(!is_let_in(&local, stranger.trust()).await, "another authority vouches for nothing");
    let mut clear = silent(local.address(), HELLO).await;
    left(&mut clear).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_connections_are_shown_the_new_certificate_and_old_ones_live_on() {
    let (authority, successor) = (Authority::new(), Authority::new());
    let (first, second) = (authority.server(), successor.server());
    let safe = Safe::with(&first, None);
    let local = serving(safe.files(true)).await;
    let old = client(&local, authority.trust());
    plays(&old).await;
    let mut events = old.feed(plybook_client::FeedStart::default());
    assert_eq!(shown(local.address(), &authority).await, Some(der(&first.certificate)));

    // Half of a pair stands there for a while: nobody notices.
    safe.write("node.pem", &second.certificate);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(shown(local.address(), &authority).await, Some(der(&first.certificate)));
    safe.put("node", &second);
    until("the new certificate is shown", || async { shown(local.address(), &successor).await == Some(der(&second.certificate)) }).await;
    assert!(!is_let_in(&local, authority.trust()).await, "whoever trusts the old authority alone comes in no more");
    plays(&client(&local, successor.trust())).await;
    plays(&old).await;
    assert!(events.next().await.unwrap().is_ok(), "and a stream goes on");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_shows_a_certificate_where_one_is_wanted() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), Some(&clients.roots()));
    let (ann, eve) = (clients.client("ann", &[]), strangers.client("ann", &[]));
    let strict = serving(safe.files(true)).await;
    assert!(is_let_in(&strict, holding(&authority, &ann)).await);
    assert!(!is_let_in(&strict, holding(&authority, &eve)).await);
    assert!(!is_let_in(&strict, authority.trust()).await);
    let lenient = serving(safe.files(false)).await;
    assert!(is_let_in(&lenient, holding(&authority, &ann)).await);
    assert!(!is_let_in(&lenient, holding(&authority, &eve)).await, "a certificate that nobody vouches for is worse than none");
    assert!(is_let_in(&lenient, authority.trust()).await);
}

/// Whoever is refused by TLS will be refused again: nobody waits for that until their patience is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_refused_for_a_certificate_is_told_so_and_does_not_go_on_trying() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), Some(&clients.roots()));
    let local = serving(safe.files(true)).await;
    let (ann, eve) = (clients.client("ann", &[]), strangers.client("ann", &[]));
    for (trust, said) in [
        (authority.trust(), "the server takes nobody without a client certificate"),
        (holding(&authority, &eve), "the server does not take the client certificate: "),
        (holding(&strangers, &ann), "the server's certificate is not to be trusted: "),
    ] {
        let client = client(&local, trust);
        let called = client.rulesets().await.map(drop);
        let streamed = client.events("01900000-0000-7000-8000-000000000000", 0).next().await.unwrap().map(drop);
        for refused in [called.unwrap_err(), streamed.unwrap_err()] {
            let refused = refused.refused().unwrap_or_else(|| panic!("{said}: {refused}"));
            assert!(refused.code == Code::Unauthenticated && refused.message.contains(said), "{refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_whose_authority_was_replaced_come_in_no_more() {
    let (authority, clients, successor) = (Authority::new(), Authority::new(), Authority::new());
    let safe = Safe::with(&authority.server(), Some(&clients.roots()));
    let local = serving(safe.files(true)).await;
    let (before, after) = (holding(&authority, &clients.client("ann", &[])), holding(&authority, &successor.client("ann", &[])));
    assert!(is_let_in(&local, before.clone()).await && !is_let_in(&local, after.clone()).await);
    safe.write("clients.pem", &successor.roots());
    until("the new authority counts", || is_let_in(&local, after.clone())).await;
    assert!(!is_let_in(&local, before).await);
}
