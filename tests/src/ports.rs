//! Ports of this machine: free ones, for servers that must be told theirs, and one that is nobody's.
//!
//! Invariant: no other test is given the same one, even between its being found free and its being used.

use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::net::TcpSocket;

/// From here on, this many: below those that a system gives to whoever asks for any port.
const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// A port that nobody listens at.
pub fn free() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Other runs of the tests begin elsewhere.
    let begin = std::process::id().wrapping_mul(97);
    let candidates = (0..COUNT).map(|_| FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT);
    let mut ports = candidates.map(|port| u16::try_from(port).unwrap());
    ports.find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok()).expect("a port is free")
}

/// An address where nobody answers, for as long as this is held.
#[derive(Debug)]
pub struct Nobody(TcpSocket);

impl Nobody {
    /// At a port that is taken, and not listened at.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Nobody {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
        Nobody(socket)
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }
}
