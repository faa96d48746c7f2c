//! Callers who speak HTTP/2 by hand, and do with it what no good client does.
//!
//! Invariant: such a caller keeps its connection going until it is dropped or the server ends it, and knows which.

use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use prost::Message;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::patience::PATIENCE;

/// The preface and empty settings: what a caller begins with.
pub const HELLO: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// A connection whose frames a test chooses.
pub struct Raw {
    requests: SendRequest<Bytes>,
    /// Ends with the connection.
    driving: JoinHandle<Result<(), h2::Error>>,
}

/// A call that was begun.
pub struct Begun {
    /// What comes back.
    pub answer: ResponseFuture,
    /// What is still to be sent.
    pub body: SendStream<Bytes>,
}

impl Raw {
    /// A connection with room for so many bytes of each answer.
    pub async fn connect(address: &str, window: u32) -> Raw {
        let stream = TcpStream::connect(address).await.unwrap();
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(window).max_concurrent_reset_streams(100_000);
        let (requests, connection) = builder.handshake(stream).await.unwrap();
        Raw { requests, driving: tokio::spawn(connection) }
    }

    /// Begins a call and sends nothing of its request; nothing once the connection is over.
    pub async fn begin(&mut self, path: &str, headers: &[(&str, &str)]) -> Option<Begun> {
        let mut request =
            Request::post(format!("http://127.0.0.1{path}")).header("content-type", "application/grpc").header("te", "trailers");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut ready = self.requests.clone().ready().await.ok()?;
        let (answer, body) = ready.send_request(request.body(()).unwrap(), false).ok()?;
        Some(Begun { answer, body })
    }

    /// Makes a call; nothing once the connection is over.
    pub async fn call(&mut self, path: &str, message: &impl Message) -> Option<ResponseFuture> {
        let Begun { answer, mut body } = self.begin(path, &[]).await?;
        // Whoever is refused for its headers may have its answer by now, and then nobody takes the message.
        let sent = body.send_data(framed(message), true);
        (sent.is_ok() || !self.is_over()).then_some(answer)
    }

    /// Whether the server has ended the connection.
    pub fn is_over(&self) -> bool {
        self.driving.is_finished()
    }

    /// Waits until the server ends the connection.
    pub async fn ended(self) {
        // Without anybody who could call, it would end by itself.
        let Raw { requests, driving } = self;
        let _ = timeout(PATIENCE, driving).await.expect("the server ends the connection");
        drop(requests);
    }
}

impl Begun {
    /// Leaves the call.
    pub fn leave(mut self) {
        self.body.send_reset(Reason::CANCEL);
    }
}

/// A message as gRPC frames it.
pub fn framed(message: &impl Message) -> Bytes {
    let bytes = message.encode_to_vec();
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&[0][..], &length, &bytes].concat().into()
}

/// The status of an answer, from its head or behind its body.
pub async fn status(answer: Response<RecvStream>) -> (i32, HeaderMap) {
    let (head, mut body) = answer.into_parts();
    let mut headers = head.headers;
    while let Some(Some(chunk)) = body.data().await.map(unless_ended) {
        body.flow_control().release_capacity(chunk.len()).unwrap();
    }
    if let Some(Some(trailers)) = unless_ended(body.trailers().await) {
        headers.extend(trailers);
    }
    let code = headers.get("grpc-status").unwrap().to_str().unwrap().parse().unwrap();
    (code, headers)
}

/// Whoever has answered may end a call whose request was not read to its end: that takes nothing back (RFC 9113, section 8.1).
pub fn unless_ended<T>(read: Result<T, h2::Error>) -> Option<T> {
    match read {
        Err(error) if error.reason() == Some(Reason::NO_ERROR) => None,
        read => Some(read.unwrap()),
    }
}

/// A connection that has sent these bytes and then says nothing.
pub async fn silent(address: &str, bytes: &[u8]) -> TcpStream {
    let mut line = TcpStream::connect(address).await.unwrap();
    line.write_all(bytes).await.unwrap();
    line
}

/// Waits until the other end ends a connection, however it does.
pub async fn left(line: &mut TcpStream) {
    let mut bytes = [0; 4096];
    let reads = async { while line.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    timeout(PATIENCE, reads).await.expect("the node ends the connection");
}

/// Whether the other end has not ended a connection within so long.
pub async fn is_kept(line: &mut TcpStream, within: Duration) -> bool {
    let mut bytes = [0; 4096];
    let reads = async { while line.read(&mut bytes).await.is_ok_and(|read| read > 0) {} };
    timeout(within, reads).await.is_err()
}
