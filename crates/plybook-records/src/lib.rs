//! Games that other programs have recorded: read, and played through under the rules of this build.
//!
//! Invariants: it is pure, a record is text that somebody gave; what cannot be read or played is refused with its reason, and
//! never panics, hangs or takes more than its length allows.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`record`] | a game as a file tells it |
//! | [`lines`], [`sgf`], [`jsonl`] | the formats |
//! | [`rehearsal`] | a record played to its end |
//! | [`value`] | a parameter as text |

pub mod jsonl;
pub mod lines;
pub mod record;
pub mod rehearsal;
pub mod sgf;
pub mod value;

pub use record::{Parsed, Record};
pub use rehearsal::{Choice, Rehearsed, rehearse};
