//! The store's trait, and what goes in and comes out.
//!
//! Invariant: every key carries the tenant; no answer tells one tenant anything of another.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use plybook_core::book::Link;
pub use plybook_core::game::State;
use plybook_core::receipt::SignedHead;
use plybook_core::{Digest, Receipt, Seed, Seq, Time, Uuid};

use crate::counts::Vitals;
use crate::credentials::Credentials;
use crate::due::{Arms, Claimed, DueChange, DueSoon, StoredDue};
use crate::error::Error;
pub use crate::feed::{FeedCursor, FeedPage, FeedRow, Heading, Holder};
pub use crate::foreign::{Foreign, ForeignBook, Import};
use crate::notary::Notary;
use crate::outage::Outage;
use crate::refused::{Refused, StoredRefusal};

/// A tenant's number. Without authentication everything belongs to [`TenantId::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TenantId(pub i32);

impl TenantId {
    /// The tenant `default`.
    pub const DEFAULT: TenantId = TenantId(1);
}

/// A game of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameKey {
    /// Whose.
    pub tenant: TenantId,
    /// Which.
    pub game: Uuid,
}

/// What makes a request the same request: its id, and a hash of its canonical body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// Chosen by the caller; unique in its game, for a creation in its tenant.
    pub id: Uuid,
    /// SHA-256 of the canonical request.
    pub hash: [u8; 32],
}

/// A game to be created.
#[derive(Clone, Debug)]
pub struct NewGame {
    /// Where it will be found.
    pub key: GameKey,
    /// The request that creates it.
    pub request: RequestKey,
    /// Entry 1.
    pub header: String,
    /// Its digest.
    pub digest: Digest,
    /// Kept apart from the book until the game is closed.
    pub seed: Seed,
    /// The time in the header.
    pub created: Time,
    /// The ruleset's name, for lists.
    pub ruleset: String,
    /// Its version, from 1.
    pub ruleset_version: u32,
    /// The players in seat order, for lists; empty ids are left out of them.
    pub players: Vec<String>,
    /// The lines that a forked game begins with, entries 2 and on; no caller asked for any of them alone.
    pub given: Vec<Link>,
    /// What is due from the beginning.
    pub arms: Arms,
}

/// What came of a creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Create {
    /// The game is stored.
    Created,
    /// The same request created this game before.
    Repeated(Uuid),
    /// The request id belongs to another request, which created this game.
    Reused(Uuid),
}

/// A line to be appended after the entry before it.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// Of which game.
    pub key: GameKey,
    /// Its number, from 2; it is stored only if entry `seq` − 1 is the last one.
    pub seq: Seq,
    /// The digest of the entry before, which must be the stored one: whoever decided on another head, such
    /// as one that a restore or a failover has lost, must not chain a line to it.
    pub previous: Digest,
    /// The request that it answers.
    pub request: RequestKey,
    /// The text.
    pub line: String,
    /// Its link of the chain.
    pub digest: Digest,
    /// The game's state, where this entry changes it.
    pub state: Option<State>,
    /// What it does to its game's rows in the queue of due games, in the same statement.
    pub due: DueChange,
    /// Who signs it once it is stored, if the caller wants that and the store can.
    pub notary: Option<Arc<dyn Notary>>,
}

impl NewEntry {
    /// What is signed of it.
    pub const fn head(&self) -> SignedHead {
        SignedHead { game: self.key.game, seq: self.seq, digest: self.digest }
    }
}

/// What came of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Append {
    /// The line is durable.
    Stored,
    /// The same, and signed together with what was stored with it. Who wanted a signature and finds it [`Append::Stored`] alone
    /// asks the notary himself.
    Signed(Box<Receipt>),
    /// The same request was answered with this entry before.
    Repeated(StoredEntry),
    /// The request id belongs to another request of this game, answered with this entry.
    Reused(StoredEntry),
    /// Another entry came first, or the entry before is missing or not the one decided on.
    Conflict,
}

/// An entry as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// Its number.
    pub seq: Seq,
    /// The header for entry 1, a line for the others.
    pub line: String,
    /// Its link of the chain.
    pub digest: Digest,
    /// The request that it answered.
    pub request_id: Uuid,
}

