//! What a node accepts, by name.
//!
//! Invariant: everything accepted has a limit here or in [`plybook_core::limits`], and one test goes
//! one over it.

use std::time::Duration;

/// The limits that an operator may set. The defaults suit a small node.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest request, in bytes.
    pub request_bytes: usize,
    /// Largest file that is imported, in bytes.
    pub import_bytes: usize,
    /// Files imported at once: each is in memory until it is stored.
    pub imports: usize,
    /// Connections that have opened; for one more, a stranger or an idle one is let go.
    pub connections: usize,
    /// Connections that open at once; for one more, the oldest of them is let go.
    pub handshakes: usize,
    /// How long a connection may take to open: its TLS handshake, and the first bytes of HTTP.
    pub handshake_timeout: Duration,
    /// How long a connection may be silent before its peer is asked whether it is there.
    pub keepalive: Duration,
    /// And how long it may take to answer.
    pub keepalive_timeout: Duration,
    /// Bytes of a request's headers, as HTTP/2 counts them.
    pub header_bytes: u32,
    /// Calls in flight on one connection.
    pub calls_per_connection: u32,
    /// Calls of one connection in a minute that its caller may leave before they are answered.
    pub left_calls: u32,
    /// Bytes of large answers that wait on one connection for its caller to take them.
    pub waiting_answer_bytes: usize,
    /// How long a large answer may wait to be taken.
    pub waiting_answer_timeout: Duration,
    /// Streams open on this node.
    pub streams: usize,
    /// Streams open of one tenant, on this node.
    pub streams_per_tenant: usize,
    /// Streams open on one connection; fewer than calls, so that a call finds a place beside them.
    pub streams_per_connection: usize,
    /// Memory for remembered games, in bytes, by estimate.
    pub games_cache_bytes: u64,
    /// Memory for remembered earlier positions, in bytes, by estimate.
    pub history_cache_bytes: u64,
    /// How long an unused game is remembered.
    pub games_cache_idle: Duration,
    /// How long a call may take; a deadline of the caller's may end it sooner.
    pub call_timeout: Duration,
    /// How long draining may take.
    pub drain_timeout: Duration,
    /// The longest that a stream waits before it looks into the book unasked.
    pub poll_floor: Duration,
    /// Refused requests remembered of one game, the newest; 0 remembers none.
    pub refusals_per_game: u32,
    /// How long a refused request is remembered.
    pub refusals_keep: Duration,
    /// Refused requests that wait to be written; more are lost, and counted.
    pub refusals_queue: usize,
    /// How often refused requests are looked through for old ones.
    pub refusals_ageing: Duration,
    /// Choices thought about at once, each with some 64 MiB; 0 takes one less than there are cores, and at least one.
    pub thinkers: usize,
    /// Nodes of one move of a bot.
    pub bot_nodes_max: u64,
    /// Nodes of one call for advice.
    pub advice_nodes_max: u64,
    /// How long a call for advice waits for a thinker.
    pub advice_wait: Duration,
    /// Calls for advice that wait.
    pub advice_queue: usize,
    /// Due games that this node looks after at once; 0 leaves them to other nodes.
    pub sweepers: usize,
    /// The longest that a node waits before it looks for due games unasked.
    pub due_poll: Duration,
    /// How long a due game is a node's alone. So much later another one goes on with what a node that died has begun.
    pub due_lease: Duration,
    /// How often a node says that it is there.
    pub heartbeat: Duration,
    /// After so long without a word of any node there was none: an outage.
    pub outage_after: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            request_bytes: 256 * 1024,
            import_bytes: 64 * 1024 * 1024,
            imports: 2,
            connections: 4_096,
            handshakes: 256,
            handshake_timeout: Duration::from_secs(10),
            keepalive: Duration::from_secs(20),
            keepalive_timeout: Duration::from_secs(10),
            header_bytes: 16 * 1024,
            calls_per_connection: 1_000,
            left_calls: 6_000,
            waiting_answer_bytes: 16 * 1024 * 1024,
            waiting_answer_timeout: Duration::from_secs(60),
            streams: 20_000,
            streams_per_tenant: 15_000,
            streams_per_connection: 900,
            games_cache_bytes: 256 * 1024 * 1024,
            history_cache_bytes: 64 * 1024 * 1024,
            games_cache_idle: Duration::from_secs(600),
            call_timeout: Duration::from_secs(30),
            drain_timeout: Duration::from_secs(8),
            poll_floor: Duration::from_secs(5),
            refusals_per_game: 200,
            refusals_keep: Duration::from_secs(30 * 24 * 3600),
            refusals_queue: 1_024,
            refusals_ageing: Duration::from_secs(60),
            thinkers: 0,
            bot_nodes_max: 5_000_000,
            advice_nodes_max: 5_000_000,
            advice_wait: Duration::from_secs(2),
            advice_queue: 64,
            sweepers: 16,
            due_poll: Duration::from_secs(1),
            due_lease: Duration::from_secs(10),
            heartbeat: Duration::from_secs(3),
            outage_after: Duration::from_secs(15),
        }
    }
}

