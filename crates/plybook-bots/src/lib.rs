//! Bots: players that choose an action from a read-only view of a game.
//!
//! Invariants: a bot changes nothing but a clone of its own; what it chooses depends on the view, the
//! budget and its chance alone, never on time, on threads or on the machine; it sees neither the seed
//! nor the dice to come. So whoever has the book and the seed recomputes every choice. For that a
//! strategy never changes its meaning: one that would choose differently is a new version.
//!
//! Read it in this order:
//!
//! | module | the noun |
//! | --- | --- |
//! | [`view`] | what a bot may see of a game |
//! | [`strategy`] | a way to choose: its card, and what it answers |
//! | [`score`], [`meaning`] | how good an action is, and what that says |
//! | [`meter`] | a budget in nodes, what is spent of it, and when to stop |
//! | [`chance`] | a bot's own random numbers |
//! | [`trial`] | a game of the bot's own, to look ahead in |
//! | [`estimate`] | how good a position looks that is not played to its end |
//! | [`threats`], [`throws`] | actions that win now; what a bot expects of dice |
//! | [`random`], [`heuristic`], [`minimax`], [`mcts`] | strategies for every ruleset |
//! | [`solve`] | what a position is worth under best play, where a game has a solver |
//! | [`perfect`] | a best move where a solver reaches the end, else `minimax` |
//! | [`analysis`] | actions with scores, and the threats of every seat, for hints |
//! | [`registry`] | the strategies of this release |
//! | [`again`] | a book's moves by bots, chosen again |

pub mod again;
pub mod analysis;
pub mod chance;
mod estimate;
pub mod heuristic;
pub mod mcts;
pub mod meaning;
pub mod meter;
pub mod minimax;
pub mod perfect;
pub mod random;
pub mod registry;
pub mod score;
pub mod solve;
pub mod strategy;
mod threats;
mod throws;
mod trial;
pub mod view;

pub use again::{Again, Disagreement};
pub use analysis::{Analysis, analyse, filled};
pub use chance::Chance;
pub use meaning::{Counted, Meaning};
pub use meter::{Budget, Meter};
pub use registry::Bots;
pub use score::Score;
pub use strategy::{Card, Choice, NoChoice, Strategy, StrategyId};
pub use view::View;
