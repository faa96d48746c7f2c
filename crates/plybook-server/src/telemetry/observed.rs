//! Numbers that a node has anyway, read when somebody looks.
//!
//! Invariant: looking costs the looker: nothing here is written for the sake of telemetry, but read.

use std::sync::Arc;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter};
use plybook_core::game::State;
use plybook_store::{Store, Wakes};

use super::instruments::meter;
use super::metrics as m;
use super::metrics::{Kind, Metric};
use crate::games::Games;
use crate::games::snapshots::Fate;
use crate::readiness::Readiness;
use crate::refusal_log::Lost;
use crate::streams::{Hub, Slots};
use crate::thinking::Thinking;
use crate::upkeep::Chore;

/// What is looked at.
pub(crate) struct Observed {
    pub(crate) games: Arc<Games>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) slots: Slots,
    pub(crate) thinking: Arc<Thinking>,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) refusals: Lost,
}

/// Whole numbers, as one callback shows them.
type Show<'a> = &'a dyn AsyncInstrument<u64>;

/// From now on these numbers are shown to whoever looks, if anybody may.
pub(crate) fn observe(observed: Observed) {
    let Some(meter) = meter() else { return };
    let Observed { games, hub, slots, thinking, readiness, refusals } = observed;
    let store = Arc::clone(games.store());
    of_games(meter, &games);
    of_store(meter, &store);
    of_streams(meter, &hub, slots);
    of_wakes(meter, games.wakes(), &hub);
    of_chores(meter, &games, &thinking);
    whole(meter, m::READY, move |show| show.observe(u64::from(readiness.is_ready()), &[]));
    whole(meter, m::REFUSALS_LOST, move |show| show.observe(refusals.count(), &[]));
}

fn whole(meter: &Meter, metric: Metric, read: impl Fn(Show<'_>) + Send + Sync + 'static) {
    macro_rules! build {
        ($kind:ident, $cast:ty) => {{
            let built = meter.$kind(metric.name).with_unit(metric.unit).with_description(metric.help);
            built.with_callback(move |show| read(&As::<$cast>(show))).build();
        }};
    }
    match metric.kind {
        Kind::Counter => build!(u64_observable_counter, u64),
        Kind::UpDown => build!(i64_observable_up_down_counter, i64),
        Kind::Gauge | Kind::Histogram(_) => build!(u64_observable_gauge, u64),
    }
}

fn seconds(meter: &Meter, metric: Metric, read: impl Fn() -> f64 + Send + Sync + 'static) {
    let built = meter.f64_observable_gauge(metric.name).with_unit(metric.unit).with_description(metric.help);
    built.with_callback(move |show| show.observe(read(), &[])).build();
}

/// Whole numbers for an instrument that wants others.
struct As<'a, T>(&'a dyn AsyncInstrument<T>);

impl AsyncInstrument<u64> for As<'_, u64> {
    fn observe(&self, value: u64, labels: &[KeyValue]) {
        self.0.observe(value, labels);
    }
}

impl AsyncInstrument<u64> for As<'_, i64> {
    fn observe(&self, value: u64, labels: &[KeyValue]) {
        self.0.observe(i64::try_from(value).unwrap_or(i64::MAX), labels);
    }
}

fn label(key: &'static str, value: &'static str) -> [KeyValue; 1] {
    [KeyValue::new(key, value)]
}

fn of_games(meter: &Meter, games: &Arc<Games>) {
    let remembering = Arc::clone(games);
    whole(meter, m::GAMES_REMEMBERED, move |show| {
        let remembered = remembering.remembered();
        for (state, name) in [(State::Active, "active"), (State::Finished, "finished"), (State::Closed, "closed")] {
            show.observe(remembered.count(state), &label("state", name));
        }
    });
    let looking = Arc::clone(games);
    whole(meter, m::CACHE_LOOKUPS, move |show| {
        for (cache, lookups) in looking.lookups().all() {
            for (result, count) in [("hit", lookups.hits()), ("miss", lookups.misses())] {
                show.observe(count, &[KeyValue::new("cache", cache), KeyValue::new("result", result)]);
            }
        }
    });
    let weighing = Arc::clone(games);
    whole(meter, m::CACHE_SIZE, move |show| {
        for (cache, bytes) in weighing.cache_bytes() {
            show.observe(bytes, &label("cache", cache));
        }
    });
    let saving = Arc::clone(games);
    whole(meter, m::SNAPSHOTS, move |show| {
        for (fate, name) in Fate::ALL {
            show.observe(saving.snapshots().count(fate), &label("fate", name));
        }
    });
}

