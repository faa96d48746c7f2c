//! What a Rust backend uses to speak with Plybook.
//!
//! Invariants: a request keeps one request id through all its retries, so that it is answered once
//! however often it is sent; a stream of events goes on by itself after a broken connection, without
//! gap or repeat; what comes back is either an answer, a typed refusal, or "nobody answered in time".
//!
//! | module | the noun |
//! | --- | --- |
//! | [`new_game`], [`table`] | a game to be created, and one to be played: what a service needs day by day |
//! | [`client`], `living` | every call of the contract, as the contract has it |
//! | `health` | whether a server serves |
//! | [`events`] | one game followed |
//! | [`feed`] | every game followed |
//! | [`joining`] | a seat's nonce, before the first move of a game with joint entropy |
//! | [`credentials`] | who a client is, and whom it trusts |
//! | [`options`] | how long to wait, and for what |
//! | [`error`] | refused, or unavailable |
//! | [`receipt`] | a receipt as a line of text |
//!
//! ```no_run
//! # async fn play() -> Result<(), Box<dyn std::error::Error>> {
//! use plybook_client::Client;
//!
//! let client = Client::connect("http://127.0.0.1:50051")?;
//! let created = client.new_game("mnk").player("ann").player("bob").await?;
//! let moved = created.table.seat(0).play("b2").at(created.game.seq).await?;
//! println!("seat {:?} is next", moved.event.seat_to_move);
//!
//! let mut events = created.table.events(0);
//! while let Some(event) = events.next().await {
//!     println!("{}", event?.line);
//! }
//! # Ok(())
//! # }
//! ```

pub mod client;
pub mod credentials;
pub mod error;
pub mod events;
pub mod feed;
mod health;
pub mod joining;
mod living;
pub mod new_game;
pub mod options;
mod patience;
pub mod receipt;
mod resuming;
mod routes;
pub mod table;
mod untrusted;

pub use client::Client;
pub use credentials::{BadToken, Token, Trust};
pub use error::{Code, Error, Refused, Unavailable};
pub use events::Events;
pub use feed::{Fed, Feed, FeedStart};
pub use new_game::{Created, NewGame, Param};
pub use options::{BadAddress, Options};
pub use table::{Ask, Done, Place, Table};
