//! Around authentication: how often an address may fail to say who it is, and a connection leave what it has asked.
//!
//! It also puts what is known of the connection into each request's extensions.
//!
//! Invariants: an address that has used its attempts up is refused before anything of its credentials is looked at; a
//! call that is left before its answer counts against its connection, since what it has begun goes on.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderValue, Request, Response};
use tonic::body::Body;
use tonic::{Code, Status};
use tower::{Layer, Service};

use super::connection::Connection;
use super::line::Arrival;
use super::rates::{Addresses, Rate, party};
use crate::refusal::Refusal;

/// Puts an [`Attempts`] around a service.
#[derive(Clone, Debug)]
pub struct AttemptsLayer {
    addresses: Option<Arc<Addresses>>,
    left_calls: u64,
}

impl AttemptsLayer {
    /// So many failed attempts of an address, and so many calls a minute that a connection leaves.
    pub fn new(strangers: Option<Rate>, left_calls: u32) -> AttemptsLayer {
        AttemptsLayer { addresses: strangers.map(|rate| Arc::new(Addresses::new(rate))), left_calls: left_calls.into() }
    }
}

/// A service whose callers may fail so often.
#[derive(Clone, Debug)]
pub struct Attempts<S> {
    inner: S,
    layer: AttemptsLayer,
}

impl<S> Layer<S> for AttemptsLayer {
    type Service = Attempts<S>;

    fn layer(&self, inner: S) -> Attempts<S> {
        Attempts { inner, layer: self.clone() }
    }
}

impl<S> Service<Request<Body>> for Attempts<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let Some(Arrival { peer, identity }) = request.extensions_mut().remove() else { return Box::pin(self.inner.call(request)) };
        let connection = Arc::clone(&peer.connection);
        request.extensions_mut().insert(peer);
        if let Some(identity) = identity {
            request.extensions_mut().insert(identity);
        }
        let address = party(connection.address().ip());
        let addresses = self.layer.addresses.clone();
        if let Some(Err(wait)) = addresses.as_ref().map(|addresses| addresses.look(address)) {
            let refusal = Refusal::RateLimited { limit: "rate_of_strangers", wait };
            return Box::pin(std::future::ready(Ok(Status::from(refusal).into_http())));
        }
        let most = self.layer.left_calls;
        let call = self.inner.call(request);
        Box::pin(async move {
            let mut left = Left { connection: Some(connection), most };
            let answer = call.await;
            left.connection = None;
            if let Some(addresses) = addresses.filter(|_| answer.as_ref().is_ok_and(is_stranger)) {
                // Whoever has none left is refused the next time.
                let _ = addresses.take(address);
            }
            answer
        })
    }
}

/// Dropped before the answer is there, it counts against its connection.
struct Left {
    connection: Option<Arc<Connection>>,
    most: u64,
}

impl Drop for Left {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            connection.left_a_call(self.most);
        }
    }
}

fn is_stranger(response: &Response<Body>) -> bool {
    let code = response.headers().get("grpc-status").map(HeaderValue::as_bytes).map(Code::from_bytes);
    code == Some(Code::Unauthenticated)
}
