//! What an operator says of logs, traces, metrics and health.
//!
//! Invariant: the variables are OpenTelemetry's own where it has one; what is sent along with traces is a secret and is never
//! printed.

use std::net::SocketAddr;

use clap::ValueEnum;
use plybook_server::telemetry::{Collector, Sampler, Sampling, Telemetry};
use tonic::metadata::{AsciiMetadataKey, AsciiMetadataValue, MetadataMap};

use crate::exit::usage;
use crate::serve::address;

/// Logs, traces, metrics and health.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Telemetry")]
pub(super) struct TelemetryArgs {
    /// Which logs, such as info or plybook_server=debug; administrative calls are told in any case, unless plybook_audit=off is said
    #[arg(long, env = "PLYBOOK_LOG", default_value = "info")]
    log: String,
    /// How logs look; auto is human on a terminal and JSON elsewhere
    #[arg(long, env = "PLYBOOK_LOG_FORMAT", default_value = "auto")]
    log_format: LogFormat,
    /// Where to show /metrics for Prometheus, /livez and /readyz, host:port, without credentials; nowhere where it is not given
    #[arg(long, env = "PLYBOOK_METRICS_LISTEN", value_parser = address)]
    metrics_listen: Option<SocketAddr>,
    /// Where to send traces and metrics by OTLP over gRPC, such as http://127.0.0.1:4317, or with https
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp_endpoint: Option<String>,
    /// What to send along, such as api-key=…, several with commas between them
    #[arg(long, env = "OTEL_EXPORTER_OTLP_HEADERS", hide_env_values = true)]
    otlp_headers: Option<String>,
    /// Whether traces are sent there
    #[arg(long, env = "OTEL_TRACES_EXPORTER", default_value = "otlp")]
    traces_exporter: Exporter,
    /// Whether metrics are sent there
    #[arg(long, env = "OTEL_METRICS_EXPORTER", default_value = "otlp")]
    metrics_exporter: Exporter,
    /// Which traces are kept: those with parentbased_ as the caller has decided, where it has
    #[arg(long, env = "OTEL_TRACES_SAMPLER", default_value = "parentbased_always_on")]
    traces_sampler: SamplerName,
    /// The part of traces that a sampler by ratio keeps, from 0 to 1
    #[arg(long, env = "OTEL_TRACES_SAMPLER_ARG", default_value = "1", value_parser = part)]
    traces_sampler_arg: f64,
}

/// How logs look.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LogFormat {
    Auto,
    Human,
    Json,
}

/// Whether a signal is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Exporter {
    Otlp,
    None,
}

/// As OpenTelemetry names them.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum SamplerName {
    AlwaysOn,
    AlwaysOff,
    Traceidratio,
    ParentbasedAlwaysOn,
    ParentbasedAlwaysOff,
    ParentbasedTraceidratio,
}

impl TelemetryArgs {
    /// Where metrics and health are to be shown.
    pub(super) const fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics_listen
    }

    /// All but that.
    pub(super) fn read(self) -> anyhow::Result<Telemetry> {
        let json = match self.log_format {
            LogFormat::Auto => None,
            LogFormat::Human => Some(false),
            LogFormat::Json => Some(true),
        };
        let sampler = match self.traces_sampler {
            SamplerName::AlwaysOn => Sampler::AlwaysOn,
            SamplerName::AlwaysOff => Sampler::AlwaysOff,
            SamplerName::Traceidratio => Sampler::Ratio,
            SamplerName::ParentbasedAlwaysOn => Sampler::ParentOrOn,
            SamplerName::ParentbasedAlwaysOff => Sampler::ParentOrOff,
            SamplerName::ParentbasedTraceidratio => Sampler::ParentOrRatio,
        };
        let sampling = Sampling { sampler, ratio: self.traces_sampler_arg };
        Ok(Telemetry { collector: self.collector()?, log: Some(self.log), json, sampling, page: self.metrics_listen.is_some() })
    }

    fn collector(&self) -> anyhow::Result<Option<Collector>> {
        let headers = headers(self.otlp_headers.as_deref().unwrap_or_default())?;
        let Some(endpoint) = self.otlp_endpoint.as_deref().filter(|endpoint| !endpoint.is_empty()) else {
            return if headers.is_empty() { Ok(None) } else { Err(usage("--otlp-headers: --otlp-endpoint is wanted with it")) };
        };
        if !endpoint.starts_with("http://") && !endpoint.starts_with("https://") {
            // An address may carry a password.
            return Err(usage("--otlp-endpoint: the address begins neither with http:// nor with https://"));
        }
        Ok(Some(Collector {
            endpoint: endpoint.to_owned(),
            headers,
            traces: self.traces_exporter == Exporter::Otlp,
            metrics: self.metrics_exporter == Exporter::Otlp,
        }))
    }
}

/// `name=value,name=value`. What is wrong is told by its place alone.
fn headers(text: &str) -> anyhow::Result<MetadataMap> {
    let mut headers = MetadataMap::new();
    for (at, pair) in text.split(',').map(str::trim).enumerate().filter(|(_, pair)| !pair.is_empty()) {
        let read = || {
            let (name, value) = pair.split_once('=')?;
            let name = name.trim().to_ascii_lowercase().parse::<AsciiMetadataKey>().ok()?;
            Some((name, value.trim().parse::<AsciiMetadataValue>().ok()?))
        };
        let (name, value) = read().ok_or_else(|| usage(format!("--otlp-headers: number {} is not name=value", at + 1)))?;
        headers.append(name, value);
    }
    Ok(headers)
}

fn part(text: &str) -> Result<f64, String> {
    let part: f64 = text.parse().map_err(|_| "a number from 0 to 1 is wanted, such as 0.01".to_owned())?;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err("a number from 0 to 1 is wanted, such as 0.01".to_owned()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{headers, part};

    #[test]
    fn headers_are_read_and_what_is_wrong_is_not_echoed() {
        let read = headers(" api-key=a=b , X-Scope = two ,").unwrap();
        assert_eq!(read.get("api-key").unwrap(), "a=b");
        assert_eq!(read.get("x-scope").unwrap(), "two");
        assert_eq!(read.len(), 2);
        for wrong in ["very-secret", "a=1,very secret=2", "a=very-secret\u{7}"] {
            let why = headers(wrong).unwrap_err().to_string();
            assert!(why.contains("number") && !why.contains("secret"), "{why}");
        }
    }

    #[test]
    fn a_part_is_no_less_than_nothing_and_no_more_than_all() {
        assert_eq!((part("0"), part("0.01"), part("1")), (Ok(0.0), Ok(0.01), Ok(1.0)));
        for wrong in ["", "-0.1", "1.1", "NaN", "inf", "much"] {
            assert!(part(wrong).is_err(), "{wrong}");
        }
    }
}
