//! Live games: what follows when somebody leaves, when a time is over, when something is offered.

mod leaving;
mod random;
mod refusals;
mod time;
