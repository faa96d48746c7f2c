//! A name and a number for everything that the core accepts.
//!
//! Invariant: nothing that comes from outside is kept before it was held against its limit.

/// Most seats at a table: a track's cell keeps one bit a seat in a byte.
pub const SEATS_MAX: u8 = 8;
/// Longest side of a board, in cells.
pub const SIDE_MAX: u16 = 1_000;
/// Longest mark, in bytes.
pub const MARK_BYTES_MAX: usize = 16;
/// Longest player id, in bytes.
pub const PLAYER_BYTES_MAX: usize = 64;
/// Longest principal, in bytes.
pub const PRINCIPAL_BYTES_MAX: usize = 64;
/// Longest notation of an action, in bytes.
pub const NOTATION_BYTES_MAX: usize = 32;
/// Longest header or line, in bytes: both fit into an index page beside their key.
pub const LINE_BYTES_MAX: usize = 2_400;
/// Shortest nonce that a seat adds to the seed, in bytes: shorter ones can be guessed from their commitment.
pub const NONCE_BYTES_MIN: usize = 16;
/// Longest nonce, in bytes.
pub const NONCE_BYTES_MAX: usize = 64;
/// Longest time that seats may have for a step of joining, in seconds: 30 days.
pub const JOIN_SECONDS_MAX: u32 = 2_592_000;
/// Longest time that a clock deals with at once, in milliseconds: 366 days.
pub const CLOCK_MS_MAX: u64 = 366 * 24 * 60 * 60 * 1_000;
/// Most days that a turn of a correspondence game may take.
pub const CLOCK_DAYS_MAX: u32 = 366;
/// Most byo-yomi periods of a seat.
pub const BYO_YOMI_PERIODS_MAX: u32 = 100;
/// Most nodes that a bot may spend on a choice.
pub const BOT_NODES_MAX: u64 = 1_000_000_000;
/// Longest grace of a seat that is away, in milliseconds: 30 days.
pub const GRACE_MS_MAX: u64 = 2_592_000_000;
/// Most reports of presence in a game.
pub const PRESENCE_REPORTS_MAX: u32 = 1_000;
/// Longest time that a finished game may wait to be reopened, in milliseconds: 366 days.
pub const CLOSE_AFTER_MS_MAX: u64 = 31_622_400_000;
/// Most moves that a forked game begins with: they are written in one transaction.
pub const GIVEN_MAX: u32 = 100_000;
/// Most entries of a game. A board with as many pieces still fits into a reply of 4 MiB.
pub const ENTRIES_MAX: u32 = 200_000;
/// Most moves taken back by one undo.
pub const UNDO_PLIES_MAX: usize = 100;
/// Entries between two snapshots of a long game.
pub const HISTORY_STEP: u32 = 1_024;
/// Standing moves that a snapshot carries: more than one undo takes back.
pub const SNAPSHOT_TAIL: usize = 256;
/// Largest snapshot, in bytes; of a game whose snapshot is larger there is none.
pub const SNAPSHOT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most jumps on a track.
pub const JUMPS_MAX: usize = 100;
/// Most dice in a throw.
pub const DICE_MAX: u8 = 8;
/// Most sides of a die.
pub const SIDES_MAX: u8 = 100;
/// Most heads that are signed together: the path of each has nine digests at most.
pub const HEADS_SIGNED_MAX: u32 = 512;
