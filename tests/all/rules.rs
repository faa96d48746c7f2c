//! What the rulesets promise, checked through the library alone.

mod properties;
mod toy;
