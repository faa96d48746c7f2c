//! The servers that a client knows, and which of them it speaks to.
//!
//! Invariant: any server serves any request, so leaving one for the next loses nothing.

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
    if endpoint.uri().scheme_str() != Some("http") || endpoint.uri().authority().is_none() {
        return Err(bad("it begins with http:// and a host"));
    }
    let endpoint = endpoint
        .connect_timeout(options.connect_timeout)
        .http2_keep_alive_interval(options.keepalive)
        .keep_alive_timeout(options.keepalive)
        .keep_alive_while_idle(true)
        .tcp_nodelay(true);
    Ok(endpoint.connect_lazy())
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
        for bad in ["", "127.0.0.1:50051", "https://a", "http://a,", "http://", "ftp://a:1", "http://a b"] {
            assert!(Routes::new(bad, &Options::default()).is_err(), "{bad}");
        }
    }
}
