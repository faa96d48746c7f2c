//! One test binary: what Plybook promises, from the rules up to server processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod auth;
mod book;
mod bots;
mod cli;
mod clients;
mod dice;
mod edge;
mod fuzz;
mod house;
mod readme;
mod rules;
mod scenarios;
mod service;
mod sim;
mod store;
mod telemetry;
mod verify;
