//! What the headers of a call must be: those of a call of gRPC (`content_type`), and how many bytes of them there may be.
//!
//! HTTP/2 itself refuses more than a limit by the status 431, of which gRPC knows nothing: its callers are told UNKNOWN. So the
//! transport's own limit is [`SLACK`] times as high, and what lies between is refused here, in words.
//!
//! Invariant: nothing is looked at of a call whose headers are more than its node takes, and of none does it keep more than
//! [`SLACK`] times that.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use futures::future::Either;
use http::{HeaderMap, Request, Response, StatusCode, Uri};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::content_type::is_grpc;
use crate::refusal::Refusal;

/// How many times as much the transport takes, so that it can be refused in words.
pub(crate) const SLACK: u32 = 2;
/// What HTTP/2 counts for each header beside its name and its value.
const BESIDE: usize = 32;

/// Puts a [`Headers`] around a service.
#[derive(Clone, Copy, Debug)]
pub struct HeadersLayer {
    /// Bytes, as HTTP/2 counts them.
    pub header_bytes: u32,
}

/// A service whose calls are calls of gRPC, with so many bytes of headers.
#[derive(Clone, Debug)]
pub struct Headers<S> {
    inner: S,
    most: u32,
}

impl<S> Layer<S> for HeadersLayer {
    type Service = Headers<S>;

    fn layer(&self, inner: S) -> Headers<S> {
        Headers { inner, most: self.header_bytes }
    }
}

impl<S> Service<Request<Body>> for Headers<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match refused(&request, self.most) {
            None => Either::Left(self.inner.call(request)),
            Some(answer) => Either::Right(ready(Ok(answer))),
        }
    }
}

fn refused(request: &Request<Body>, most: u32) -> Option<Response<Body>> {
    if !is_grpc(request.headers()) {
        let mut answer = Response::new(Body::empty());
        *answer.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Some(answer);
    }
    let counted = counted(request.method().as_str(), request.uri(), request.headers());
    let refusal = Refusal::Limit { limit: "header_bytes", most: most.into() };
    (counted > most as usize).then(|| Status::from(refusal).into_http())
}

/// The size of a list of headers as HTTP/2 has it, the four that stand for a request's line among them.
fn counted(method: &str, uri: &Uri, headers: &HeaderMap) -> usize {
    let line = [
        (":method", method.len()),
        (":scheme", uri.scheme_str().map_or(0, str::len)),
        (":authority", uri.authority().map_or(0, |authority| authority.as_str().len())),
        (":path", uri.path_and_query().map_or(0, |path| path.as_str().len())),
    ];
    let line = line.into_iter().map(|(name, value)| name.len() + value + BESIDE);
    line.chain(headers.iter().map(|(name, value)| name.as_str().len() + value.len() + BESIDE)).sum()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn headers_are_counted_as_http_2_counts_them() {
        let request = Request::get("http://localhost/a?b").header("x-name", "value").body(()).unwrap();
        let line = [(":method", "GET"), (":scheme", "http"), (":authority", "localhost"), (":path", "/a?b"), ("x-name", "value")];
        let sum: usize = line.iter().map(|(name, value)| name.len() + value.len() + 32).sum();
        assert_eq!(counted(request.method().as_str(), request.uri(), request.headers()), sum);
    }
}