/// A game at one of its entries, as far as the store knows it: bytes that the core made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The form of the bytes.
    pub format: u16,
    /// At which entry.
    pub seq: Seq,
    /// The digest of that entry when the snapshot was made.
    pub digest: Digest,
    /// At most [`SNAPSHOT_BYTES_MAX`](plybook_core::limits::SNAPSHOT_BYTES_MAX).
    pub bytes: Vec<u8>,
}

/// What there is of snapshots at or before an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nearest {
    /// The latest in the format asked for.
    Found(Snapshot),
    /// None in that format, but there is one in this.
    OtherFormat(u16),
    /// None.
    Nothing,
}

/// Which games a list is of. What is `None` is not filtered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// With this player at the table.
    pub player: Option<String>,
    /// Of this ruleset.
    pub ruleset: Option<String>,
    /// In this state.
    pub state: Option<State>,
}

/// A game in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Which.
    pub game: Uuid,
    /// Its state.
    pub state: State,
    /// Entry 1; nothing only where the book has lost it.
    pub header: Option<StoredEntry>,
    /// The last entry, entry 1 itself before the first move; nothing only where the book has lost all.
    pub last: Option<StoredEntry>,
    /// Of a closed game the entry before the last one: it ended the game if the last one only closed it.
    pub before_last: Option<StoredEntry>,
    /// What is kept beside the book of a game that was played elsewhere.
    pub foreign: Option<Foreign>,
}

/// Where books are kept.
#[async_trait]
pub trait Store: Credentials {
    /// Creates a game: header, seed, lists and the lines given to it, all or nothing, durable before the answer.
    async fn create(&self, game: NewGame) -> Result<Create, Error>;

    /// Appends one line after the entry that it was decided on, or says why not; durable before the
    /// answer. A request that was answered before is known by its id, whatever else the entry says.
    ///
    /// An error leaves open whether the line was stored: repeat with the same request id.
    async fn append(&self, entry: NewEntry) -> Result<Append, Error>;

