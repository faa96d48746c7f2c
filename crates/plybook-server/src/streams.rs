//! Cursors over a book, and what wakes them.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`hub`] | which games are watched here, and the news about them |
//! | [`topic`] | one watched game: its recent entries, read once however many watch |
//! | [`cursor`] | one stream: read after the cursor, then wait |
//! | [`ends`] | what ends a stream before its time |
//! | [`standing`] | where each stream stands, for whoever looks |
//! | [`slots`] | how many streams may be open |
//!
//! Invariant: a stream is a cursor. News only wakes it; the book feeds it. It never skips, never
//! repeats, never buffers without bound, and never dies silently.

pub mod cursor;
pub mod ends;
pub mod hub;
pub mod slots;
pub mod standing;
pub mod topic;

pub use cursor::{Cursor, Wanted};
pub use ends::Ends;
pub use hub::Hub;
pub use slots::{Asker, Slot, Slots};
pub use standing::{Standing, Standings};
pub use topic::Topic;
