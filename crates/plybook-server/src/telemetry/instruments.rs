//! What is counted and measured where it happens.
//!
//! Invariant: where metrics are not wanted each of these functions is one look at an empty cell; where they are, none of
//! them waits for anybody who does more than add.

use std::sync::OnceLock;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use plybook_core::entry::{Body, Entry};
use plybook_core::{Game, Time};
use plybook_store::{DueKind, Error};
use tonic::Code;

use super::calls;
use super::metrics::{
    AUTH_FAILURES, CALL_DURATION, CALL_REFUSALS, DUE_DELAY, FIRST_MOVE, GAME_LENGTH, GAMES_CREATED, Kind, Metric, STORE_DURATION,
    VERIFICATIONS,
};
use crate::refusal::Refusal;

static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

struct Instruments {
    calls: Histogram<f64>,
    refusals: Counter<u64>,
    auth_failures: Counter<u64>,
    created: Counter<u64>,
    first_move: Histogram<f64>,
    length: Histogram<u64>,
    store: Histogram<f64>,
    due_delay: Histogram<f64>,
    verdicts: Counter<u64>,
    meter: Meter,
}

/// From now on it is counted. Once a process.
pub(super) fn begin(meter: Meter) {
    let seconds = |metric: Metric| {
        let built = meter.f64_histogram(metric.name).with_unit(metric.unit).with_description(metric.help);
        built.with_boundaries(bounds(metric)).build()
    };
    let counter = |metric: Metric| meter.u64_counter(metric.name).with_unit(metric.unit).with_description(metric.help).build();
    let length = meter.u64_histogram(GAME_LENGTH.name).with_unit(GAME_LENGTH.unit).with_description(GAME_LENGTH.help);
    let instruments = Instruments {
        calls: seconds(CALL_DURATION),
        refusals: counter(CALL_REFUSALS),
        auth_failures: counter(AUTH_FAILURES),
        created: counter(GAMES_CREATED),
        first_move: seconds(FIRST_MOVE),
        length: length.with_boundaries(bounds(GAME_LENGTH)).build(),
        store: seconds(STORE_DURATION),
        due_delay: seconds(DUE_DELAY),
        verdicts: counter(VERIFICATIONS),
        meter,
    };
    // A rate sees the first one only where there was none before.
    instruments.auth_failures.add(0, &[KeyValue::new("reason", "no credential")]);
    for verdict in ["verified", "broken", "illegal_now", "unsupported"] {
        instruments.verdicts.add(0, &[KeyValue::new("verdict", verdict)]);
    }
    // Only one subscriber can be installed, and so only one of these.
    let _ = INSTRUMENTS.set(instruments);
}

fn bounds(metric: Metric) -> Vec<f64> {
    match metric.kind {
        Kind::Histogram(bounds) => bounds.to_vec(),
        Kind::Counter | Kind::UpDown | Kind::Gauge => Vec::new(),
    }
}

/// Whether anybody wants to know.
pub(super) fn counting() -> bool {
    INSTRUMENTS.get().is_some()
}

pub(super) fn meter() -> Option<&'static Meter> {
    INSTRUMENTS.get().map(|instruments| &instruments.meter)
}

/// A call was answered, or its stream opened.
pub(super) fn count_call(method: &'static str, code: Code, took: Duration) {
    if let Some(instruments) = INSTRUMENTS.get() {
        let labels = [
            KeyValue::new("rpc.system.name", "grpc"),
            KeyValue::new("rpc.method", method),
            KeyValue::new("rpc.response.status_code", calls::code_name(code)),
        ];
        instruments.calls.record(took.as_secs_f64(), &labels);
    }
}

/// A call or stream ends with this reason.
pub(super) fn count_refusal(reason: &'static str) {
    if let Some(instruments) = INSTRUMENTS.get() {
        instruments.refusals.add(1, &[KeyValue::new("reason", reason), KeyValue::new("rpc.method", calls::current_method())]);
    }
}

/// A call was refused for its credentials. There are so many sentences for that as the authenticator has.
pub fn count_auth_failure(refusal: &Refusal) {
    if let Some(instruments) = INSTRUMENTS.get() {
        let reason = match refusal {
            Refusal::CredentialsMissing => "no credential",
            Refusal::CredentialsInvalid { why } => why,
            _ => "the credential could not be looked at",
        };
        instruments.auth_failures.add(1, &[KeyValue::new("reason", reason)]);
    }
}

/// The store answered.
pub(super) fn count_store(system: &'static str, operation: &'static str, took: Duration, error: Option<&Error>) {
    let Some(instruments) = INSTRUMENTS.get() else { return };
    let labels = [KeyValue::new("db.system.name", system), KeyValue::new("db.operation.name", operation)];
    match error {
        None => instruments.store.record(took.as_secs_f64(), &labels),
        Some(error) => {
            let [system, operation] = labels;
            instruments.store.record(took.as_secs_f64(), &[system, operation, KeyValue::new("error.type", error_type(error))]);
        }
    }
}

const fn error_type(error: &Error) -> &'static str {
    match error {
        Error::Unavailable(_) => "unavailable",
        Error::Busy { .. } => "busy",
        Error::Corrupt(_) => "corrupt",
        Error::Missing { .. } => "missing",
        Error::Expired => "expired",
        Error::Failed(_) => "failed",
        Error::Config(_) => "config",
    }
}

/// A game was created here.
pub fn count_created(ruleset: &str) {
    if let Some(instruments) = INSTRUMENTS.get() {
        instruments.created.add(1, &[KeyValue::new("ruleset", ruleset.to_owned())]);
    }
}

/// An entry was stored, and the game stands behind it. The first move and the end of a game tell something.
pub fn count_appended(game: &Game, entry: &Entry) {
    let Some(instruments) = INSTRUMENTS.get() else { return };
    let ruleset = || KeyValue::new("ruleset", game.header().ruleset.name.clone());
    if matches!(entry.body, Body::Move(_)) && game.undos() == 0 && game.standing().len() == 1 {
        let waited = entry.time.unix_ms().saturating_sub(game.header().created.unix_ms());
        instruments.first_move.record(Duration::from_millis(waited).as_secs_f64(), &[ruleset()]);
    }
    if entry.closes() {
        let ending = game.outcome().map_or_else(|| "none".to_owned(), |outcome| outcome.reason.as_str().to_owned());
        instruments.length.record(u64::from(entry.seq.0), &[ruleset(), KeyValue::new("ending", ending)]);
    }
}

/// A row of the queue was claimed.
pub fn count_due(kind: DueKind, due: Time, now: Time) {
    if let Some(instruments) = INSTRUMENTS.get() {
        let late = Duration::from_millis(now.unix_ms().saturating_sub(due.unix_ms()));
        let kind = match kind {
            DueKind::Time => "time",
            DueKind::Bot => "bot",
        };
        instruments.due_delay.record(late.as_secs_f64(), &[KeyValue::new("kind", kind)]);
    }
}

/// A book was checked.
pub fn count_verdict(verdict: &'static str) {
    if let Some(instruments) = INSTRUMENTS.get() {
        instruments.verdicts.add(1, &[KeyValue::new("verdict", verdict)]);
    }
}
