//! The service: requests → games → store. It composes; it does not think.
//!
//! What is legal is the rulesets' to say, what may be appended is the core's, what is durable is the
//! store's. This crate reads requests, finds games, appends what the core decided, and tells whoever
//! listens.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`config`], [`limits`] | what an operator sets |
//! | [`signing`], [`key_file`] | the keys of receipts, and their files |
//! | [`clock`], [`ids`] | time and randomness, as arguments |
//! | [`auth`] | who is calling |
//! | [`edge`] | connections, TLS, and how much of anything one of them may ask |
//! | [`requests`] | the contract's messages, checked for shape |
//! | [`games`] | the games that this node remembers; loading, appending, history |
//! | [`streams`] | cursors over a book, and what wakes them |
//! | [`feed`] | every entry of a tenant's games, followed |
//! | [`thinking`] | the threads on which bots think |
//! | [`checking`] | a stored game, checked from its rows |
//! | [`replies`] | the core's types as the contract's messages |
//! | [`refusal_log`] | refused requests, remembered off the hot path |
//! | [`refusal`], [`status`] | why not, and the one place that makes a `Status` |
//! | [`service`] | one file an RPC |
//! | [`guard`], [`deadline`], [`packing`] | around the calls: deadlines, panics, oversized requests, what is packed |
//! | `front` | a call's way from its connection to its RPC |
//! | [`uninterrupted`] | work that goes on when its waiter goes away |
//! | [`telemetry`], [`readiness`] | logs, traces, metrics; whether this node should be given work |
//! | [`server`] | start and drain |
//!
//! Invariants: no reply, frame or notification shows an entry that is not durable; a node holds
//! caches and cursors, never a game, so any node serves any request.

pub mod alarm;
pub mod auth;
pub mod checking;
pub mod clock;
pub mod config;
pub mod deadline;
pub mod edge;
pub mod feed;
mod front;
pub mod games;
pub mod guard;
pub mod heartbeat;
pub mod ids;
pub mod key_file;
pub mod limits;
pub mod packing;
pub mod readiness;
pub mod refusal;
pub mod refusal_log;
pub mod replies;
pub mod requests;
pub mod server;
pub mod service;
pub mod signing;
pub mod status;
pub mod streams;
pub mod sweeper;
pub mod telemetry;
pub mod thinking;
pub mod uninterrupted;
pub mod upkeep;

pub use config::Config;
pub use server::{Parts, Server};
