//! What comes from outside, given to whatever reads it first: any bytes may come, and are answered or refused.
//!
//! Each target is a function of bytes. It panics where a promise is broken: what was read comes back as it was written, what is
//! taken back was never there, a refusal is an answer. `tests/fuzz/libfuzzer` gives them to libFuzzer; an ordinary test gives them the seeds and
//! what [`mutation`] makes of these.
//!
//! Invariant: a target does nothing but what its bytes say: the same bytes, the same run.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

pub mod books;
pub mod mutation;
pub mod records;
pub mod rules;
#[cfg(feature = "tokens")]
pub mod tokens;
pub mod words;

/// A target: what reads the bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its seeds' folder.
pub const TARGETS: &[(&str, Target)] = &[
    ("book", books::book),
    ("game", books::game),
    ("header", books::header),
    ("line", books::line),
    ("sgf", records::sgf),
    ("jsonl", records::jsonl),
    ("transcript", records::transcript),
    ("actions", rules::actions),
    ("parameters", rules::parameters),
    #[cfg(feature = "tokens")]
    ("cursor", tokens::cursor),
    #[cfg(feature = "tokens")]
    ("token", tokens::token),
    #[cfg(feature = "tokens")]
    ("timeout", tokens::timeout),
    ("word", words::word),
];

/// Bytes as text, if they are; bytes that are none are refused before anything here sees them.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}
