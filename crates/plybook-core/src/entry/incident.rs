//! What happens at a table and is no move: somebody resigns, a time is over, a draw is offered.
//!
//! Invariant: every incident of a game that goes on says who moves now, so that the last line of a book always
//! does.

use std::fmt;

use crate::rules::Verdict;
use crate::scan;
use crate::seat::Seat;
use crate::seq::Seq;

/// What happened, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// What happened.
    pub act: Act,
    /// Who moves now, or how the game ended; nothing where it was finished before and still is.
    pub verdict: Option<Verdict>,
}

/// Something that happens and is no move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A seat leaves.
    Resign,
    /// The game ends without a result.
    Abort,
    /// The service takes a seat out of the game.
    Remove(Seat),
    /// A seat's time is over.
    Timeout(Seat),
    /// A seat leaves because it was away for too long.
    Forfeit(Seat),
    /// A seat has what the policy gives it while others are away.
    Claim(Claim),
    /// A seat's player is away.
    Away,
    /// A seat's player is there again.
    Back,
    /// About a draw.
    Draw(Step),
    /// About taking back the move with this number and everything after it. The acceptance that completes it is
    /// an undo.
    Undo(Step, Seq),
    /// More time, in milliseconds, for the seat to move, because no node was there.
    Credit(u64),
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Those who are away for too long leave.
    Win,
    /// The game ends in a draw.
    Draw,
}

/// A step of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is made.
    Offer,
    /// Somebody agrees.
    Accept,
    /// Somebody does not.
    Decline,
    /// Who made it takes it away.
    Withdraw,
}

impl Step {
    const WORDS: [(&'static str, Step); 4] =
        [("offer", Step::Offer), ("accept", Step::Accept), ("decline", Step::Decline), ("withdraw", Step::Withdraw)];

    fn word(self) -> &'static str {
        Step::WORDS.iter().find(|(_, step)| *step == self).map_or("", |(word, _)| word)
    }

    fn parse(word: &str) -> Result<Step, scan::Why> {
        let found = Step::WORDS.iter().find(|(known, _)| *known == word).map(|(_, step)| *step);
        found.ok_or_else(|| format!("{word:?} is no step of an offer"))
    }
}

impl Act {
    /// The requests that have no argument.
    pub(super) const BARE: [&'static str; 4] = ["resign", "abort", "away", "back"];

    /// Whether it may stand beside a finished game: only talking about an undo that would reopen it may.
    pub const fn concerns_the_end(self) -> bool {
        matches!(self, Act::Undo(..))
    }

    /// The seat that it is about, where it names one.
    pub const fn names(self) -> Option<Seat> {
        match self {
            Act::Remove(seat) | Act::Timeout(seat) | Act::Forfeit(seat) => Some(seat),
            _ => None,
        }
    }

    /// Reads what is printed; nothing where the request is another.
    pub(super) fn parse(ask: &str, argument: &str) -> Result<Option<Act>, scan::Why> {
        Ok(Some(match ask {
            "resign" => Act::Resign,
            "abort" => Act::Abort,
            "remove" => Act::Remove(scan::seat(argument)?),
            "timeout" => Act::Timeout(scan::seat(argument)?),
            "forfeit" => Act::Forfeit(scan::seat(argument)?),
            "claim" if argument == "win" => Act::Claim(Claim::Win),
            "claim" if argument == "draw" => Act::Claim(Claim::Draw),
            "away" => Act::Away,
            "back" => Act::Back,
            "draw" => Act::Draw(Step::parse(argument)?),
            "credit" => Act::Credit(scan::number(argument)?),
            _ => match ask.strip_prefix("undo-") {
                Some(step) => Act::Undo(Step::parse(step)?, Seq(scan::number(argument)?)),
                None => return Ok(None),
            },
        }))
    }
}

/// The request as it stands in a line.
impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Act::Resign => f.write_str("resign"),
            Act::Abort => f.write_str("abort"),
            Act::Remove(seat) => write!(f, "remove {seat}"),
            Act::Timeout(seat) => write!(f, "timeout {seat}"),
            Act::Forfeit(seat) => write!(f, "forfeit {seat}"),
            Act::Claim(Claim::Win) => f.write_str("claim win"),
            Act::Claim(Claim::Draw) => f.write_str("claim draw"),
            Act::Away => f.write_str("away"),
            Act::Back => f.write_str("back"),
            Act::Draw(step) => write!(f, "draw {}", step.word()),
            Act::Undo(step, target) => write!(f, "undo-{} {target}", step.word()),
            Act::Credit(ms) => write!(f, "credit {ms}"),
        }
    }
}
