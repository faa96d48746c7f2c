//! What the rulesets promise, checked through the library alone.

mod markov;
mod passing;
mod perft;
mod probe;
mod properties;
mod refusals;
mod scenarios;
mod toy;
mod vectors;
