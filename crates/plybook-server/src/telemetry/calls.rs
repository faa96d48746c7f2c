//! One span a call, as a child of the caller's, and one measurement.
//!
//! Invariant: a call's span is there where traces are wanted or logs of DEBUG; elsewhere what a line about a call needs is
//! kept beside it, because a span that nobody reads takes a tenth of what a move costs its node.

use std::cell::Cell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use std::task::{Context, Poll};
use std::time::Instant;

use http::{HeaderMap, Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::Bytes;
use opentelemetry::propagation::Extractor;
use prost::Message as _;
use prost_types::FileDescriptorSet;
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument as _, Level, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use uuid::Uuid;

use super::instruments::{count_call, counting};
use super::tracing_calls;

/// What is called by no name of the contract: anybody may send any path.
const OTHER: Method = Method { name: "_OTHER", streams: false };

/// A method of the contract.
#[derive(Clone, Copy, Debug)]
struct Method {
    /// `package.Service/Method`.
    name: &'static str,
    /// Whether it answers with a stream.
    streams: bool,
}

/// By path.
static METHODS: LazyLock<HashMap<String, Method>> = LazyLock::new(|| {
    let set = FileDescriptorSet::decode(plybook_proto::DESCRIPTOR_SET).unwrap_or_default();
    let mut methods = HashMap::new();
    for file in &set.file {
        for service in &file.service {
            for method in &service.method {
                let path = format!("/{}.{}/{}", file.package(), service.name(), method.name());
                // Once a process, so that labels are never copied.
                let name: &'static str = Box::leak(path.trim_start_matches('/').to_owned().into_boxed_str());
                methods.insert(path, Method { name, streams: method.server_streaming() });
            }
        }
    }
    methods
});

/// What is being answered.
struct Answered {
    method: &'static str,
    /// Once it is known.
    game: Cell<Option<Uuid>>,
}

impl Answered {
    const fn new(method: &'static str) -> Answered {
        Answered { method, game: Cell::new(None) }
    }
}

tokio::task_local! {
    static ANSWERED: Answered;
}

/// The method of the call at hand.
pub(crate) fn current_method() -> &'static str {
    ANSWERED.try_with(|answered| answered.method).unwrap_or(OTHER.name)
}

/// The game of the call at hand, where there is one.
pub(crate) fn current_game() -> Option<Uuid> {
    ANSWERED.try_with(|answered| answered.game.get()).ok().flatten()
}

/// Says which game the call at hand is about.
pub(super) fn answers_of(game: Uuid) {
    // Outside of a call there is nobody to tell.
    let _ = ANSWERED.try_with(|answered| answered.game.set(Some(game)));
}

/// The name of a code, as the conventions spell it.
pub(super) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// Puts `Calls` around a service.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallsLayer;

/// A service whose calls are traced and measured.
#[derive(Clone, Debug)]
pub struct Calls<S> {
    inner: S,
}

impl<S> Layer<S> for CallsLayer {
    type Service = Calls<S>;

    fn layer(&self, inner: S) -> Calls<S> {
        Calls { inner }
    }
}

impl<S> Service<Request<Body>> for Calls<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let method = METHODS.get(request.uri().path()).copied().unwrap_or(OTHER);
        let began = counting().then(Instant::now);
        let span = span(&request);
        let call = {
            let _entered = span.enter();
            self.inner.call(request)
        };
        let watched = async move {
            let response = call.await?;
            let code = code(&response);
            close(code);
            if let Some(began) = began {
                count_call(method.name, code, began.elapsed());
            }
            let goes_on = method.streams && code == Code::Ok;
            Ok(if goes_on { response.map(|body| Body::new(Named { body, method: method.name })) } else { response })
        };
        Box::pin(ANSWERED.scope(Answered::new(method.name), watched.instrument(span)))
    }
}

macro_rules! call_span {
    ($level:expr, $path:expr) => {
        tracing::span!(
            $level,
            "call",
            otel.name = $path,
            otel.kind = "server",
            rpc.system.name = "grpc",
            rpc.method = $path,
            rpc.response.status_code = Empty,
            game.id = Empty,
            entry.seq = Empty,
            outcome = Empty,
        )
    };
}

/// For lines of DEBUG alone.
pub(super) fn untraced_span(path: &str) -> Span {
    call_span!(Level::DEBUG, path)
}

fn span(request: &Request<Body>) -> Span {
    let path = request.uri().path().trim_start_matches('/');
    if !tracing_calls() {
        return untraced_span(path);
    }
    let span = call_span!(Level::INFO, path);
    let parent = opentelemetry::global::get_text_map_propagator(|propagator| propagator.extract(&Headers(request.headers())));
    // Fails only where the span is not traced, and then there is nothing to be a child of.
    let _ = span.set_parent(parent);
    span
}

/// An error is in the head of the answer; where it is not, the call went well so far.
fn code(response: &Response<Body>) -> Code {
    response.headers().get("grpc-status").map_or(Code::Ok, |value| Code::from_bytes(value.as_bytes()))
}

fn close(code: Code) {
    let span = Span::current();
    span.record("rpc.response.status_code", code_name(code));
    if code == Code::Ok {
        span.record("outcome", "OK");
    }
    tracing::debug!(code = ?code, "answered");
}

/// A stream that knows what it answers, also after its call has ended.
struct Named {
    body: Body,
    method: &'static str,
}

impl http_body::Body for Named {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let method = self.method;
        ANSWERED.sync_scope(Answered::new(method), || Pin::new(&mut self.body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_about_a_call_can_say_which() {
        assert_eq!((current_method(), current_game()), (OTHER.name, None));
        let game = Uuid::from_u128(7);
        let told = ANSWERED.scope(Answered::new("a/b"), async {
            let before = current_game();
            answers_of(game);
            (before, current_method(), current_game())
        });
        assert_eq!(told.await, (None, "a/b", Some(game)));
        answers_of(game);
        assert_eq!(current_game(), None, "outside of a call");
    }
}
