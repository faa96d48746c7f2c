//! One span a call, as a child of the caller's.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::{HeaderMap, Request, Response};
use opentelemetry::propagation::Extractor;
use tonic::Code;
use tonic::body::Body;
use tower::{Layer, Service};
use tracing::field::Empty;
use tracing::{Instrument as _, Span, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

/// Puts `Calls` around a service.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallsLayer;

/// A service whose calls are traced.
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
        let span = span(&request);
        let call = {
            let _entered = span.enter();
            self.inner.call(request)
        };
        let watched = async move {
            let answer = call.await;
            if let Ok(response) = &answer {
                close(response);
            }
            answer
        };
        Box::pin(watched.instrument(span))
    }
}

fn span(request: &Request<Body>) -> Span {
    let path = request.uri().path().trim_start_matches('/');
    let (service, method) = path.split_once('/').unwrap_or((path, ""));
    let span = info_span!(
        "call",
        otel.name = path,
        otel.kind = "server",
        rpc.system = "grpc",
        rpc.service = service,
        rpc.method = method,
        rpc.grpc.status_code = Empty,
        game.id = Empty,
        entry.seq = Empty,
        outcome = Empty,
    );
    let parent = opentelemetry::global::get_text_map_propagator(|propagator| propagator.extract(&Headers(request.headers())));
    // Fails only where no exporter is configured, and then there is nothing to be a child of.
    let _ = span.set_parent(parent);
    span
}

/// An error is in the head of the answer; where it is not, the call went well so far.
fn close(response: &Response<Body>) {
    let code = response.headers().get("grpc-status").map_or(Code::Ok, |value| Code::from_bytes(value.as_bytes()));
    let span = Span::current();
    span.record("rpc.grpc.status_code", code as i32);
    if code == Code::Ok {
        span.record("outcome", "OK");
    }
    tracing::debug!(code = ?code, "answered");
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
