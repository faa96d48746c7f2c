//! What a call does, step by step: check, load, decide, append, wake.
//!
//! Invariant: a step is a span only inside a call whose trace is sampled; anywhere else it costs a look at a cached flag, and it
//! never has a line in the log.

use opentelemetry::trace::TraceContextExt as _;
use tracing::subscriber::Interest;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Context, Filter};

/// The target of every step.
pub(crate) const STEP: &str = "plybook_step";

/// A step of a call, by name.
macro_rules! step {
    ($name:literal) => {
        tracing::info_span!(target: "plybook_step", $name)
    };
}

pub(crate) use step;

/// Which spans are traced: our own calls, and of sampled calls the steps. The transport's would trace the exporter itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traced;

impl Traced {
    fn is_ours(metadata: &Metadata<'_>) -> bool {
        let krate = metadata.target().split("::").next().unwrap_or_default();
        matches!(krate, "plybook" | "plybook_server" | "plybook_store") && *metadata.level() <= Level::INFO
    }
}

impl<S> Filter<S> for Traced {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        match metadata.target() {
            STEP => opentelemetry::Context::map_current(|call| call.span().span_context().is_sampled()),
            _ => Traced::is_ours(metadata),
        }
    }

    fn callsite_enabled(&self, metadata: &'static Metadata<'static>) -> Interest {
        match metadata.target() {
            STEP => Interest::sometimes(),
            _ if Traced::is_ours(metadata) => Interest::always(),
            _ => Interest::never(),
        }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }
}
