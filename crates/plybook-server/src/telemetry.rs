//! Logs, traces and metrics.
//!
//! | module | the noun |
//! | --- | --- |
//! | `calls` | a call: its span, and how long it took |
//! | `steps` | what a call does, where its trace is sampled |
//! | `fields` | what a span knows, for log lines |
//! | [`sampling`] | which traces are kept |
//! | `collector` | where traces and metrics go, which may be away |
//! | [`metrics`] | the table of metrics |
//! | `instruments` | what is counted where it happens |
//! | `observed` | what is read when somebody looks |
//! | `timed` | a store whose answers are timed |
//! | [`page`] | metrics and health over HTTP |
//! | [`audit`] | administrative calls, a line each |
//!
//! Invariant: no seed, key or password is in any of them; with no exporter and no page configured traces and metrics cost
//! nothing, and a collector that is away never harms a call.

pub mod audit;
mod calls;
mod collector;
mod fields;
mod instruments;
pub mod metrics;
mod observed;
pub mod page;
pub mod sampling;
mod steps;
mod timed;

use std::io::IsTerminal as _;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::{MetricExporter, SpanExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use plybook_core::Seq;
use prometheus::Registry;
use tonic::metadata::MetadataMap;
use tonic::transport::{ClientTlsConfig, Endpoint};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};
use uuid::Uuid;

pub use calls::CallsLayer;
pub(crate) use calls::{current_game, current_method};
pub use instruments::{count_appended, count_auth_failure, count_created, count_due, count_verdict};
pub(crate) use observed::{Observed, observe};
pub use page::{Page, PageAddress};
pub use sampling::{Sampler, Sampling};
pub(crate) use steps::step;
pub(crate) use timed::timed;

use crate::readiness::Readiness;
use collector::{Notice, Noticed};

/// Before what an operator says of logs, which counts for more: what becomes of a connection is told by whoever uses it, once;
/// steps are for traces; and administrative calls are told whatever else is.
const ALWAYS: &str = "async_nats=off,plybook_step=off,plybook_audit=info";

/// What an operator sets.
#[derive(Clone, Debug, Default)]
pub struct Telemetry {
    /// Which logs, as `tracing-subscriber` filters have it; `info` where nothing is said.
    pub log: Option<String>,
    /// JSON always (`Some(true)`), never (`Some(false)`), or where stderr is not a terminal.
    pub json: Option<bool>,
    /// Where to send traces and metrics; nowhere where it is none.
    pub collector: Option<Collector>,
    /// Which traces are kept.
    pub sampling: Sampling,
    /// Whether metrics are shown on a page.
    pub page: bool,
}

/// Where to send what, by OTLP over gRPC.
#[derive(Clone, Default)]
pub struct Collector {
    /// Such as `http://127.0.0.1:4317`, or with https.
    pub endpoint: String,
    /// What is sent along, such as a key.
    pub headers: MetadataMap,
    /// Whether traces are sent.
    pub traces: bool,
    /// Whether metrics are sent.
    pub metrics: bool,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Its address may carry a password, and what is sent along a key.
        f.debug_struct("Collector").field("traces", &self.traces).field("metrics", &self.metrics).finish_non_exhaustive()
    }
}

/// Keeps the exporters alive; [`Exporting::finish`] sends what is left.
#[derive(Debug)]
pub struct Exporting {
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    registry: Option<Registry>,
}

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter of logs does not parse.
    #[error("the log filter {0:?} does not parse: {1}")]
    Filter(String, String),
    /// The exporter cannot be made.
    #[error("nothing can be sent to the collector at this address: {0}")]
    Exporter(String),
    /// The page cannot be made.
    #[error("metrics cannot be shown: {0}")]
    Page(String),
    /// A subscriber is installed already.
    #[error("logs are already set up: {0}")]
    Twice(String),
}

/// Whether spans are traced at all.
static TRACING: AtomicBool = AtomicBool::new(false);