/// Longest credential in a request's metadata, in bytes.
pub const BEARER_BYTES_MAX: usize = 8 * 1024;
/// API keys and names of tenants remembered, those that are none among them.
pub const CREDENTIALS_REMEMBERED: u64 = 10_000;
/// API keys and names of tenants looked up at once: games keep the other connections.
pub const CREDENTIALS_LOOKED_UP: usize = 4;
/// Calls that wait for such a look.
pub const CREDENTIALS_WAITING: usize = 256;
/// How long a token for a seat holds where the caller says nothing.
pub const SEAT_TOKEN_TTL_DEFAULT: Duration = Duration::from_secs(900);
/// Checked tokens remembered.
pub const TOKENS_REMEMBERED: u64 = 20_000;
/// How long one that is not used is remembered.
pub const TOKEN_IDLE: Duration = Duration::from_secs(600);
/// Largest reply, in bytes: what clients accept by default.
pub const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Largest request of calls that need no credential, health and reflection, in bytes.
pub const OPEN_REQUEST_BYTES: usize = 4 * 1024;
/// Answers of so many bytes are large: they count while they wait to be taken.
pub const LARGE_ANSWER_BYTES: usize = 4 * 1024;
/// Calls that a peer has taken back before this node has looked at them; with one more its connection ends.
pub const RESETS_PENDING: usize = 20;
/// Tenants, or addresses, whose calls are counted apart; more share one count.
pub const RATE_KEYS_MAX: usize = 10_000;
/// Streams that a token which is bound to one game has open on a node: it lies in somebody's own client.
pub const STREAMS_PER_TOKEN: usize = 32;
/// Of its tenant's rate such a token has one part in so many.
pub const TOKEN_SHARE: u64 = 10;
/// Entries read from the store at once.
pub const PAGE_ENTRIES: u32 = 500;
/// Entries read for a stream at once.
pub const STREAM_PAGE_ENTRIES: u32 = 64;
/// Games forked at once: a long one is in memory with all its moves until it is stored. The others wait.
pub const FORKS_AT_ONCE: usize = 4;
/// Snapshots waiting to be saved; more are dropped.
pub const SNAPSHOTS_QUEUED: usize = 32;
/// Stored snapshots that are tried before a book is folded from its header.
pub const SNAPSHOT_TRIES: u32 = 3;
/// Recent entries kept for the watchers of one game.
pub const RECENT_ENTRIES: usize = 64;
/// Entries of the feed read from the store at once.
pub const FEED_PAGE_ENTRIES: u32 = 500;
/// Recent entries kept for who follows the feed.
pub const FEED_RECENT_ENTRIES: usize = 4_096;
/// Entries that a stream of the feed passes over before it says how far it is.
pub const FEED_CHECKPOINT_ENTRIES: u32 = 1_000;
/// How long it is before a stream of the feed says so that has passed over any.
pub const FEED_CHECKPOINT_INTERVAL: Duration = Duration::from_secs(5);
/// Between two looks for new entries of the feed, at least.
pub const FEED_PACE: Duration = Duration::from_millis(5);
/// Between two looks while entries are hidden or the store is away, at most.
pub const FEED_RETRY_MAX: Duration = Duration::from_millis(250);
/// After so long who keeps entries from the feed is named in the log.
pub const FEED_HOLDER_AFTER: Duration = Duration::from_secs(3);
/// Between two times that it is named.
pub const FEED_HOLDER_EVERY: Duration = Duration::from_secs(30);
/// Most rulesets in the filter of a feed.
pub const FEED_RULESETS_MAX: usize = 64;
/// Most games, rulesets, strategies or refusals in a page.
pub const PAGE_ITEMS_MAX: u32 = 500;
/// Most games in a page that tells their deadlines: each game is followed to its head for it.
pub const PAGE_DEADLINES_MAX: u32 = 50;
/// Games, rulesets, strategies or refusals in a page where the caller names no number.
pub const PAGE_ITEMS_DEFAULT: u32 = 50;
/// Most legal actions in a page.
pub const PAGE_ACTIONS_MAX: u32 = 2_000;
/// Legal actions in a page where the caller names no number.
pub const PAGE_ACTIONS_DEFAULT: u32 = 500;
/// Most actions of an analysis, and most threats of a seat in it.
pub const ADVICE_ACTIONS_MAX: u32 = 1_000;
/// Actions of an analysis where the caller names no number.
pub const ADVICE_ACTIONS_DEFAULT: u32 = 100;
/// Most cells that are told of an action.
pub const ADVICE_CELLS_MAX: usize = 64;
/// Nodes of an analysis where the caller names no number.
pub const ANALYSIS_NODES_DEFAULT: u64 = 200_000;
/// Longest page token, in bytes.
pub const PAGE_TOKEN_BYTES_MAX: usize = 256;
/// Most parameters in a request.
pub const PARAMS_MAX: usize = 64;
/// Bytes of missed lines in a refusal: error details stay under 2 KiB.
pub const MISSED_BYTES_MAX: usize = 900;
/// Bytes of a caller's text repeated in a refusal.
pub const ECHO_BYTES_MAX: usize = 80;
/// How often an append is decided again after another node came first.
pub const APPEND_ATTEMPTS: u32 = 8;
/// Least and greatest interval of heartbeats, and the one where the caller names none, in seconds.
pub const HEARTBEAT_SECONDS: (u64, u64, u64) = (1, 300, 15);
/// Longest message of a refusal, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 300;
/// Refused requests written at once: moves over SQLite wait for the same writer.
pub const REFUSALS_AT_ONCE: usize = 64;
/// Old refused requests forgotten at once.
pub const REFUSALS_FORGOTTEN_AT_ONCE: u32 = 500;
/// Nodes up to which a bot answers at once, on the node that has appended; others go by the queue.
pub const QUICK_BOT_NODES: u64 = 20_000;
/// So long before a bot's deadline the fallback moves in its place, and at most half of the turn's time before it.
pub const FALLBACK_MARGIN: Duration = Duration::from_secs(2);
/// Games at once in which bots are at work on a node; the turns of others stay in the queue.
pub const BOT_JOBS_MAX: usize = 10_000;
/// How soon a quick bot looks again where the store did not answer: each time twice as late, until its row is due.
pub const BOT_RETRY: Duration = Duration::from_millis(100);
/// Due games claimed at once.
pub const DUE_CLAIMED_AT_ONCE: usize = 64;
/// How soon a due game that could not be handled comes again: each time twice as late.
pub const DUE_BACKOFF: Duration = Duration::from_secs(1);
/// At the latest so late.
pub const DUE_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Request ids under which a rematch is looked for: so many games somebody would have to create to stop it.
pub const REMATCH_IDS: u32 = 1_000;
/// Deadlines of a game settled in a row.
pub const SETTLEMENTS_AT_ONCE: u32 = 256;
/// Outages looked at for one credit.
pub const OUTAGES_ASKED: u32 = 1_000;
