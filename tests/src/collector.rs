//! A collector of traces and metrics, as an operator would run one.
//!
//! Invariant: it keeps everything that it receives, as it came.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::metrics::v1::metrics_service_server::{MetricsService, MetricsServiceServer};
use opentelemetry_proto::tonic::collector::metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// A running collector.
pub struct Collector {
    address: SocketAddr,
    received: Received,
    serving: tokio::task::JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Received(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    traces: Vec<ExportTraceServiceRequest>,
    metrics: Vec<ExportMetricsServiceRequest>,
    /// What was sent along with each, as text.
    headers: Vec<String>,
}

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(&self, request: Request<ExportTraceServiceRequest>) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap();
        kept.headers.push(format!("{:?}", request.metadata()));
        kept.traces.push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tonic::async_trait]
impl MetricsService for Received {
    async fn export(&self, request: Request<ExportMetricsServiceRequest>) -> Result<Response<ExportMetricsServiceResponse>, Status> {
        let mut kept = self.0.lock().unwrap();
        kept.headers.push(format!("{:?}", request.metadata()));
        kept.metrics.push(request.into_inner());
        Ok(Response::new(ExportMetricsServiceResponse::default()))
    }
}

/// Starts a collector.
pub async fn collector() -> Collector {
    collector_at(([127, 0, 0, 1], 0).into()).await
}

/// The same at this address.
pub async fn collector_at(address: SocketAddr) -> Collector {
    let received = Received::default();
    let incoming = TcpIncoming::bind(address).unwrap();
    let address = incoming.local_addr().unwrap();
    let router = tonic::transport::Server::builder()
        .add_service(TraceServiceServer::new(received.clone()))
        .add_service(MetricsServiceServer::new(received.clone()));
    let serving = tokio::spawn(async move { router.serve_with_incoming(incoming).await.unwrap() });
    Collector { address, received, serving }
}

impl Collector {
    /// Where spans are to be sent.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every span so far.
    pub fn spans(&self) -> Vec<Span> {
        let received = self.received.0.lock().unwrap();
        let resources = received.traces.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    /// The names of all metrics that came.
    pub fn metrics(&self) -> BTreeSet<String> {
        let received = self.received.0.lock().unwrap();
        let resources = received.metrics.iter().flat_map(|request| &request.resource_metrics);
        resources.flat_map(|resource| &resource.scope_metrics).flat_map(|scope| &scope.metrics).map(|metric| metric.name.clone()).collect()
    }

    /// What was sent along with each export, as text.
    pub fn headers(&self) -> Vec<String> {
        self.received.0.lock().unwrap().headers.clone()
    }

    /// All spans and metrics that came, as bytes of the wire and as text.
    pub fn everything(&self) -> Vec<u8> {
        let received = self.received.0.lock().unwrap();
        let mut all = format!("{:?}{:?}", received.traces, received.metrics).into_bytes();
        received.traces.iter().for_each(|request| all.extend(prost::Message::encode_to_vec(request)));
        received.metrics.iter().for_each(|request| all.extend(prost::Message::encode_to_vec(request)));
        all
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// An attribute of a span, as text.
pub fn attribute(span: &Span, key: &str) -> Option<String> {
    let value = span.attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?.value.as_ref()?;
    match value {
        Value::StringValue(text) => Some(text.clone()),
        Value::IntValue(number) => Some(number.to_string()),
        Value::BoolValue(flag) => Some(flag.to_string()),
        other => Some(format!("{other:?}")),
    }
}
