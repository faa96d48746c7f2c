//! Around the calls of who was let in: how many a second, and how large are the answers that wait.
//!
//! It stands after authentication, so whatever it counts is counted for whom it belongs to. Calls that belong to no
//! tenant, such as health, pass.
//!
//! Invariant: where no rate is set, a call costs no lock.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::answers::{self, Waiting};
use super::connection::Peer;
use super::rates::{Bearers, Rate, Tenants};
use crate::auth::Caller;
use crate::limits::Limits;
use crate::refusal::Refusal;

/// How often they may call. A token that is bound to one game is counted by itself first, so that whoever bears it cannot
/// use up what its tenant has.
#[derive(Debug)]
struct Rates {
    bearers: Bearers,
    tenants: Tenants,
}

impl Rates {
    fn take(&self, caller: &Caller) -> Result<(), Refusal> {
        let limited = |limit| move |wait| Refusal::RateLimited { limit, wait };
        if let Some(bearer) = caller.bearer {
            self.bearers.take(bearer).map_err(limited("rate_per_token"))?;
        }
        self.tenants.take(caller.tenant).map_err(limited("rate_per_tenant"))
    }
}

/// Puts an [`Admission`] around a service.
#[derive(Clone, Debug)]
pub struct AdmissionLayer {
    rates: Option<Arc<Rates>>,
    waiting: Waiting,
}

impl AdmissionLayer {
    /// By these limits, and so many calls a second of a tenant.
    pub fn new(limits: &Limits, tenant: Option<Rate>) -> AdmissionLayer {
        let waiting = Waiting { bytes: limits.waiting_answer_bytes, longest: limits.waiting_answer_timeout };
        let rates = |rate: Rate| Arc::new(Rates { bearers: Bearers::new(rate.of_token()), tenants: Tenants::new(rate) });
        AdmissionLayer { rates: tenant.map(rates), waiting }
    }
}

/// A service with limits for who was let in.
#[derive(Clone, Debug)]
pub struct Admission<S> {
    inner: S,
    layer: AdmissionLayer,
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = Admission<S>;

    fn layer(&self, inner: S) -> Admission<S> {
        Admission { inner, layer: self.clone() }
    }
}

impl<S> Service<Request<Body>> for Admission<S>
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

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let extensions = request.extensions();
        let Some(caller) = extensions.get::<Caller>() else { return Box::pin(self.inner.call(request)) };
        if let Some(rates) = &self.layer.rates
            && let Err(refusal) = rates.take(caller)
        {
            return Box::pin(std::future::ready(Ok(Status::from(refusal).into_http())));
        }
        let Some(Peer { connection }) = extensions.get().cloned() else { return Box::pin(self.inner.call(request)) };
        connection.called();
        let waiting = self.layer.waiting;
        let call = self.inner.call(request);
        Box::pin(async move { call.await.map(|response| answers::counted(response, &connection, waiting)) })
    }
}
