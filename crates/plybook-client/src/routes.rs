//! The servers that a client knows, and which of them it speaks to.
//!
//! Invariant: any server serves any request, so leaving one for the next loses nothing.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};

use tonic::transport::{Channel, Endpoint};

use crate::options::{BadAddress, Options};

/// Connections, one a server, made when they are first used.
#[derive(Debug)]
pub(crate) struct Routes {
    channels: Vec<Channel>,
    current: AtomicUsize,
}

impl Routes {
    /// Reads `http://a:1,http://b:2`.
    pub(crate) fn new(addresses: &str, options: &Options) -> Result<Routes, BadAddress> {
        let channels = addresses.split(',').map(|address| channel(address.trim(), options)).collect::<Result<_, _>>()?;
        Ok(Routes { channels, current: AtomicUsize::new(0) })
    }

    pub(crate) fn len(&self) -> usize {
        self.channels.len()
    }

    /// The server to speak to, and its place for [`Routes::leave`].
    pub(crate) fn current(&self) -> (usize, Channel) {
        let at = self.current.load(Ordering::Relaxed) % self.channels.len();
        (at, self.channels[at].clone())
    }

    /// Goes on to the next server, unless another caller already left this one.
    pub(crate) fn leave(&self, at: usize) {
        let next = (at + 1) % self.channels.len();
        // Losing the race means that somebody else went on: that is what is wanted.
        let _ = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
    }
}

fn channel(address: &str, options: &Options) -> Result<Channel, BadAddress> {
    let bad = |why: &str| BadAddress { address: address.to_owned(), why: why.to_owned() };
    let endpoint = Endpoint::from_shared(address.to_owned()).map_err(|error| bad(&error.to_string()))?;
    let host = endpoint.uri().host().unwrap_or_default();
    let is_tls = match endpoint.uri().scheme_str() {
        Some("http") if !host.is_empty() => false,
        Some("https") if !host.is_empty() => true,
        _ => return Err(bad("it begins with http:// or https:// and a host")),
    };
    if !is_tls && options.trust.is_set() {
        return Err(bad("roots and certificates are for https://"));
    }
    if !is_tls && options.token.is_some() && !options.token_in_clear && !is_here(host) {
        return Err(bad("the token would cross the network in clear, where https:// would hide it"));
    }
    let endpoint = endpoint
        .connect_timeout(options.connect_timeout)
        .http2_keep_alive_interval(options.keepalive)
        .keep_alive_timeout(options.keepalive)
        .keep_alive_while_idle(true)
        .tcp_nodelay(true);
    if !is_tls {
        return Ok(endpoint.connect_lazy());
    }
    let tls = options.trust.tls().map_err(bad)?;
    let endpoint = endpoint.tls_config(tls).map_err(|error| bad(&tell(&error)))?;
    Ok(endpoint.connect_lazy())
}

/// Whether what goes to this host stays on this machine.
fn is_here(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// An error and what is behind it.
fn tell(error: &dyn std::error::Error) -> String {
    let behind = std::iter::successors(error.source(), |error| error.source());
    behind.fold(error.to_string(), |text, error| format!("{text}: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[tokio::test]
    async fn a_server_is_left_once_however_many_notice() {
        let routes = Routes::new("http://a:1, http://b:2,http://c:3", &Options::default()).unwrap();
        let (at, _) = routes.current();
        routes.leave(at);
        routes.leave(at);
        assert_eq!((routes.len(), routes.current().0), (3, 1));
        routes.leave(1);
        routes.leave(2);
        assert_eq!(routes.current().0, 0);
    }

    #[tokio::test]
    async fn bad_addresses_are_told() {
        for bad in ["", "127.0.0.1:50051", "http://a,", "http://", "https://", "ftp://a:1", "http://a b"] {
            assert!(Routes::new(bad, &Options::default()).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_token_does_not_cross_the_network_in_clear() {
        use crate::credentials::{Token, Trust};

        let token = Some(Token::new("swordfish").unwrap());
        let options = Options { token, ..Options::default() };
        for (address, goes) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost:1", true),
            ("http://games.internal:1", false),
            ("http://192.0.2.1:1", false),
            ("http://127.0.0.1:1,http://192.0.2.1:1", false),
        ] {
            let routes = Routes::new(address, &options);
            assert_eq!(routes.is_ok(), goes, "{address}");
            assert!(!format!("{routes:?}").contains("swordfish"));
        }
        let told = Options { token_in_clear: true, ..options };
        assert!(Routes::new("http://192.0.2.1:1", &told).is_ok());
        let rooted = Options { trust: Trust::system().roots("…"), ..Options::default() };
        assert!(Routes::new("http://127.0.0.1:1", &rooted).unwrap_err().why.contains("for https://"));
        assert!(Routes::new("https://127.0.0.1:1", &rooted).is_err(), "these roots are none");
    }
}