    /// Entries after `after`, ascending and without a gap, at most `limit`. Empty at the head and
    /// for a game that does not exist; [`Error::Missing`] where the book has a hole in the way.
    async fn entries(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error>;

    /// The same answer, for whoever knows that there are about so many: a standby may give it. Near the head of a book it
    /// is asked for in vain.
    async fn history(&self, key: GameKey, after: Seq, limit: u32) -> Result<Vec<StoredEntry>, Error> {
        self.entries(key, after, limit).await
    }

    /// The last entry; nothing for a game that does not exist.
    async fn last(&self, key: GameKey) -> Result<Option<StoredEntry>, Error>;

    /// The entry that answered a request of a game, with the hash of that request.
    async fn find_request(&self, key: GameKey, request_id: Uuid) -> Result<Option<(StoredEntry, [u8; 32])>, Error>;

    /// The game that a creating request of the tenant made, with the hash of that request.
    async fn find_creation(&self, tenant: TenantId, request_id: Uuid) -> Result<Option<(Uuid, [u8; 32])>, Error>;

    /// The seed of a game.
    async fn seed(&self, key: GameKey) -> Result<Option<Seed>, Error>;

    /// The state of a game as lists have it: that of its last entry.
    async fn state(&self, key: GameKey) -> Result<Option<State>, Error>;

    /// Games of a tenant, newest id first, those with a smaller id than `before`, at most `limit`. A
    /// game whose book has holes is in its place like any other.
    async fn list(&self, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error>;

    /// Remembers refused requests, the oldest first, and of each of their games only the `keep` newest. What
    /// concerns no game of its tenant is left out. Durable soon, not at once: an answer promises nothing.
    async fn remember(&self, refused: &[Refused], keep: u32) -> Result<(), Error>;

    /// Refused requests of a game, newest first, those with a smaller number than `before`, at most `limit`.
    async fn refusals(&self, key: GameKey, before: Option<i64>, limit: u32) -> Result<Vec<StoredRefusal>, Error>;

    /// Forgets refused requests of all games that are older, the oldest first, at most `limit`; answers how
    /// many they were.
    async fn forget_refusals(&self, older_than: Time, limit: u32) -> Result<u64, Error>;

    /// Keeps a book that was played elsewhere, all or nothing, durable before the answer. Nothing is appended to
    /// it: who appends asks [`Store::foreign`] first. An error leaves open whether it is kept: import it again.
    async fn import(&self, book: ForeignBook) -> Result<Import, Error>;

    /// What is kept beside a book that was played elsewhere; nothing for any other game.
    async fn foreign(&self, key: GameKey) -> Result<Option<Foreign>, Error>;

    /// Keeps a snapshot of a game, in the place of one of the same format and entry. A cache: it need not be
    /// durable, and may be lost at any time.
    async fn save_snapshot(&self, key: GameKey, snapshot: Snapshot) -> Result<(), Error>;

    /// The snapshot of a game in this format at the latest entry that is not after `at_most`. Nobody knows
    /// whether it is right: whoever takes it holds it against the book.
    async fn snapshot(&self, key: GameKey, format: u16, at_most: Seq) -> Result<Nearest, Error>;

    /// Claims rows of any tenant that are due by the database's clock, the one that was due first to begin with, at
    /// most `limit`. Each is this claimer's alone for as long as the lease, at most [`LEASE_MAX`](crate::due::LEASE_MAX);
    /// then it is due again. There may be more, also where fewer than `limit` are answered. A crash of the database may
    /// lose a claim, as if it had never been.
    async fn claim_due(&self, limit: u32, lease: Duration) -> Result<Vec<Claimed>, Error>;

    /// Ends a claim: the row is due again at `next`, or gone. Does nothing and answers no where it is not this
    /// claimer's any more: an append armed it or the game ended, or its lease ran out and another claimed it.
    async fn settle_due(&self, claimed: &Claimed, next: Option<Time>) -> Result<bool, Error>;

    /// Lets a claim's lease end so long from now instead: later, while its claimer is still at work, or at once, for
    /// somebody else. The claim stays what it is, and counts as before. Does nothing and answers no where the row is
    /// not this claimer's any more.
    async fn hold_due(&self, claimed: &Claimed, lease: Duration) -> Result<bool, Error>;

    /// When the next row of any tenant is due, perhaps long ago; nothing where none is there. Until then a claim
    /// finds nothing, unless an append arms an earlier one.
    async fn next_due(&self) -> Result<Option<Time>, Error>;

    /// The rows of a game.
    async fn due_of(&self, key: GameKey) -> Result<Vec<StoredDue>, Error>;

    /// Games of a tenant whose [`DueKind::Time`](crate::due::DueKind::Time) is due before this time, the soonest first,
    /// those behind `after`, at most `limit`. Their true times may be later.
    async fn list_due(&self, tenant: TenantId, before: Time, after: Option<DueSoon>, limit: u32) -> Result<Vec<DueSoon>, Error>;

    /// Says that this node is there. Where nobody had said so for longer than `silence`, by the database's clock, that
    /// gap is recorded and answered, to one node alone.
    async fn beat(&self, node: Uuid, silence: Duration) -> Result<Option<Outage>, Error>;

    /// Recorded outages that have some time between these two in them, the oldest first, at most `limit`.
    async fn outages(&self, from: Time, to: Time, limit: u32) -> Result<Vec<Outage>, Error>;

    /// Entries of a tenant's games behind this one, or from the first, in the order of the feed, at most `limit`. Fewer
    /// where no more can be shown now. [`Error::Expired`] where the entry at the cursor is not there.
    async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error>;

    /// The same for whoever is behind, perhaps from a standby: a page that is not whole is the database's own.
    async fn feed_history(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Result<FeedPage, Error> {
        self.feed(tenant, after, limit).await
    }

    /// The last entry that the feed shows now; nothing where there is none.
    async fn feed_end(&self, tenant: TenantId) -> Result<Option<FeedCursor>, Error>;

    /// The headers of these games, in any order; those that are not there are left out.
    async fn headings(&self, tenant: TenantId, games: &[Uuid]) -> Result<Vec<Heading>, Error>;

    /// Who keeps entries from being shown in the feed, where somebody does.
    async fn feed_holder(&self) -> Result<Option<Holder>, Error>;

    /// Milliseconds since the epoch by the database's clock.
    async fn clock_unix_ms(&self) -> Result<u64, Error>;

    /// Whether the database answers and its schema is the one of this build.
    async fn ready(&self) -> Result<(), Error>;

    /// Whether the database answers and this build can read the books in it: its schema may be an older one, as
    /// before a deploy, and then nothing may be written.
    async fn readable(&self) -> Result<(), Error>;

    /// What it can tell of itself at once.
    fn vitals(&self) -> Vitals {
        Vitals::default()
    }

    /// Ends background work and closes connections.
    async fn close(&self);
}
