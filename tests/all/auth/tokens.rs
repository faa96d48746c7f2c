//! An issuer's tokens: what holds, and every way in which one does not.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use plybook_proto::v1::ListRulesetsRequest;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::issuer::IssuerKey;
use plybook_tests::keyring::{ISSUER, keys_and_tokens, show};
use plybook_tests::refused::Refused;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server that takes tokens of these keys.
struct Bench {
    local: Local,
    key: IssuerKey,
    _folder: TempDir,
}

impl Bench {
    async fn new() -> Bench {
        let (folder, key) = (tempfile::tempdir().unwrap(), IssuerKey::ed25519("k1", 7));
        let file = folder.path().join("jwks.json");
        show(&file, &[&key]);
        let local = over_sqlite().await.auth(keys_and_tokens(&file)).start().await;
        local.tenant("shop").await;
        Bench { local, key, _folder: folder }
    }

    fn claims(&self) -> Value {
        self.local.claims("shop", "service")
    }

    /// What the server says to a token; nothing where it takes it.
    async fn says(&self, token: &str) -> Option<String> {
        let rulesets = self.local.wire().await.bearing(token).games().list_rulesets(ListRulesetsRequest::default()).await;
        let status = rulesets.err()?;
        let refused = Refused::of(&status);
        refused.with("CREDENTIALS_INVALID");
        let told = format!("{status:?}");
        assert!(token.len() < 40 || !told.contains(&token[..40]), "no refusal repeats a credential");
        Some(refused.message)
    }

    async fn refuses(&self, token: &str, why: &str) {
        let said = self.says(token).await.unwrap_or_else(|| panic!("taken, and should be refused: {why}"));
        assert!(said.contains(why), "{said} says {why}");
    }

    async fn refuses_claims(&self, change: impl FnOnce(&mut Value), why: &str) {
        let mut claims = self.claims();
        change(&mut claims);
        self.refuses(&self.key.signs(&claims), why).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_each_kind_of_key_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    let keys = [IssuerKey::ed25519("ed", 7), IssuerKey::p256("ec"), IssuerKey::rsa("rsa")];
    show(&file, &keys.each_ref());
    let local = over_sqlite().await.auth(keys_and_tokens(&file)).start().await;
    local.tenant("shop").await;
    for key in &keys {
        let wire = local.wire().await.bearing(&key.signs(&local.claims("shop", "service")));
        let game = wire.game().await;
        assert!(wire.book(&game.id).await.contains("idp/service"), "{}: the book names who created the game", key.kid);
    }
}

/// The published key of an issuer is no secret: who signs by it as if it were one is nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_signed_by_a_public_key_as_a_secret_is_refused() {
    let bench = Bench::new().await;
    let public = bench.key.public();
    for secret in [public.to_string(), public["x"].as_str().unwrap().to_owned()] {
        for algorithm in [Algorithm::HS256, Algorithm::HS512] {
            let header = Header { kid: Some("k1".to_owned()), ..Header::new(algorithm) };
            let token = encode(&header, &bench.claims(), &EncodingKey::from_secret(secret.as_bytes()).unwrap()).unwrap();
            bench.refuses(&token, "its algorithm is none of").await;
        }
    }
}