fn tracing_calls() -> bool {
    TRACING.load(Ordering::Relaxed)
}

impl Telemetry {
    /// Whether it can begin.
    pub fn check(&self) -> Result<(), TelemetryError> {
        self.filter()?;
        self.collector.as_ref().map_or(Ok(()), Collector::check)
    }

    fn filter(&self) -> Result<EnvFilter, TelemetryError> {
        let filter = self.log.clone().unwrap_or_else(|| "info".to_owned());
        EnvFilter::try_new(format!("{ALWAYS},{filter}")).map_err(|error| TelemetryError::Filter(filter, error.to_string()))
    }

    /// Begins to log, to send and to count, as far as that is wanted. Once a process; inside a runtime.
    pub fn start(&self) -> Result<Exporting, TelemetryError> {
        let filter = self.filter()?;
        let json = self.json.unwrap_or_else(|| !std::io::stderr().is_terminal());

        let resource = Resource::builder()
            .with_service_name("plybook")
            .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
            // Or the nodes of a deployment would write over one another.
            .with_attribute(KeyValue::new("service.instance.id", Uuid::new_v4().to_string()))
            .build();
        let notice = Notice::default();
        let traces = self.tracer(&resource, &notice)?;
        let (metrics, registry) = self.meters(&resource, &notice)?;
        let spans = traces.as_ref().map(|provider| {
            let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("plybook"));
            layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false).with_filter(steps::Traced)
        });
        let subscriber = tracing_subscriber::registry().with(layers(filter, json, spans));
        subscriber.try_init().map_err(|error| TelemetryError::Twice(error.to_string()))?;
        if traces.is_some() {
            opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
            TRACING.store(true, Ordering::Relaxed);
        }
        if let Some(provider) = &metrics {
            instruments::begin(provider.meter("plybook"));
        }
        Ok(Exporting { traces, metrics, registry })
    }

    fn tracer(&self, resource: &Resource, notice: &Notice) -> Result<Option<SdkTracerProvider>, TelemetryError> {
        let Some(to) = self.collector.as_ref().filter(|to| to.traces) else { return Ok(None) };
        let built = SpanExporter::builder().with_tonic().with_endpoint(&to.endpoint).with_metadata(to.headers.clone());
        let built = if to.is_https() { built.with_tls_config(ClientTlsConfig::new().with_enabled_roots()) } else { built };
        let exporter = built.build().map_err(|error| TelemetryError::Exporter(error.to_string()))?;
        let exporter = Noticed { exporter, notice: notice.clone() };
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_sampler(self.sampling.sampler());
        Ok(Some(provider.with_resource(resource.clone()).build()))
    }

    fn meters(&self, resource: &Resource, notice: &Notice) -> Result<(Option<SdkMeterProvider>, Option<Registry>), TelemetryError> {
        let sent = self.collector.as_ref().filter(|to| to.metrics);
        if sent.is_none() && !self.page {
            return Ok((None, None));
        }
        let mut provider = SdkMeterProvider::builder().with_resource(resource.clone());
        if let Some(to) = sent {
            let built = MetricExporter::builder().with_tonic().with_endpoint(&to.endpoint).with_metadata(to.headers.clone());
            let built = if to.is_https() { built.with_tls_config(ClientTlsConfig::new().with_enabled_roots()) } else { built };
            let exporter = built.build().map_err(|error| TelemetryError::Exporter(error.to_string()))?;
            provider = provider.with_reader(PeriodicReader::builder(Noticed { exporter, notice: notice.clone() }).build());
        }
        let mut registry = None;
        if self.page {
            let shown = Registry::new();
            let exporter = opentelemetry_prometheus::exporter().with_registry(shown.clone()).scope_info_enabled(false).build();
            provider = provider.with_reader(exporter.map_err(|error| TelemetryError::Page(error.to_string()))?);
            registry = Some(shown);
        }
        Ok((Some(provider.build()), registry))
    }
}

type Layered = Box<dyn Layer<tracing_subscriber::Registry> + Send + Sync>;

