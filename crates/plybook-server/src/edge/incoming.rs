//! Connections, accepted one after the other and opened beside one another.
//!
//! Invariant: accepting waits for no peer. What a peer must do before it may call (its TLS handshake, the first bytes of
//! HTTP) it does in a task of its own, in bounded time, and one of a bounded number.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream as Streaming;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::connections::{Connections, Opened};
use super::line::{Line, Stream};
use super::tls::Tls;

/// Before the next attempt, where the system has no room for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections as they come.
#[derive(Debug)]
pub struct Incoming {
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    connections: Arc<Connections>,
    handshake_timeout: Duration,
    http1: bool,
    opening: JoinSet<Option<Line>>,
}

impl Incoming {
    /// Listens there.
    pub fn bind(address: SocketAddr, connections: Arc<Connections>, handshake_timeout: Duration) -> io::Result<Incoming> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        Ok(Incoming { listener, tls: None, connections, handshake_timeout, http1: false, opening: JoinSet::new() })
    }

    /// Through TLS.
    #[must_use]
    pub fn tls(mut self, tls: Option<Arc<Tls>>) -> Incoming {
        self.tls = tls;
        self
    }

    /// Also such that speak HTTP/1.1.
    #[must_use]
    pub fn http1(mut self, http1: bool) -> Incoming {
        self.http1 = http1;
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Those that have opened. Dropped, it listens no more.
    pub fn into_stream(self) -> impl Streaming<Item = io::Result<Line>> + Send {
        futures::stream::unfold(self, |mut incoming| async move { Some((Ok(incoming.next().await), incoming)) })
    }

    async fn next(&mut self) -> Line {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, address)) => self.begin(stream, address),
                    Err(error) => self.stumble(&error).await,
                },
                Some(opened) = self.opening.join_next() => {
                    if let Ok(Some(line)) = opened {
                        return line;
                    }
                }
            }
        }
    }

    fn begin(&mut self, stream: TcpStream, address: SocketAddr) {
        let opened = self.connections.opening(address);
        let (tls, http1, longest) = (self.tls.clone(), self.http1, self.handshake_timeout);
        self.opening.spawn(async move {
            let connection = Arc::clone(&opened.connection);
            let cut = std::future::poll_fn(
                |context| if connection.is_cut(context) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending },
            );
            tokio::select! {
                line = timeout(longest, open(stream, opened, tls, http1)) => match line {
                    Ok(Ok(line)) => line,
                    Ok(Err(error)) => {
                        tracing::debug!(%address, %error, "a connection did not open");
                        None
                    }
                    Err(_) => {
                        tracing::debug!(%address, "a connection did not open in time");
                        None
                    }
                },
                () = cut => None,
            }
        });
    }

    /// A connection that was gone before it was accepted is nobody's loss. Where it is descriptors that are
    /// missing, the next attempt fails as well: asking on and on would take a core.
    async fn stumble(&self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
            return;
        }
        tracing::warn!(%error, "a connection cannot be accepted: another one is let go");
        self.connections.make_room();
        sleep(PAUSE).await;
    }
}

async fn open(stream: TcpStream, opened: Opened, tls: Option<Arc<Tls>>, http1: bool) -> io::Result<Option<Line>> {
    stream.set_nodelay(true)?;
    let stream = match tls {
        None => Stream::Plain(stream),
        Some(tls) => Stream::Tls(Box::new(tls.acceptor().accept(stream).await?)),
    };
    Line::open(stream, opened, http1).await
}