/// Whatever the header says, a key checks its own algorithm and no other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_another_algorithm_than_its_key_s_is_refused() {
    let bench = Bench::new().await;
    let elsewhere = IssuerKey::p256("k1");
    bench.refuses(&elsewhere.signs(&bench.claims()), "its key is none of the issuer's").await;
    let forged = IssuerKey::ed25519("k1", 8);
    bench.refuses(&forged.signs(&bench.claims()), "its signature does not hold").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_no_algorithm_is_refused() {
    let bench = Bench::new().await;
    let token = bench.key.signs(&bench.claims());
    let [_, payload, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!("a token has three parts") };
    // {"alg":"none"}, {"alg":"None","kid":"k1"}, {"typ":"JWT"}
    for header in ["eyJhbGciOiJub25lIn0", "eyJhbGciOiJOb25lIiwia2lkIjoiazEifQ", "eyJ0eXAiOiJKV1QifQ"] {
        for signature in ["", signature] {
            bench.refuses(&format!("{header}.{payload}.{signature}"), "it is no token that can be read").await;
        }
    }
    bench.refuses(&format!("{}.{payload}.", token.split('.').next().unwrap()), "its signature does not hold").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_holds_from_its_beginning_to_its_end_and_the_leeway() {
    let bench = Bench::new().await;
    let now = bench.local.seconds();
    bench.local.clock.set(plybook_core::Time::from_unix_ms(now * 1_000));
    let says = async |claim: &str, value: Value| {
        let mut claims = bench.claims();
        claims[claim] = value;
        bench.says(&bench.key.signs(&claims)).await
    };
    // The leeway is ten seconds.
    for (claim, value) in [("exp", json!(now + 1)), ("exp", json!(now - 9)), ("nbf", json!(now)), ("nbf", json!(now + 10))] {
        assert_eq!(says(claim, value.clone()).await, None, "{claim} {value}");
    }
    for (claim, value, why) in [
        ("exp", json!(now - 10), "it has expired"),
        ("exp", json!(0), "it has expired"),
        ("exp", Value::Null, "the claim exp is missing"),
        ("nbf", json!(now + 11), "it does not hold yet"),
        ("nbf", json!(now + 1_000_000), "it does not hold yet"),
    ] {
        let said = says(claim, value.clone()).await.unwrap_or_else(|| panic!("{claim} {value} is taken"));
        assert!(said.contains(why), "{claim} {value}: {said}");
    }
}

/// One that was taken is not taken for ever, though nobody checks its signature again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_was_taken_ends_at_its_time() {
    let bench = Bench::new().await;
    let at = |seconds: u64| bench.local.clock.set(plybook_core::Time::from_unix_ms(seconds * 1_000));
    at(bench.local.seconds());
    let token = bench.key.signs(&bench.claims());
    let end = bench.claims()["exp"].as_u64().unwrap();
    assert_eq!(bench.says(&token).await, None);
    at(end + 9);
    assert_eq!(bench.says(&token).await, None);
    at(end + 10);
    bench.refuses(&token, "it has expired").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_of_another_issuer_or_for_another_audience_is_refused() {
    let bench = Bench::new().await;
    for (claim, value, why) in [
        ("iss", json!("https://elsewhere.example"), "its issuer is another one"),
        ("iss", Value::Null, "iss"),
        ("aud", json!("billing"), "it is for another audience"),
        ("aud", json!(["billing", "mail"]), "it is for another audience"),
        ("aud", Value::Null, "aud"),
    ] {
        bench.refuses_claims(|claims| claims[claim] = value, why).await;
    }
    let mut claims = bench.claims();
    (claims["aud"], claims["iss"]) = (json!(["billing", "plybook"]), json!(ISSUER));
    assert_eq!(bench.says(&bench.key.signs(&claims)).await, None, "one of several audiences is enough");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_says_who_for_which_tenant_and_as_what_or_is_refused() {
    let bench = Bench::new().await;
    for (claim, value, why) in [
        ("tenant", Value::Null, "the claim tenant is missing"),
        ("tenant", json!("nobody"), "its tenant is none of this server's"),
        ("tenant", json!("default "), "its tenant is none of this server's"),
        ("sub", Value::Null, "the claim sub is missing"),
        ("sub", json!("plybook/bot"), "the claim sub"),
        ("sub", json!("seat/0"), "the claim sub"),
        ("sub", json!("anonymous"), "the claim sub"),
        ("sub", json!("a b"), "the claim sub"),
        ("plybook_role", Value::Null, "it names no role"),
        ("plybook_role", json!("root"), "the role is none of"),
        ("scope", json!("plybook:auditor"), "it names more than one role"),
        ("scope", json!("openid plybook:operator plybook:service"), "it names more than one role"),
        ("plybook_role", json!(7), "its claims cannot be read"),
        ("plybook_role", json!("seat"), "needs a game and a seat"),
        ("seat", json!(-1), "its claims cannot be read"),
    ] {
        bench.refuses_claims(|claims| claims[claim] = value, why).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_token_is_refused() {
    let bench = Bench::new().await;
    let token = bench.key.signs(&bench.claims());
    for garbage in ["x", "a.b.c", "..", "eyJ", "....", "ply", "%00"] {
        bench.refuses(garbage, "it is no token that can be read").await;
    }
    for at in [token.find('.').unwrap() + 5, token.rfind('.').unwrap() + 5] {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        assert!(bench.says(std::str::from_utf8(&bytes).unwrap()).await.is_some());
    }
    bench.refuses(&"a".repeat(8 * 1024 + 1), "it is too long").await;
    let wire = bench.local.wire().await;
    for authorization in ["Basic YTpi", "Bearer", &token] {
        let refused = wire.sending(authorization).games().list_rulesets(ListRulesetsRequest::default()).await;
        Refused::by(refused).with("CREDENTIALS_INVALID");
    }
}
