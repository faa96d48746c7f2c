//! Around every call: what goes wrong outside an RPC still becomes a typed status.
//!
//! Invariant: a caller sees a reason for a passed deadline, a panic and an oversized request, as for
//! everything else.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use http::{HeaderValue, Request, Response};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use crate::deadline::Deadline;
use crate::limits::OPEN_REQUEST_BYTES;
use crate::refusal::Refusal;

/// Puts a [`Guard`] around a service.
#[derive(Clone, Debug)]
pub struct GuardLayer {
    /// How long a call may take; a deadline of the caller's may end it sooner.
    pub call_timeout: Duration,
    /// Largest request, in bytes.
    pub request_bytes: usize,
}

/// A guarded service.
#[derive(Clone, Debug)]
pub struct Guard<S> {
    inner: S,
    layer: GuardLayer,
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Guard { inner, layer: self.clone() }
    }
}

impl<S> Service<Request<Body>> for Guard<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let deadline = Deadline::of(request.headers(), self.layer.call_timeout);
        request.extensions_mut().insert(deadline);
        let of_contract = request.uri().path().starts_with("/plybook.");
        let most = if of_contract { ("request_bytes", self.layer.request_bytes) } else { ("open_request_bytes", OPEN_REQUEST_BYTES) };
        let call = AssertUnwindSafe(self.inner.call(request)).catch_unwind();
        Box::pin(async move {
            match tokio::time::timeout_at(deadline.answer_by, call).await {
                Ok(Ok(answer)) => answer.map(|response| explain(response, most)),
                Ok(Err(_)) => Ok(Status::from(Refusal::internal("a call panicked")).into_http()),
                Err(_) => Ok(Status::from(Refusal::Deadline).into_http()),
            }
        })
    }
}

/// What the transport refuses by itself has no details: give it ours. It says OUT_OF_RANGE to a
/// request too large, RESOURCE_EXHAUSTED to one that grows too large unpacked, and INTERNAL to bytes
/// that are no message.
fn explain(response: Response<Body>, (limit, most): (&'static str, usize)) -> Response<Body> {
    let headers = response.headers();
    let code = headers.get("grpc-status").map(HeaderValue::as_bytes).map(Code::from_bytes);
    let typed = headers.contains_key("grpc-status-details-bin");
    let refusal = match code {
        Some(Code::OutOfRange | Code::ResourceExhausted) if !typed => Refusal::Limit { limit, most: most as u64 },
        Some(Code::Internal) if !typed => Refusal::field("request", "is not a message of the contract"),
        _ => return response,
    };
    Status::from(refusal).into_http()
}
