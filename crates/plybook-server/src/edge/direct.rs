//! The contract's own services, by the name in a call's path.
//!
//! A router that knows any path takes a call apart for parameters, copies its table's services, and puts answers into two more
//! boxes: as much work as a twentieth of a move. The contract has two services, known beforehand.
//!
//! Invariant: only the services' names are looked at; what lies behind a name, and every other path, is answered by whoever
//! has been asked for it before there was this.

use std::convert::Infallible;
use std::task::{Context, Poll};

use futures::future::Either;
use http::{Request, Response};
use tonic::body::Body;
use tonic::server::NamedService;
use tower::{Layer, Service};

/// Puts two services before all others.
#[derive(Clone, Debug)]
pub struct DirectLayer<G, A> {
    /// The one that most calls are for.
    pub games: G,
    /// The other.
    pub audit: A,
}

/// A service that answers for two by itself.
#[derive(Clone, Debug)]
pub struct Direct<G, A, S> {
    own: DirectLayer<G, A>,
    others: S,
}

impl<G: Clone, A: Clone, S> Layer<S> for DirectLayer<G, A> {
    type Service = Direct<G, A, S>;

    fn layer(&self, others: S) -> Self::Service {
        Direct { own: self.clone(), others }
    }
}

impl<G, A, S> Service<Request<Body>> for Direct<G, A, S>
where
    G: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + NamedService,
    A: Service<Request<Body>, Response = Response<Body>, Error = Infallible, Future = G::Future> + NamedService,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Either<G::Future, S::Future>;

    /// All of them are always ready.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.others.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        match named(request.uri().path()) {
            Some(name) if name == G::NAME => Either::Left(self.own.games.call(request)),
            Some(name) if name == A::NAME => Either::Left(self.own.audit.call(request)),
            _ => Either::Right(self.others.call(request)),
        }
    }
}

/// The service of a path such as `/plybook.v1.GameService/MakeMove`; a method is named behind it.
fn named(path: &str) -> Option<&str> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    (!method.is_empty() && !method.contains('/')).then_some(service)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_path_names_a_service_and_a_method_or_neither() {
        assert_eq!(named("/plybook.v1.GameService/MakeMove"), Some("plybook.v1.GameService"));
        for other in ["", "/", "plybook.v1.GameService/MakeMove", "/plybook.v1.GameService", "/plybook.v1.GameService/", "/a/b/c", "//b"] {
            assert!(named(other).is_none_or(str::is_empty), "{other}");
        }
    }
}
