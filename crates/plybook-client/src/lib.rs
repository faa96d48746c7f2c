//! What a Rust backend uses to speak with Plybook.
//!
//! Invariants: a request keeps one request id through all its retries, so that it is answered once
//! however often it is sent; a stream of events goes on by itself after a broken connection, without
//! gap or repeat; what comes back is either an answer, a typed refusal, or "nobody answered in time".
//!
//! | module | the noun |
//! | --- | --- |
//! | [`client`], `living` | every call of the contract |
//! | [`events`] | one game followed |
//! | [`feed`] | every game followed |
//! | [`joining`] | a seat's nonce, before the first move of a game with joint entropy |
//! | [`credentials`] | who a client is, and whom it trusts |
//! | [`options`] | how long to wait, and for what |
//! | [`error`] | refused, or unavailable |
//! | [`receipt`] | a receipt as a line of text |
//!
//! ```no_run
//! # async fn table() -> Result<(), Box<dyn std::error::Error>> {
//! use plybook_client::Client;
//! use plybook_proto::v1;
//!
//! let client = Client::connect("http://127.0.0.1:50051")?;
//! let ruleset = v1::RulesetSpec { id: "mnk".into(), ..Default::default() };
//! let seats = vec![v1::Seat::default(), v1::Seat::default()];
//! let game = client.create_game(v1::CreateGameRequest { ruleset: Some(ruleset), seats, ..Default::default() }).await?;
//! let mut events = client.events(&game.game_id, 0);
//! while let Some(event) = events.next().await {
//!     println!("{}", event?.line);
//! }
//! # Ok(())
//! # }
//! ```

pub mod client;
mod connection;
pub mod credentials;
pub mod error;
pub mod events;
pub mod feed;
pub mod joining;
mod living;
pub mod options;
mod patience;
pub mod receipt;
mod routes;

pub use client::Client;
pub use credentials::{BadToken, Token, Trust};
pub use error::{Code, Error, Refused, Unavailable};
pub use events::Events;
pub use feed::{Fed, Feed, FeedStart};
pub use options::{BadAddress, Options};
