//! The collector, which may be away.
//!
//! Invariant: that it is away is said once, and once that it is back, however many batches fail meanwhile and of whichever signal.
//! Nobody but the exporter's own thread waits for it.

use std::fmt::{self, Display};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::Temporality;
use opentelemetry_sdk::metrics::data::ResourceMetrics;
use opentelemetry_sdk::metrics::exporter::PushMetricExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// What is sent to a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Spans.
    Traces = 1,
    /// Numbers.
    Metrics = 2,
}

/// Which signals did not arrive when last sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Notice(Arc<AtomicU8>);

impl Notice {
    fn heard(&self, signal: Signal, answer: &Result<(), impl Display>) {
        let bit = signal as u8;
        match answer {
            Ok(()) => {
                if self.0.fetch_and(!bit, Ordering::Relaxed) == bit {
                    tracing::info!("the collector is back");
                }
            }
            Err(why) => {
                let before = self.0.fetch_or(bit, Ordering::Relaxed);
                if before == 0 {
                    tracing::warn!(%why, ?signal, "the collector does not take what it is sent: it is lost until the collector is back");
                } else {
                    tracing::debug!(%why, ?signal, "the collector is still away");
                }
            }
        }
    }
}

/// Sends, and notices whether it was received.
pub(super) struct Noticed<E> {
    pub(super) exporter: E,
    pub(super) notice: Notice,
}

impl<E> fmt::Debug for Noticed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers of an exporter may carry a key.
        f.debug_struct("Noticed").finish_non_exhaustive()
    }
}

impl<E: SpanExporter> SpanExporter for Noticed<E> {
    fn export(&self, batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        let sent = self.exporter.export(batch);
        async move {
            let answer = sent.await;
            self.notice.heard(Signal::Traces, &answer);
            answer
        }
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: PushMetricExporter> PushMetricExporter for Noticed<E> {
    fn export(&self, metrics: &ResourceMetrics) -> impl Future<Output = OTelSdkResult> + Send {
        let sent = self.exporter.export(metrics);
        async move {
            let answer = sent.await;
            self.notice.heard(Signal::Metrics, &answer);
            answer
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}

#[cfg(test)]
mod tests {
    use super::{Notice, Signal};
    use std::sync::atomic::Ordering;

    /// One is taken, the other not: that is no back and forth.
    #[test]
    fn each_signal_fails_and_recovers_by_itself() {
        let notice = Notice::default();
        let heard = |signal, answer: Result<(), &str>| {
            notice.heard(signal, &answer);
            notice.0.load(Ordering::Relaxed)
        };
        assert_eq!(heard(Signal::Metrics, Err("no such service")), 2);
        assert_eq!(heard(Signal::Traces, Ok(())), 2);
        assert_eq!(heard(Signal::Traces, Err("away")), 3);
        assert_eq!(heard(Signal::Metrics, Ok(())), 1);
        assert_eq!(heard(Signal::Traces, Ok(())), 0);
    }
}
