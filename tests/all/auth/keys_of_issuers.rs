//! The keys of an issuer: rotated in a file or at an address, while the server goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plybook_server::auth::AuthConfig;
use plybook_server::auth::config::JwtConfig;
use plybook_server::auth::jwks::JwksSource;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::issuer::{IssuerKey, jwks};
use plybook_tests::keyring::{keys_alone, keys_and_tokens, show};
use plybook_tests::patience::until;
use plybook_tests::refused::Refused;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::watch;

async fn takes(local: &Local, key: &IssuerKey) -> Result<(), String> {
    let token = key.signs(&local.claims("shop", "service"));
    let answer = local.wire().await.bearing(&token).games().list_rulesets(plybook_proto::v1::ListRulesetsRequest::default()).await;
    answer.map(drop).map_err(|status| Refused::of(&status).reason)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_key_in_the_file_is_taken_and_the_old_one_refused_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (file, old, new) = (folder.path().join("jwks.json"), IssuerKey::ed25519("old", 1), IssuerKey::p256("new"));
    show(&file, &[&old]);
    let local = over_sqlite().await.auth(keys_and_tokens(&file)).start().await;
    local.tenant("shop").await;
    // Of one token, so that what is remembered of it is what is tried.
    let token = old.signs(&local.claims("shop", "service"));
    let old_one = local.wire().await.bearing(&token);
    old_one.games().list_rulesets(plybook_proto::v1::ListRulesetsRequest::default()).await.unwrap();
    assert_eq!(takes(&local, &new).await, Err("CREDENTIALS_INVALID".to_owned()));

    show(&file, &[&new]);
    until("the new key is taken", async || takes(&local, &new).await.is_ok()).await;
    let answer = old_one.games().list_rulesets(plybook_proto::v1::ListRulesetsRequest::default()).await;
    Refused::by(answer).with("CREDENTIALS_INVALID");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_broken_leaves_the_keys_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (file, old, new) = (folder.path().join("jwks.json"), IssuerKey::ed25519("old", 1), IssuerKey::ed25519("new", 2));
    show(&file, &[&old]);
    let local = over_sqlite().await.auth(keys_and_tokens(&file)).start().await;
    local.tenant("shop").await;
    for broken in ["", "{", "{\"keys\": []}", "{\"keys\": [{\"kty\": \"oct\", \"k\": \"c2VjcmV0\", \"kid\": \"new\"}]}"] {
        std::fs::write(&file, broken).unwrap();
        // Asked for in vain, so that the file was looked at in any case.
        assert!(takes(&local, &new).await.is_err(), "{broken}");
        takes(&local, &old).await.unwrap();
    }
    std::fs::remove_file(&file).unwrap();
    assert!(takes(&local, &new).await.is_err());
    takes(&local, &old).await.unwrap();
    show(&file, &[&new, &old]);
    until("the next whole file is read", async || takes(&local, &new).await.is_ok()).await;
    takes(&local, &old).await.unwrap();
}

#[test]
fn a_file_that_is_no_set_of_keys_lets_no_server_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    for (text, why) in [("{}", "is no JWK set"), ("{\"keys\": []}", "has no key")] {
        std::fs::write(&file, text).unwrap();
        let error = plybook_server::auth::jwks::check(&JwksSource::File(file.clone())).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("jwks.json"), "{error}");
    }
    for (address, why) in [("http://id.example/jwks", "https is needed"), ("ftp://id.example", "https://")] {
        let error = plybook_server::auth::jwks::check(&JwksSource::parse(address)).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// A server of one document over HTTP/1.1.
struct Site {
    address: String,
    document: watch::Sender<String>,
    asked: Arc<AtomicUsize>,
}

impl Site {
    async fn new(document: String) -> Site {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/jwks", listener.local_addr().unwrap());
        let (document, shown) = watch::channel(document);
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let text = shown.borrow().clone();
                let (head, body) = text.split_once('\n').unwrap_or(("200 OK", &text));
                let answer = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Site { address, document, asked }
    }

    fn config(&self) -> AuthConfig {
        let source = JwksSource::parse(&self.address);
        let jwt = JwtConfig { source, issuer: None, audience: None, leeway: Duration::ZERO };
        AuthConfig { jwt: Some(jwt), ..keys_alone() }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_come_from_an_address_and_unknown_ones_ask_it_at_its_own_pace() {
    let (key, stranger) = (IssuerKey::ed25519("k1", 1), IssuerKey::ed25519("k2", 2));
    let site = Site::new(jwks(&[&key])).await;
    let local = over_sqlite().await.auth(site.config()).start().await;
    local.tenant("shop").await;
    takes(&local, &key).await.unwrap();
    let before = site.asked.load(Ordering::SeqCst);
    for _ in 0..50 {
        assert_eq!(takes(&local, &stranger).await, Err("CREDENTIALS_INVALID".to_owned()));
    }
    let looked = site.asked.load(Ordering::SeqCst) - before;
    // Once in ten seconds: as many as there are tens of seconds in the longest run of this loop, and not one for each token.
    assert!(looked < 50, "the address was asked {looked} times");
}

/// An issuer that is away, answers nonsense or too much takes no server with it: tokens wait, API keys do not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_issuer_that_is_away_at_the_start_is_waited_for() {
    let key = IssuerKey::ed25519("k1", 1);
    for nonsense in ["500 Internal Server Error\nsorry".to_owned(), format!("200 OK\n{}", "x".repeat(300 * 1024)), "302 Found\n".to_owned()]
    {
        let site = Site::new(nonsense).await;
        let local = over_sqlite().await.auth(site.config()).start().await;
        assert_eq!(takes(&local, &key).await, Err("STORE_UNAVAILABLE".to_owned()));
        local.service("shop").await.game().await;
        drop(site.document);
    }
}
