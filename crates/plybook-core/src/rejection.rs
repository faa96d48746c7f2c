//! Why a game refuses a request.
//!
//! Invariant: every refusal has a type and says what the caller needs to go on. A refused request
//! leaves the game as it was.

use crate::entropy::{JoinRefusal, Step};
use crate::offers::OfferRefusal;
use crate::outcome::Outcome;
use crate::presence::ClaimRefusal;
use crate::rules::Illegal;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;

/// Why a game refuses a request, in the order in which the checks are made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// The table has no such seat.
    #[error("the table has {seats} seats; there is no seat {seat}")]
    NoSuchSeat {
        /// The seat asked for.
        seat: Seat,
        /// Seats at the table.
        seats: u8,
    },
    /// The ruleset does not know this shape or this notation.
    #[error("{detail}")]
    InvalidAction {
        /// Why, in one sentence.
        detail: String,
        /// The shapes accepted.
        accepted: Vec<&'static str>,
    },
    /// The game is finished; if it is not closed, an undo may reopen it where its policy allows.
    #[error("the game is over")]
    Finished {
        /// How it ended.
        outcome: Outcome,
        /// Whether it is closed for good.
        closed: bool,
    },
    /// The game is not finished, so it cannot be closed.
    #[error("the game is not finished")]
    NotFinished,
    /// A deadline has passed that is not settled: whoever appends settles it first ([`crate::Game::settle`]).
    #[error("a deadline passed at {deadline}")]
    Unsettled {
        /// The deadline.
        deadline: Time,
    },
    /// The caller decided on an older or an imagined state.
    #[error("expected entry {expected}, the head is {head}")]
    Stale {
        /// What the caller expected.
        expected: Seq,
        /// What is.
        head: Seq,
    },
    /// The seats have yet to join: nothing is played before every nonce is in.
    #[error("seats {waiting} have yet to join")]
    NotJoined {
        /// What they have to do.
        step: Step,
        /// The seats.
        waiting: SeatSet,
        /// Until when; after it, closing the game settles who was absent.
        deadline: Time,
    },
    /// A step of joining is not accepted.
    #[error("{0}")]
    JoinNotAllowed(JoinRefusal),
    /// It is a seat's to ask for this.
    #[error("nobody but a seat asks for this")]
    SeatNeeded,
    /// The seat has left the game.
    #[error("seat {seat} has left the game")]
    SeatLeft {
        /// The seat.
        seat: Seat,
    },
    /// Another seat is to move.
    #[error("it is seat {to_move}'s turn")]
    NotYourTurn {
        /// Whose turn it is.
        to_move: Seat,
    },
    /// The service moves for this seat, and nobody else does.
    #[error("a bot moves for seat {seat}")]
    BotSeat {
        /// The seat.
        seat: Seat,
    },
    /// The rules say no.
    #[error("{0}")]
    Illegal(Illegal),
    /// An offer or an answer to one is not accepted.
    #[error("{0}")]
    OfferNotAllowed(OfferRefusal),
    /// It is too late for a seat to abort the game.
    #[error("a seat may abort the game while fewer than {before} moves stand")]
    AbortNotAllowed {
        /// The number of moves.
        before: u32,
    },
    /// A claim is not accepted.
    #[error("{0}")]
    ClaimNotAllowed(ClaimRefusal),
    /// The game's policy asks nobody whether they are there.
    #[error("the game's policy asks nobody whether they are there")]
    PresenceNotKept,
    /// The seat is reported as it was.
    #[error("the seat was reported like that before")]
    PresenceUnchanged,
    /// No move stands that could be taken back.
    #[error("no such move stands")]
    NothingToUndo,
    /// A move stands, but may not be taken back.
    #[error("{0}")]
    UndoNotAllowed(UndoRefusal),
    /// Not known here: whoever restored the game from a snapshot has to lengthen its way back
    /// ([`crate::Game::lengthen`]) and ask again.
    #[error("the way back is not known from entry {below} on")]
    WayBack {
        /// Where it has to be picked up.
        below: Seq,
    },
    /// A limit of [`crate::limits`].
    #[error("more than {limit} allows ({most})")]
    Limit {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
}

/// Why a standing move may not be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoRefusal {
    /// The game's policy does not allow it.
    #[error("the game's policy does not allow it")]
    Policy,
    /// It is another seat's move, or another seat has answered it.
    #[error("another seat made this move or has answered it")]
    NotYourMove,
    /// Dice were shown.
    #[error("dice were shown")]
    ChanceRevealed,
    /// The others at the table have not agreed: it has to be offered to them.
    #[error("the others at the table have not agreed")]
    NotAgreed,
    /// The game's limit of undos is used up.
    #[error("the game's limit of undos is used up")]
    UsedUp,
    /// The move was given to this fork by the game that it comes from.
    #[error("the move is one that the fork began with")]
    Given,
}

impl UndoRefusal {
    /// The word in the contract.
    pub const fn code(self) -> &'static str {
        match self {
            UndoRefusal::Policy => "POLICY",
            UndoRefusal::NotYourMove => "NOT_YOUR_MOVE",
            UndoRefusal::ChanceRevealed => "CHANCE_REVEALED",
            UndoRefusal::NotAgreed => "NOT_AGREED",
            UndoRefusal::UsedUp => "USED_UP",
            UndoRefusal::Given => "GIVEN",
        }
    }
}
