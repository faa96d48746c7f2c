//! Large answers that wait for a caller to take them.
//!
//! HTTP/2 lets a caller take an answer when it likes, and until then it is in this node's memory. So of what is large,
//! so many bytes may wait on a connection, and for so long.
//!
//! Invariant: an answer counts until its last byte has left or its caller has gone, and nobody waits for a caller who
//! takes nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use http_body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::Status;
use tonic::body::Body;

use super::connection::{Connection, HeldBytes};
use crate::limits::LARGE_ANSWER_BYTES;
use crate::refusal::Refusal;

/// What an answer weighs, in its response's extensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight(usize);

impl Weight {
    /// Of an answer of so many bytes; nothing where it is small.
    pub(crate) fn of(bytes: usize) -> Option<Weight> {
        (bytes >= LARGE_ANSWER_BYTES).then_some(Weight(bytes))
    }
}

/// What may wait on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Bytes.
    pub(super) bytes: usize,
    /// And how long.
    pub(super) longest: Duration,
}

/// The answer, counted for as long as it is in memory; or a refusal, where too much is.
pub(super) fn counted(response: Response<Body>, connection: &Arc<Connection>, most: Waiting) -> Response<Body> {
    let Some(Weight(bytes)) = response.extensions().get().copied() else { return response };
    let Some(bytes) = connection.hold(bytes, most.bytes) else {
        return Status::from(Refusal::Busy { limit: "waiting_answer_bytes", most: most.bytes as u64 }).into_http();
    };
    let taken = CancellationToken::new();
    let held = Arc::new(Held { _bytes: bytes, _taken: taken.clone().drop_guard() });
    let connection = Arc::clone(connection);
    tokio::spawn(async move {
        if tokio::time::timeout(most.longest, taken.cancelled()).await.is_err() {
            tracing::warn!(address = %connection.address(), "a connection is cut: its caller does not take an answer");
            connection.cut();
        }
    });
    response.map(|inner| Body::new(Counted { inner, held }))
}

/// Until it is dropped, the answer is in memory.
#[derive(Debug)]
struct Held {
    _bytes: HeldBytes,
    _taken: DropGuard,
}

/// A body whose bytes count until they are dropped: the connection holds them for longer than the body.
#[derive(Debug)]
struct Counted {
    inner: Body,
    held: Arc<Held>,
}

/// What was taken from a body, and that it counts.
struct Part {
    bytes: Bytes,
    _held: Arc<Held>,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let body = self.get_mut();
        let frame = ready!(Pin::new(&mut body.inner).poll_frame(context));
        let counted = |bytes| Bytes::from_owner(Part { bytes, _held: Arc::clone(&body.held) });
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(counted))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_does_not_count() {
        assert!(Weight::of(LARGE_ANSWER_BYTES - 1).is_none() && Weight::of(LARGE_ANSWER_BYTES).is_some());
    }
}
