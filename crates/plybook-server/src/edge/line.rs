//! The bytes of one connection, in clear or through TLS.
//!
//! Invariant: a line has its place among the connections from before its first byte until it is dropped, and gives
//! nothing once its connection was cut.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use super::certificate;
use super::connection::Peer;
use super::connections::Opened;
use super::outgoing::Outgoing;
use crate::auth::PeerIdentity;

/// What a connection begins with that speaks HTTP/2.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection that has opened.
#[derive(Debug)]
pub struct Line {
    stream: Outgoing<Stream>,
    /// What was read of it to see what it speaks.
    ahead: Ahead,
    opened: Opened,
    identity: Option<PeerIdentity>,
}

/// How the bytes travel.
#[derive(Debug)]
pub(super) enum Stream {
    /// As they are.
    Plain(TcpStream),
    /// Encrypted.
    Tls(Box<TlsStream<TcpStream>>),
}

#[derive(Debug)]
struct Ahead {
    bytes: [u8; PREFACE.len()],
    given: usize,
    read: usize,
}

impl Line {
    /// Reads what the peer begins with, and takes its place among those that have opened. Nothing where the peer speaks
    /// what is not spoken here, or there is no room.
    pub(super) async fn open(mut stream: Stream, opened: Opened, http1: bool) -> io::Result<Option<Line>> {
        let mut ahead = Ahead { bytes: [0; PREFACE.len()], given: 0, read: 0 };
        let speaks_http2 = loop {
            if PREFACE[..ahead.read] != ahead.bytes[..ahead.read] {
                break false;
            }
            if ahead.read == PREFACE.len() {
                break true;
            }
            match stream.read(&mut ahead.bytes[ahead.read..]).await? {
                0 => return Ok(None),
                read => ahead.read += read,
            }
        };
        if !(speaks_http2 || http1) || opened.opened().is_none() {
            return Ok(None);
        }
        let identity = match &stream {
            Stream::Plain(_) => None,
            Stream::Tls(stream) => stream.get_ref().1.peer_certificates().and_then(|chain| certificate::identity(chain.first()?)),
        };
        Ok(Some(Line { stream: Outgoing::new(stream), ahead, opened, identity }))
    }
}

/// What every request's extensions hold of the connection that it came by.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The connection.
    pub peer: Peer,
    /// Whom its certificate speaks for, where it has shown one.
    pub identity: Option<PeerIdentity>,
}

impl Connected for Line {
    type ConnectInfo = Arrival;

    fn connect_info(&self) -> Arrival {
        let peer = Peer { connection: Arc::clone(&self.opened.connection) };
        Arrival { peer, identity: self.identity.clone() }
    }
}

fn cut() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

impl AsyncRead for Line {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let line = self.get_mut();
        if line.opened.connection.is_cut(context) {
            return Poll::Ready(Err(cut()));
        }
        let ahead = &line.ahead.bytes[line.ahead.given..line.ahead.read];
        if ahead.is_empty() {
            return Pin::new(&mut line.stream).poll_read(context, to);
        }
        let given = ahead.len().min(to.remaining());
        to.put_slice(&ahead[..given]);
        line.ahead.given += given;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, to),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, to),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