/// Who hears of lines and spans. As a list, since a layer that is none (`Option`) would want every span.
fn layers(filter: EnvFilter, json: bool, spans: Option<impl Layer<tracing_subscriber::Registry> + Send + Sync>) -> Vec<Layered> {
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(!json);
    let lines = if json { lines.json().fmt_fields(fields::Fields).boxed() } else { lines.boxed() };
    iter::once(lines.with_filter(filter).boxed()).chain(spans.map(Layer::boxed)).collect()
}

impl Collector {
    /// Whether the exporters, which are made inside a runtime, would take the address. It is not repeated: it may carry a password.
    fn check(&self) -> Result<(), TelemetryError> {
        let wrong = |why: &str| TelemetryError::Exporter(why.to_owned());
        let endpoint = Endpoint::from_shared(self.endpoint.clone()).map_err(|error| wrong(&error.to_string()))?;
        if endpoint.uri().host().is_none_or(str::is_empty) { Err(wrong("it names no host")) } else { Ok(()) }
    }

    fn is_https(&self) -> bool {
        self.endpoint.starts_with("https://")
    }
}

impl Exporting {
    /// Shows metrics and health there, if there is a page.
    pub fn show(&self, at: PageAddress, readiness: Arc<Readiness>) -> Option<Page> {
        self.registry.clone().map(|registry| at.serve(registry, readiness))
    }

    /// Sends what is left. Waits a few seconds at most where the collector is away.
    pub async fn finish(self) {
        let Exporting { traces, metrics, registry: _ } = self;
        // Each blocks while it sends.
        let traces = tokio::task::spawn_blocking(move || traces.is_none_or(|provider| provider.shutdown().is_ok()));
        let metrics = tokio::task::spawn_blocking(move || metrics.is_none_or(|provider| provider.shutdown().is_ok()));
        let (traces, metrics) = tokio::join!(traces, metrics);
        if !matches!((traces, metrics), (Ok(true), Ok(true))) {
            tracing::warn!("some traces or metrics were not delivered");
        }
    }
}

/// The id by which this call is found in traces, if it is traced.
pub fn current_trace() -> Option<String> {
    let context = tracing::Span::current().context();
    let span = context.span().span_context().clone();
    span.is_valid().then(|| span.trace_id().to_string())
}

/// The id by which this call is found in traces and logs.
pub fn trace_id() -> String {
    current_trace().unwrap_or_else(|| Uuid::new_v4().simple().to_string())
}

/// Says in the call's span which game it is about.
pub fn record_game(game: Uuid) {
    calls::answers_of(game);
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

/// Says that refused requests are not remembered: `since` the last time that this was said.
pub fn tell_lost_refusals(since: u64, total: u64) {
    tracing::warn!(lost = since, total, "refused requests were not remembered");
}

/// Says in the call's span why it was refused, and counts it.
pub fn record_refusal(reason: &'static str) {
    let reason = reason.strip_prefix("ERROR_REASON_").unwrap_or(reason);
    tracing::Span::current().record("outcome", reason);
    instruments::count_refusal(reason);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tracing::Span;
    use tracing_subscriber::layer::Identity;

    use super::*;

    fn steps_and_calls(log: &str, check: impl FnOnce(Span, Span)) {
        let telemetry = Telemetry { log: Some(log.to_owned()), ..Telemetry::default() };
        let layers = layers(telemetry.filter().unwrap(), true, None::<Identity>);
        let subscriber = tracing_subscriber::registry().with(layers);
        tracing::subscriber::with_default(subscriber, || check(step!("load"), calls::untraced_span("a/b")));
    }

    #[test]
    fn a_span_that_nobody_reads_is_none() {
        steps_and_calls("info", |step, call| assert!(step.is_disabled() && call.is_disabled()));
        steps_and_calls("debug", |step, call| assert!(step.is_disabled() && !call.is_disabled(), "lines of DEBUG have their call"));
    }
}
