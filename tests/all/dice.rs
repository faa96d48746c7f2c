//! The dice as a stranger sees them: even, without a pattern, and foretold by nothing public.
//!
//! Invariants: every seed is fixed here, so what passes once passes for ever; each statistic and each
//! kind of predictor is also shown what it is there to catch.

mod biased;
mod faces;
mod generators;
mod guesses;
mod hashed;
mod joint;
mod leaks;
mod predictors;
mod public;
mod statistics;