fn of_store(meter: &Meter, store: &Arc<dyn Store>) {
    let read = |metric, show: fn(Show<'_>, plybook_store::Vitals)| {
        let store = Arc::clone(store);
        whole(meter, metric, move |shown| show(shown, store.vitals()));
    };
    read(m::CONNECTIONS, |show, vitals| {
        for (state, count) in [("used", vitals.connections_used), ("idle", vitals.connections_idle)] {
            let pool = KeyValue::new("db.client.connection.pool.name", vitals.system);
            show.observe(count, &[pool, KeyValue::new("db.client.connection.state", state)]);
        }
    });
    read(m::CONNECTIONS_MAX, |show, vitals| {
        show.observe(vitals.connections_max, &label("db.client.connection.pool.name", vitals.system));
    });
    read(m::APPEND_BATCHES, |show, vitals| {
        for (power, count) in (0u32..).zip(vitals.appends.sizes) {
            show.observe(count, &[KeyValue::new("size", i64::from(1u32 << power))]);
        }
    });
    read(m::APPEND_ENTRIES, |show, vitals| show.observe(vitals.appends.entries, &[]));
    read(m::APPEND_QUEUE, |show, vitals| show.observe(vitals.appends_waiting, &[]));
    read(m::APPEND_REFUSED, |show, vitals| show.observe(vitals.appends.refused, &[]));
    read(m::REPLICA, |show, vitals| {
        for (result, count) in [("served", vitals.replica.served), ("passed_on", vitals.replica.passed_on)] {
            show.observe(count, &label("result", result));
        }
    });
}

fn of_streams(meter: &Meter, hub: &Arc<Hub>, slots: Slots) {
    whole(meter, m::STREAMS_OPEN, move |show| show.observe(slots.taken(), &[]));
    let standing = Arc::clone(hub);
    whole(meter, m::STREAMS_LAG, move |show| show.observe(standing.standings().lag().total, &[]));
    let standing = Arc::clone(hub);
    whole(meter, m::STREAMS_LAG_MAX, move |show| show.observe(standing.standings().lag().most, &[]));
    let following = Arc::clone(hub);
    whole(meter, m::FEEDS, move |show| show.observe(following.feeds().count() as u64, &[]));
    let hiding = Arc::clone(hub);
    seconds(meter, m::FEED_HIDDEN, move || hiding.feeds().held_up().unwrap_or_default().as_secs_f64());
    let waiting = Arc::clone(hub);
    seconds(meter, m::FEED_HORIZON, move || waiting.feeds().horizon_still().unwrap_or_default().as_secs_f64());
}

fn of_wakes(meter: &Meter, wakes: &Arc<dyn Wakes>, hub: &Arc<Hub>) {
    let (sending, hearing) = (Arc::clone(wakes), Arc::clone(hub));
    whole(meter, m::WAKES, move |show| {
        let sent = sending.counts();
        for (direction, count) in [("published", sent.published), ("lost", sent.lost), ("heard", hearing.heard().hints())] {
            show.observe(count, &label("direction", direction));
        }
    });
    let hearing = Arc::clone(hub);
    whole(meter, m::WAKE_RECONNECTS, move |show| show.observe(hearing.heard().gaps(), &[]));
}

fn of_chores(meter: &Meter, games: &Arc<Games>, thinking: &Arc<Thinking>) {
    let doing = Arc::clone(games);
    whole(meter, m::CHORES, move |show| {
        for (chore, name) in Chore::ALL {
            show.observe(doing.upkeep().count(chore), &label("chore", name));
        }
    });
    let waiting = Arc::clone(games);
    seconds(meter, m::DUE_LAG, move || waiting.upkeep().due_lag(waiting.clock().now()).as_secs_f64());
    let playing = Arc::clone(games);
    whole(meter, m::BOT_JOBS, move |show| show.observe(playing.bot_jobs() as u64, &[]));
    let spending = Arc::clone(thinking);
    whole(meter, m::BOT_NODES, move |show| show.observe(spending.nodes(), &[]));
    let searching = Arc::clone(thinking);
    whole(meter, m::BOT_SEARCHES, move |show| {
        let outcomes = [
            ("answered", searching.answers()),
            ("stopped", searching.stopped()),
            ("panicked", searching.panics()),
            ("sent_away", searching.sent_away()),
        ];
        for (outcome, count) in outcomes {
            show.observe(count, &label("outcome", outcome));
        }
    });
}
