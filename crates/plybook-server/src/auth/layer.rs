//! Authentication, once a call and before its body is read.
//!
//! Invariant: a call of the contract reaches its handler with a [`Caller`](super::Caller) in its extensions, or is
//! refused. Health and reflection tell nothing of any tenant and stay open.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::Either;
use http::{Request, Response};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::Authenticator;
use crate::telemetry;

/// What the paths of the contract's calls begin with.
const CONTRACT: &str = "/plybook.v1.";

/// Puts [`Authenticated`] around a service.
#[derive(Clone)]
pub struct AuthLayer {
    /// Who reads the credentials.
    pub authenticator: Arc<Authenticator>,
}

/// A service whose calls have callers.
#[derive(Clone)]
pub struct Authenticated<S> {
    inner: S,
    authenticator: Arc<Authenticator>,
}

impl<S> Layer<S> for AuthLayer {
    type Service = Authenticated<S>;

    fn layer(&self, inner: S) -> Authenticated<S> {
        Authenticated { inner, authenticator: Arc::clone(&self.authenticator) }
    }
}

impl<S> Service<Request<Body>> for Authenticated<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send,
{
    type Response = Response<Body>;
    type Error = S::Error;
    /// As it is where nothing is looked at.
    type Future = Either<S::Future, Pin<Box<dyn Future<Output = Result<Response<Body>, S::Error>> + Send>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        if !request.uri().path().starts_with(CONTRACT) {
            return Either::Left(self.inner.call(request));
        }
        if let Some(everybody) = self.authenticator.everybody() {
            request.extensions_mut().insert(everybody.clone());
            return Either::Left(self.inner.call(request));
        }
        let authenticator = Arc::clone(&self.authenticator);
        // The one that said it is ready is the one that must be called.
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        Either::Right(Box::pin(async move {
            match authenticator.caller(request.headers(), request.extensions()).await {
                Ok(caller) => {
                    request.extensions_mut().insert(caller);
                    inner.call(request).await
                }
                Err(refusal) => {
                    telemetry::count_auth_failure(&refusal);
                    Ok(Status::from(refusal).into_http())
                }
            }
        }))
    }
}
