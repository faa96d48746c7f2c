//! The vocabulary of the tests: tables to play at, throwaway databases, server processes, vectors.
//!
//! Invariant: nothing here decides whether a test passes; it only lets a test read like prose.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

pub mod arena;
pub mod asks;
pub mod bot_book;
pub mod both;
pub mod bus;
pub mod careless;
pub mod certificates;
pub mod collector;
pub mod deal;
pub mod forgery;
pub mod frames;
pub mod golden;
pub mod held;
pub mod injected;
pub mod issuer;
pub mod keyring;
pub mod laid;
pub mod live;
pub mod lively;
pub mod long;
pub mod long_book;
pub mod nats;
pub mod node;
pub mod oracle;
pub mod patience;
pub mod ports;
pub mod postgres;
pub mod proxy;
pub mod python;
pub mod random;
pub mod reference;
pub mod refused;
pub mod sim;
pub mod strategies;
pub mod table;
pub mod toy;
pub mod unplayed;
pub mod vectors;
pub mod wire;
