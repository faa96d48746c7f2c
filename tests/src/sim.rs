//! Simulated worlds of live games: the service's own code over a real store, with time, chance and faults of the
//! test's making, as TigerBeetle's simulator does it.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`time`] | the time of a world, which stands still until somebody lets it pass |
//! | [`shelf`] | the one real store of a world, by the world's time |
//! | [`mod@line`] | a node's line to the store, on which things go wrong |
//! | [`faults`] | what goes wrong, and how often it did |
//! | [`node`] | a node: the service's games over its line |
//! | [`agreement`] | what a game is about: ruleset, terms, what may be taken back |
//! | [`script`] | what people at a table come up with next |
//! | [`ledger`] | what was asked, and what was answered |
//! | [`witness`] | who reads a book and believes nothing |
//! | [`played`] | a game: its book's witness and its ledger |
//! | [`world`] | nodes, people, and what happens to them |
//! | `asking` | people ask: for the first time, once more, all at once |
//! | `ending` | people fall silent, and what is left is held against the books |
//! | [`told`] | what happened, for whoever reads why a world failed |
//! | [`run`] | many worlds, on as many threads as there are cores |
//!
//! Invariant: everything random comes from one number, and a world that fails prints it, with the last steps.

pub mod agreement;
mod asking;
mod credentials;
mod ending;
pub mod faults;
pub mod ledger;
pub mod line;
pub mod node;
pub mod played;
pub mod run;
pub mod script;
pub mod shelf;
pub mod time;
pub mod told;
pub mod witness;
pub mod world;
