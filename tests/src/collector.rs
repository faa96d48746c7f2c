//! A collector of traces, as an operator would run one.
//!
//! Invariant: it keeps every span that it receives, as it came.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

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
struct Received(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(&self, request: Request<ExportTraceServiceRequest>) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

/// Starts a collector.
pub async fn collector() -> Collector {
    let received = Received::default();
    let incoming = TcpIncoming::bind(([127, 0, 0, 1], 0).into()).unwrap();
    let address = incoming.local_addr().unwrap();
    let router = tonic::transport::Server::builder().add_service(TraceServiceServer::new(received.clone()));
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
        let resources = received.iter().flat_map(|request| &request.resource_spans);
        resources.flat_map(|resource| &resource.scope_spans).flat_map(|scope| scope.spans.clone()).collect()
    }

    /// Everything that came, as bytes of the wire and as text.
    pub fn everything(&self) -> Vec<u8> {
        let received = self.received.0.lock().unwrap();
        let mut all = format!("{received:?}").into_bytes();
        received.iter().for_each(|request| all.extend(prost::Message::encode_to_vec(request)));
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
