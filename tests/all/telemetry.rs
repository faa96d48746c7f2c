//! What an operator sees: steps of a call, metrics, health, administrative calls, and what is done about them.

mod audit;
mod collector;
mod health;
mod memory;
mod operations;
mod page;
mod secrets;
mod steps;

use plybook_tests::node::Setup;

/// A node that shows its page at a free port.
fn with_page(setup: Setup) -> Setup {
    setup.with(&["--metrics-listen", "127.0.0.1:0"])
}
