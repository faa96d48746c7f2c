//! A document from an address.
//!
//! Invariants: bounded in time and size; no redirect is followed; what is not encrypted never leaves this machine.

use std::fmt;
use std::time::Duration;

use http::Uri;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;
use tonic::codegen::Bytes;

use crate::config::ConfigError;

/// How long an answer may take, from the connection to the last byte.
const FETCH_WITHIN: Duration = Duration::from_secs(5);

/// A way to one document.
pub(super) struct Fetch {
    uri: Uri,
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

impl fmt::Debug for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fetch({})", self.uri.host().unwrap_or_default())
    }
}

impl Fetch {
    /// To this address.
    pub(super) fn new(url: &str) -> Result<Fetch, ConfigError> {
        let refuse = |why: &str| ConfigError(format!("the address of the keys of tokens {why}"));
        let uri: Uri = url.parse().map_err(|_| refuse("is none"))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err(refuse("has a name or a password in it: such keys are public, and neither would be sent"));
        }
        let host = uri.host().unwrap_or_default();
        let here = host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if here => {}
            Some("http") => {
                return Err(refuse("begins with http://: whoever is on the way could put in keys of their own; https is needed"));
            }
            _ => return Err(refuse("does not begin with https://")),
        }
        let provider = tokio_rustls::rustls::crypto::aws_lc_rs::default_provider();
        let tls = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
        let tls = tls.map_err(|error| refuse(&format!("needs this machine's certificates: {error}")))?;
        let connector = tls.https_or_http().enable_http1().build();
        Ok(Fetch { uri, client: Client::builder(TokioExecutor::new()).build(connector) })
    }

    /// The document as it is now.
    pub(super) async fn get(&self, bytes_max: usize) -> Result<Vec<u8>, String> {
        let whole = async {
            let answer = self.client.get(self.uri.clone()).await.map_err(|error| format!("cannot be fetched: {error}"))?;
            if !answer.status().is_success() {
                return Err(format!("cannot be fetched: the answer is {}", answer.status()));
            }
            let body = Limited::new(answer.into_body(), bytes_max).collect().await;
            Ok(body.map_err(|error| format!("cannot be fetched: {error}"))?.to_bytes().to_vec())
        };
        timeout(FETCH_WITHIN, whole).await.unwrap_or_else(|_| Err(format!("did not come within {FETCH_WITHIN:?}")))
    }
}
