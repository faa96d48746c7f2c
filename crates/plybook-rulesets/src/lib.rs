//! The games: one file each, and the registry that lists them.
//!
//! Invariant: a new game is one file here, one line in [`Registry::standard`] and one golden book.
//! Nothing else changes: not the contract, not the schema, not the server.

pub mod connect_four;
pub mod gomoku;
mod lines;
pub mod mnk;
pub mod othello;
mod registry;
pub mod snakes_and_ladders;

pub use registry::{Registry, RegistryError};
