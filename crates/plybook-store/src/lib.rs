//! Where books are kept: one trait, two real stores.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`store`] | the trait, and what goes in and comes out |
//! | [`credentials`] | tenants, and the API keys that are kept of them |
//! | [`feed`] | every entry of a tenant's games in one order |
//! | [`foreign`] | a book that was played elsewhere |
//! | [`postgres`] | many nodes over one database |
//! | [`month`] | a month of games, which can have a partition of its own there |
//! | `gather` | appends of different games travel together |
//! | [`notary`] | who signs what is stored |
//! | [`counts`] | how they travelled |
//! | [`floor`] | what that database can do at most, for benchmarks |
//! | [`sqlite`] | the embedded default: one file, one node |
//! | [`nats`] | where NATS servers are, and who goes to them |
//! | [`wake`] | hints between nodes, and what carries them |
//! | [`due`] | what has to be done later, by whichever node comes first |
//! | [`outage`] | times when no node was there |
//! | [`refused`] | refused requests, as they are remembered |
//! | [`error`] | why a store cannot answer |
//! | [`Step`] | a migration, and where it stands in a database |
//! | `migrations`, `row`, `fault` | the schema, columns as values, what a database's complaint means |
//!
//! Invariants: an append is atomic, conditional on the entry before it, idempotent by request id for
//! ever, and durable before it is answered; entries are never changed or removed; only this crate
//! knows SQL. A store keeps text and digests and never asks what they mean.

pub mod counts;
pub mod credentials;
pub mod due;
pub mod error;
mod fault;
pub mod feed;
pub mod foreign;
mod gather;
mod migrations;
pub mod month;
pub mod nats;
pub mod notary;
pub mod outage;
mod page;
pub mod postgres;
pub mod refused;
mod row;
pub mod sqlite;
pub mod store;
pub mod wake;

pub use counts::{AppendCounts, ReplicaCounts, Vitals, WakeCounts};
pub use credentials::{ApiKey, ApiKeyId, Credentials, Tenant};
pub use due::{Arms, Claimed, DueChange, DueKey, DueKind, DueSoon, StoredDue};
pub use error::Error;
pub use feed::{FeedCursor, FeedPage, FeedRow, Heading, Holder};
pub use foreign::{Foreign, ForeignBook, Import};
pub use gather::APPENDS_QUEUE;
pub use migrations::applied::{Standing, Step};
pub use migrations::schema;
pub use month::Month;
pub use notary::Notary;
pub use outage::Outage;
pub use postgres::{Form, PackedMonth, Partition, Partitions, Postgres, PostgresOptions, PostgresWakes, floor};
pub use refused::{Refused, StoredRefusal};
pub use sqlite::{Sqlite, SqliteOptions};
pub use store::{
    Append, Create, Filter, GameKey, Nearest, NewEntry, NewGame, RequestKey, Snapshot, State, Store, StoredEntry, Summary, TenantId,
};
pub use wake::{NatsOptions, NatsWakes, News, NoWakes, Wake, Wakes};
