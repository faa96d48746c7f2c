//! Whether a node may listen where it is told to.
//!
//! On loopback everything may: whoever is on the machine is at home. On any other address a node wants to know who
//! calls, and whatever tells it that must not cross the network in clear.
//!
//! Invariant: a node that everybody may use, or whose credentials everybody may read, does not start by an oversight.

use std::net::SocketAddr;

use crate::exit::usage;

/// What an operator takes upon himself.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Exposure")]
pub(super) struct ExposureArgs {
    /// Starts on an address that is not loopback although everybody who reaches it may do everything, or read credentials
    /// on their way
    #[arg(long, env = "PLYBOOK_INSECURE")]
    insecure: bool,
    /// TLS ends before this node, at a proxy or in a mesh: credentials may come in clear from there
    #[arg(long, env = "PLYBOOK_TLS_ELSEWHERE")]
    tls_elsewhere: bool,
}

/// A node about to listen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exposure {
    /// Where.
    pub(super) listen: SocketAddr,
    /// Whether it wants credentials.
    pub(super) authenticates: bool,
    /// Whether it speaks TLS.
    pub(super) tls: bool,
}

impl ExposureArgs {
    /// What has to be said aloud of the node, if it may start and anything has.
    pub(super) fn check(&self, node: Exposure) -> anyhow::Result<Option<&'static str>> {
        let at_home = node.listen.ip().to_canonical().is_loopback();
        match (node.authenticates, at_home, self.insecure) {
            (false, true, _) => Ok(Some("there are no credentials: everybody on this machine may do everything")),
            (false, false, true) => Ok(Some("there are no credentials: everybody who reaches this address may do everything")),
            (false, false, false) => Err(usage(format!(
                "--listen {}: everybody who reaches this address could do everything; --auth required makes callers say who they are \
                 (--insecure starts nevertheless)",
                node.listen
            ))),
            (true, false, true) if !node.tls && !self.tls_elsewhere => {
                Ok(Some("there is no TLS: whoever is on the way can read the credentials of callers"))
            }
            (true, false, false) if !node.tls && !self.tls_elsewhere => Err(usage(format!(
                "--listen {}: credentials would cross the network in clear; give --tls-cert and --tls-key, or --tls-elsewhere where a \
                 proxy or a mesh ends TLS (--insecure starts nevertheless)",
                node.listen
            ))),
            (true, ..) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_start_where() {
        let (home, anywhere) = ("127.0.0.1:1", "0.0.0.0:1");
        // Where, authentication, TLS, --insecure, --tls-elsewhere: whether it starts, and whether it has something to say.
        for (listen, authenticates, tls, insecure, tls_elsewhere, starts, says) in [
            (home, false, false, false, false, true, true),
            ("[::1]:1", false, false, false, false, true, true),
            ("[::ffff:127.0.0.1]:1", false, false, false, false, true, true),
            (home, true, false, false, false, true, false),
            (anywhere, false, false, false, false, false, false),
            ("[::]:1", false, false, false, false, false, false),
            ("192.0.2.1:1", false, false, false, false, false, false),
            (anywhere, false, true, false, true, false, false),
            (anywhere, false, true, true, false, true, true),
            (anywhere, true, false, false, false, false, false),
            (anywhere, true, false, true, false, true, true),
            (anywhere, true, false, false, true, true, false),
            (anywhere, true, true, false, false, true, false),
        ] {
            let Ok(listen) = listen.parse() else { panic!("{listen} is an address") };
            let node = Exposure { listen, authenticates, tls };
            let checked = ExposureArgs { insecure, tls_elsewhere }.check(node);
            assert_eq!(checked.is_ok(), starts, "{node:?} {checked:?}");
            assert_eq!(checked.is_ok_and(|said| said.is_some()), says, "{node:?}");
        }
    }
}
