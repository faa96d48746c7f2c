//! Every metric of a node: name, kind, unit, labels.
//!
//! Invariant: what is not in this table is not exported, and each label takes a bounded number of values: no game, no player, no
//! tenant. README.md has the same table, and a test compares it with both this one and the page of a running node.

/// What a metric does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// It only grows.
    Counter,
    /// It goes up and down, and the nodes' values add up.
    UpDown,
    /// It goes up and down, and means something on each node alone.
    Gauge,
    /// How often it was at most so much.
    Histogram(&'static [f64]),
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// As OpenTelemetry has it.
    pub name: &'static str,
    /// What it does.
    pub kind: Kind,
    /// In the notation of UCUM: `s`, `By`, or what is counted in braces.
    pub unit: &'static str,
    /// The labels that it may have.
    pub labels: &'static [&'static str],
    /// What it says.
    pub help: &'static str,
}

/// From a remembered move to a call that waits for a slow database.
const CALL_SECONDS: Kind =
    Kind::Histogram(&[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0]);
const STORE_SECONDS: Kind = Kind::Histogram(&[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0]);
const DELAY_SECONDS: Kind = Kind::Histogram(&[0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0]);
/// From bots, who begin at once, to people who come back the next day.
const PATIENCE_SECONDS: Kind = Kind::Histogram(&[0.1, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 86_400.0]);
const ENTRIES: Kind = Kind::Histogram(&[2.0, 5.0, 10.0, 20.0, 35.0, 50.0, 75.0, 100.0, 150.0, 250.0, 500.0, 1_000.0, 5_000.0]);

macro_rules! metrics {
    ($($name:ident: $otel:literal, $kind:expr, $unit:literal, [$($label:literal),*], $help:literal;)+) => {
        $(pub(super) const $name: Metric = Metric { name: $otel, kind: $kind, unit: $unit, labels: &[$($label),*], help: $help };)+
        /// All of them, in the order in which pages list them.
        pub const METRICS: &[Metric] = &[$($name),+];
    };
}

use Kind::{Counter, Gauge, UpDown};

metrics! {
    CALL_DURATION: "rpc.server.call.duration", CALL_SECONDS, "s", ["rpc.system.name", "rpc.method", "rpc.response.status_code"],
        "How long calls took, to the head of the answer: of a stream, until it was open";
    CALL_REFUSALS: "plybook.call.refusals", Counter, "{refusal}", ["reason", "rpc.method"],
        "Calls and streams that ended with this reason; STALE_SEQ tells how stale clients are";
    AUTH_FAILURES: "plybook.auth.failures", Counter, "{call}", ["reason"], "Calls whose credentials were not accepted";
    GAMES_CREATED: "plybook.game.created", Counter, "{game}", ["ruleset"], "Games that this node created, forks and rematches too";
    FIRST_MOVE: "plybook.game.first_move.delay", PATIENCE_SECONDS, "s", ["ruleset"], "From a game's creation to its first move";
    GAME_LENGTH: "plybook.game.length", ENTRIES, "{entry}", ["ruleset", "ending"], "Entries of games when they were closed, and how they ended";
    GAMES_REMEMBERED: "plybook.game.remembered", UpDown, "{game}", ["state"], "Games in this node's memory; active ones can still be played";
    CACHE_LOOKUPS: "plybook.cache.lookups", Counter, "{lookup}", ["cache", "result"], "Looks into this node's memory";
    CACHE_SIZE: "plybook.cache.size", UpDown, "By", ["cache"], "About how much memory remembered games take";
    SNAPSHOTS: "plybook.snapshot.uses", Counter, "{snapshot}", ["fate"], "Snapshots saved, used and ignored";
    STORE_DURATION: "db.client.operation.duration", STORE_SECONDS, "s", ["db.system.name", "db.operation.name", "error.type"],
        "How long the store took to answer, waiting for a connection included";
    CONNECTIONS: "db.client.connection.count", UpDown, "{connection}", ["db.client.connection.pool.name", "db.client.connection.state"],
        "Connections to the database";
    CONNECTIONS_MAX: "db.client.connection.max", UpDown, "{connection}", ["db.client.connection.pool.name"], "Most connections to the database";
    READY: "plybook.node.ready", Gauge, "", [], "1 while the database answers and has this build's schema, else 0";
    APPEND_BATCHES: "plybook.append.batches", Counter, "{batch}", ["size"], "Batches of appends by size: of this many entries and more, up to twice as many";
    APPEND_ENTRIES: "plybook.append.entries", Counter, "{entry}", [], "Entries in those batches";
    APPEND_QUEUE: "plybook.append.queue.length", UpDown, "{entry}", [], "Appends that wait for a batch";
    APPEND_REFUSED: "plybook.append.refused", Counter, "{entry}", [], "Appends that found the queue full";
    REPLICA: "plybook.replica.questions", Counter, "{question}", ["result"], "Questions of history that the standby answered, and that the database had to";
    STREAMS_OPEN: "plybook.stream.open", UpDown, "{stream}", [], "Open streams: of games, and feeds";
    STREAMS_LAG: "plybook.stream.lag", UpDown, "{entry}", [], "Entries that are known here and not yet sent, over all streams of games";
    STREAMS_LAG_MAX: "plybook.stream.lag_max", Gauge, "{entry}", [], "The same of the stream that is furthest behind";
    FEEDS: "plybook.feed.followed", UpDown, "{feed}", [], "Tenants whose feed is followed on this node";
    FEED_HIDDEN: "plybook.feed.hidden.age", Gauge, "s", [], "For how long stored entries could not be shown in a feed";
    FEED_HORIZON: "plybook.feed.horizon.age", Gauge, "s", [], "For how long one and the same transaction has kept them from it";
    WAKES: "plybook.wake.hints", Counter, "{hint}", ["direction"], "Hints between nodes: published, lost before they were sent, heard";
    WAKE_RECONNECTS: "plybook.wake.reconnects", Counter, "{connection}", [], "How often hints of other nodes may have been missed until a line was back";
    DUE_DELAY: "plybook.due.delay", DELAY_SECONDS, "s", ["kind"], "From the time when a game was due until a node looked after it";
    DUE_LAG: "plybook.due.lag", Gauge, "s", [], "For how long the queue's first row had been due when this node last looked";
    CHORES: "plybook.chores", Counter, "{chore}", ["chore"], "What this node did by itself: deadlines settled, bots' moves, fallbacks, claims";
    BOT_NODES: "plybook.bot.nodes", Counter, "{node}", [], "Nodes that strategies looked at";
    BOT_SEARCHES: "plybook.bot.searches", Counter, "{search}", ["outcome"], "Choices and analyses, and how they went";
    BOT_JOBS: "plybook.bot.jobs", UpDown, "{game}", [], "Games in which bots are at work on this node";
    VERIFICATIONS: "plybook.verification.verdicts", Counter, "{book}", ["verdict"], "Books that were checked, and what was found";
    REFUSALS_LOST: "plybook.refusal_log.lost", Counter, "{refusal}", [], "Refused requests that could not be remembered";
}

impl Metric {
    /// Its name on a Prometheus page.
    pub fn prometheus_name(&self) -> String {
        let unit = match self.unit {
            "s" => "_seconds",
            "By" => "_bytes",
            _ => "",
        };
        let total = if self.kind == Counter { "_total" } else { "" };
        format!("{}{unit}{total}", self.name.replace('.', "_"))
    }
}
