//! Client certificates: whom a verified one stands for.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap};
use plybook_server::auth::cert_list::CertList;
use plybook_server::auth::client_certs::ClientCerts;
use plybook_server::auth::{AuthConfig, Authenticator, Caller, PeerIdentity, Role};
use plybook_server::refusal::Refusal;
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::keyring::keys_alone;

const LIST: &str = r#"{"name": "uri:spiffe://shop/rooms", "tenant": "shop", "principal": "svc/rooms", "role": "service"}
{"name": "dns:audit.shop", "tenant": "nobody", "principal": "audit", "role": "auditor"}"#;

async fn bench() -> (Local, Authenticator) {
    let local = over_sqlite().await.auth(keys_alone()).start().await;
    local.tenant("shop").await;
    let config = AuthConfig { client_certs: Some(CertList::of(ClientCerts::read(LIST).unwrap())), ..keys_alone() };
    let authenticator = Authenticator::start(&config, local.store.inner(), Arc::clone(&local.clock) as Arc<_>).await.unwrap();
    (local, authenticator)
}

async fn caller(authenticator: &Authenticator, names: &[&str], bearer: Option<&str>) -> Result<Caller, Refusal> {
    let (mut headers, mut extensions) = (HeaderMap::new(), Extensions::new());
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, format!("Bearer {bearer}").parse().unwrap());
    }
    if !names.is_empty() {
        extensions.insert(PeerIdentity { names: names.iter().map(|name| (*name).to_owned()).collect() });
    }
    authenticator.caller(&headers, &extensions).await
}

#[tokio::test]
async fn a_verified_certificate_stands_for_whom_the_list_says() {
    let (local, authenticator) = bench().await;
    let rooms = caller(&authenticator, &["uri:spiffe://shop/rooms"], None).await.unwrap();
    assert_eq!((rooms.principal.as_str(), rooms.role), ("svc/rooms", Role::Service));
    assert_eq!(rooms.tenant, local.tenant("shop").await);
    for unknown in [&["cn:rooms"][..], &["dns:audit.shop"]] {
        assert!(matches!(caller(&authenticator, unknown, None).await, Err(Refusal::CredentialsInvalid { .. })), "{unknown:?}");
    }
    assert!(matches!(caller(&authenticator, &[], None).await, Err(Refusal::CredentialsMissing)));
}

/// A request's own credential counts for more than its connection's, and a wrong one is not made good by it.
#[tokio::test]
async fn a_token_counts_for_more_than_a_certificate() {
    let (local, authenticator) = bench().await;
    let shop = local.tenant("shop").await;
    let key = local.api_key(shop, Role::Auditor, "audit").await;
    let names = ["uri:spiffe://shop/rooms"];
    assert_eq!(caller(&authenticator, &names, Some(&key)).await.unwrap().role, Role::Auditor);
    assert!(caller(&authenticator, &names, Some("nonsense")).await.is_err());
}
