//! What bots promise: they change nothing, answer the same for ever, and play well.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`chance`] | a bot's own numbers |
//! | [`conduct`] | what every strategy does in every position of every ruleset |
//! | [`contests`] | who beats whom |
//! | [`tactics`] | wins, blocks and threats that are found |
//! | [`solvers`] | values that are exact, and the strategy that plays by them |
//! | [`pinned`] | choices that stay as they are for ever |

mod chance;
mod conduct;
mod contests;
mod pinned;
mod solvers;
mod tactics;
