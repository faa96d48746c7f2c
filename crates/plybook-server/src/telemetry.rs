//! Logs and traces.
//!
//! Invariant: no seed, key or password is in any of them; with no exporter configured traces cost
//! nothing, and a collector that is away never harms a call.

mod calls;
mod fields;

use std::io::IsTerminal as _;

use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::WithExportConfig as _;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use plybook_core::Seq;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};
use uuid::Uuid;

pub use calls::CallsLayer;

/// What an operator sets.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// Which logs, as `tracing-subscriber` filters have it; `info` where nothing is said.
    pub log: Option<String>,
    /// JSON always (`Some(true)`), never (`Some(false)`), or where stderr is not a terminal.
    pub json: Option<bool>,
    /// Where to send traces by OTLP over gRPC, such as `http://127.0.0.1:4317`.
    pub otlp_endpoint: Option<String>,
}

/// Keeps the exporter alive; [`Exporting::finish`] sends what is left.
#[derive(Debug)]
pub struct Exporting {
    provider: Option<SdkTracerProvider>,
}

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter of logs does not parse.
    #[error("the log filter {0:?} does not parse: {1}")]
    Filter(String, String),
    /// The exporter cannot be made.
    #[error("traces cannot be sent to {0:?}: {1}")]
    Exporter(String, String),
    /// A subscriber is installed already.
    #[error("logs are already set up: {0}")]
    Twice(String),
}

impl Telemetry {
    /// Begins to log, and to send traces where an endpoint is set. Once a process; inside a runtime.
    pub fn start(&self) -> Result<Exporting, TelemetryError> {
        let filter = self.log.clone().unwrap_or_else(|| "info".to_owned());
        // What becomes of a connection is told by whoever uses it, once.
        let filter =
            EnvFilter::try_new(format!("async_nats=off,{filter}")).map_err(|error| TelemetryError::Filter(filter, error.to_string()))?;
        let json = self.json.unwrap_or_else(|| !std::io::stderr().is_terminal());
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(!json);
        let lines = if json { lines.json().fmt_fields(fields::Fields).boxed() } else { lines.boxed() };
        let provider = self.otlp_endpoint.as_deref().map(exporter).transpose()?;
        let traces = provider.as_ref().map(|provider| {
            // Only our own spans: the transport's would trace the exporter itself.
            let ours = EnvFilter::new("off,plybook=info,plybook_server=info,plybook_store=info");
            tracing_opentelemetry::layer().with_tracer(provider.tracer("plybook")).with_filter(ours)
        });
        let registry = tracing_subscriber::registry().with(lines.with_filter(filter)).with(traces);
        registry.try_init().map_err(|error| TelemetryError::Twice(error.to_string()))?;
        Ok(Exporting { provider })
    }
}

fn exporter(endpoint: &str) -> Result<SdkTracerProvider, TelemetryError> {
    let built = opentelemetry_otlp::SpanExporter::builder().with_tonic().with_endpoint(endpoint).build();
    let exporter = built.map_err(|error| TelemetryError::Exporter(endpoint.to_owned(), error.to_string()))?;
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    let resource = Resource::builder().with_service_name("plybook").build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

impl Exporting {
    /// Sends what is left. Waits a few seconds at most where the collector is away.
    pub async fn finish(self) {
        if let Some(provider) = self.provider {
            // Blocks while it sends.
            let sent = tokio::task::spawn_blocking(move || provider.shutdown()).await;
            if !matches!(sent, Ok(Ok(()))) {
                tracing::warn!("some traces were not delivered");
            }
        }
    }
}

/// The id by which this call is found in traces and logs.
pub fn trace_id() -> String {
    let context = tracing::Span::current().context();
    let span = context.span().span_context().clone();
    if span.is_valid() { span.trace_id().to_string() } else { Uuid::new_v4().simple().to_string() }
}

/// Says in the call's span which game it is about.
pub fn record_game(game: Uuid) {
    tracing::Span::current().record("game.id", tracing::field::display(game));
}

/// Says in the call's span which entry it is about.
pub fn record_entry(game: Uuid, seq: Seq) {
    record_game(game);
    record_seq(seq);
}

/// The same of a call whose game has been told.
pub fn record_seq(seq: Seq) {
    tracing::Span::current().record("entry.seq", seq.0);
}

/// Counts refused requests that are not remembered: `since` the last time that this was said.
pub fn count_lost_refusals(since: u64, total: u64) {
    tracing::warn!(monotonic_counter.plybook.refusals_lost = since, total, "refused requests were not remembered");
}

/// Says in the call's span why it was refused.
pub fn record_refusal(reason: &'static str) {
    tracing::Span::current().record("outcome", reason.strip_prefix("ERROR_REASON_").unwrap_or(reason));
}
