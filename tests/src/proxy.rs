//! A wire that can be held and cut: a TCP proxy before one node.
//!
//! Invariant: bytes pass in order or not at all; what is held when the wire is cut is lost.

use std::sync::Arc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A proxy before one address; it ends with its handle.
#[derive(Debug)]
pub struct Proxy {
    address: String,
    wire: Arc<Wire>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Wire {
    held: watch::Sender<bool>,
    cut: std::sync::Mutex<CancellationToken>,
}

impl Proxy {
    /// Passes everything on to an address, both ways.
    pub async fn to(address: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let wire = Arc::new(Wire { held: watch::Sender::new(false), cut: std::sync::Mutex::default() });
        let own = listener.local_addr().unwrap().to_string();
        let accepting = tokio::spawn(accept(listener, address.to_owned(), Arc::clone(&wire)));
        Proxy { address: own, wire, accepting }
    }

    /// `http://127.0.0.1:port`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on requests pass and replies wait.
    pub fn hold_replies(&self) {
        self.wire.held.send_replace(true);
    }

    /// What waited passes, in order, and all that follows.
    pub fn release(&self) {
        self.wire.held.send_replace(false);
    }

    /// Cuts every connection; what was held is lost, and new connections pass.
    pub fn cut(&self) {
        let old = std::mem::take(&mut *self.wire.cut.lock().unwrap());
        old.cancel();
        self.wire.held.send_replace(false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut();
    }
}

async fn accept(listener: TcpListener, address: String, wire: Arc<Wire>) {
    while let Ok((near, _)) = listener.accept().await {
        let Ok(far) = TcpStream::connect(&address).await else { continue };
        let (cut, held) = (wire.cut.lock().unwrap().clone(), wire.held.subscribe());
        let ((near_read, near_write), (far_read, far_write)) = (near.into_split(), far.into_split());
        let there = pass(near_read, far_write, watch::Sender::new(false).subscribe());
        let back = pass(far_read, near_write, held);
        tokio::spawn(async move {
            tokio::select! {
                // Cut before anything else: nothing slips through once it is over.
                biased;
                () = cut.cancelled() => {}
                () = there => {}
                () = back => {}
            }
        });
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut held: watch::Receiver<bool>) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let Ok(count @ 1..) = from.read(&mut bytes).await else { return };
        // Whoever is no longer holding may be gone: then it passes.
        let _ = held.wait_for(|held| !held).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
