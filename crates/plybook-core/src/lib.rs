//! What a game *is*: boards, actions, the rules trait, dice, and the book.
//!
//! The core is pure. It does no IO, reads no clock, draws no randomness of its own, uses no floats
//! and depends on no hash-map order, so the same book gives the same bytes on every machine and in
//! every later release. Time, ids and seeds come in as arguments.
//!
//! Read it in this order:
//!
//! | module | the noun |
//! | --- | --- |
//! | [`seat`], [`seq`], [`time`] | numbers with a meaning |
//! | [`board`], [`action`], [`change`] | where pieces are, what a seat asks for, what it did |
//! | [`position`], [`outcome`] | everything that is true after a move |
//! | [`rules`], [`ruleset`], [`params`] | what a game's author writes |
//! | [`play`] | a position with its way back: one generic step forward and one back |
//! | [`dice`], [`entropy`], [`digest`] | what can be proved |
//! | [`header`], [`origin`], [`entry`], [`book`], [`standing`] | the text that is stored |
//! | [`terms`]: [`bot`], [`clock`], [`presence`], [`offers`] | what a live game has besides moves |
//! | [`game`], [`rejection`] | folds the book, decides what may be appended |
//! | [`receipt`] | a signature over a head, and the public keys that check it |
//! | [`verify`] | checks a whole book |
//! | [`compare`] | where two books part |
//! | [`grid`], [`diagram`] | coordinates and boards as text |
//! | [`limits`] | a number for everything |

pub mod action;
pub mod board;
pub mod book;
pub mod bot;
pub mod change;
pub mod clock;
pub mod compare;
pub mod diagram;
pub mod dice;
pub mod digest;
pub mod entropy;
pub mod entry;
pub mod game;
pub mod grid;
pub mod header;
pub mod limits;
pub mod offers;
pub mod origin;
pub mod outcome;
mod packing;
pub mod params;
pub mod perft;
pub mod play;
pub mod position;
pub mod presence;
pub mod receipt;
pub mod rejection;
pub mod rules;
pub mod ruleset;
mod scan;
pub mod seat;
pub mod seq;
pub mod standing;
pub mod terms;
pub mod time;
pub mod verify;

pub use ::uuid::Uuid;
pub use action::Action;
pub use board::{Board, Cell, Content};
pub use book::Book;
pub use change::{CellChange, Changes};
pub use dice::{Dice, Face, Seed};
pub use digest::Digest;
pub use entry::Entry;
pub use game::Game;
pub use header::Header;
pub use origin::Origin;
pub use outcome::Outcome;
pub use params::{ParamSpec, ParamValue, Params};
pub use play::Play;
pub use position::Position;
pub use receipt::Receipt;
pub use rejection::Rejection;
pub use rules::{Illegal, Rules, Verdict};
pub use ruleset::{Card, Ruleset, RulesetId};
pub use seat::{Seat, SeatSet};
pub use seq::Seq;
pub use terms::Terms;
pub use time::Time;
