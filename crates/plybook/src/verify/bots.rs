//! `plybook verify --bots`: what bots moved is chosen again, with the seed that the book reveals.
//!
//! Invariant: only books that follow from themselves are asked, and every answer says how much of the book it is of:
//! where the seed is not revealed, or a strategy is not in this build, nothing is claimed.

mod asking;
mod following;

pub(super) use asking::Asking;

use plybook_bots::Disagreement;
use plybook_bots::again::{Claim, Moves};
use plybook_core::Seq;
use plybook_core::game::Hand;
use serde_json::{Value, json};

/// What came of the moves by bots of one book.
#[derive(Debug)]
pub(super) enum Bots {
    /// Nobody asked; whether the header has any.
    NotAsked(bool),
    /// Each is what its bot chooses; there may be none.
    Same(Moves),
    /// They are chosen with a seed that the book has not revealed yet.
    NotRevealed(Moves),
    /// One is not what its bot chooses, or it cannot be known.
    Wrong(Wrong),
}

/// The first move that was not found to be what its bot chooses.
#[derive(Debug)]
pub(super) enum Wrong {
    /// It is another, or this build has not the strategy.
    Disagrees(Disagreement),
    /// The strategy panicked.
    Failed(Seq),
}

impl Bots {
    /// Whether nothing is said against the book.
    pub(super) const fn holds(&self) -> bool {
        !matches!(self, Bots::Wrong(_))
    }

    /// For people.
    pub(super) fn in_words(&self) -> String {
        match self {
            Bots::NotAsked(false) => String::new(),
            Bots::NotAsked(true) => "  bots: whether they choose what the book says was not asked: --bots does\n".to_owned(),
            Bots::Same(moves) if moves.all() == 0 => "  bots: none moved\n".to_owned(),
            Bots::Same(moves) => format!("  bots: {}, chosen again: the same\n", counted(*moves)),
            Bots::NotRevealed(moves) if moves.all() == 0 => "  bots: none moved yet\n".to_owned(),
            Bots::NotRevealed(moves) => {
                format!("  bots: the seed is not revealed yet, so {} cannot be chosen again\n", counted(*moves))
            }
            // It stands above.
            Bots::Wrong(_) => String::new(),
        }
    }

    /// Adds the fields for machines.
    pub(super) fn put(&self, told: &mut Value) {
        let (word, moves) = match self {
            Bots::NotAsked(_) => (Value::Null, None),
            Bots::Same(moves) => ("same".into(), Some(moves)),
            Bots::NotRevealed(moves) => ("not_revealed".into(), Some(moves)),
            Bots::Wrong(wrong) => (wrong.name().into(), None),
        };
        told["bots"] = word;
        told["bot_moves"] = moves.map(|moves| moves.by_bots).into();
        told["fallback_moves"] = moves.map(|moves| moves.by_fallback).into();
        if let Bots::Wrong(wrong) = self {
            wrong.put(told);
        }
    }
}

impl Wrong {
    /// The verdict, for machines.
    pub(super) const fn name(&self) -> &'static str {
        if self.is_unknown() { "bot_unknown" } else { "bot_differs" }
    }

    /// Whether this build has not the strategy.
    pub(super) const fn is_unknown(&self) -> bool {
        matches!(self, Wrong::Disagrees(Disagreement::Unknown { .. }))
    }

    /// The entry.
    fn seq(&self) -> Option<Seq> {
        match self {
            Wrong::Failed(seq) => Some(*seq),
            Wrong::Disagrees(Disagreement::Broken(error)) => Some(error.seq),
            Wrong::Disagrees(_) => self.claim().map(|claim| claim.seq),
        }
    }

    fn claim(&self) -> Option<&Claim> {
        match self {
            Wrong::Disagrees(Disagreement::Differs { claim, .. } | Disagreement::Unknown { claim, .. }) => Some(claim),
            Wrong::Disagrees(Disagreement::Broken(_) | Disagreement::Stopped) | Wrong::Failed(_) => None,
        }
    }

    /// What the entry claims, and what the strategy chooses.
    fn why(&self) -> String {
        match self {
            Wrong::Disagrees(Disagreement::Broken(error)) => error.why.clone(),
            Wrong::Disagrees(disagreement) => disagreement.to_string(),
            Wrong::Failed(_) => "the strategy panicked".to_owned(),
        }
    }

    /// The same with its entry.
    pub(super) fn in_words(&self) -> String {
        format!("entry {}: {}", self.seq().unwrap_or(Seq::ZERO), self.why())
    }

    fn put(&self, told: &mut Value) {
        told["entry"] = self.seq().map(|seq| seq.0).into();
        told["why"] = self.why().into();
        let Some(claim) = self.claim() else { return };
        told["seat"] = claim.seat.0.into();
        told["by"] = by(claim.hand).into();
        told["strategy"] = format!("{}@{}", claim.bot.strategy, claim.bot.version).into();
        told["nodes"] = claim.bot.nodes.into();
        told["claims"] = claim.notation.clone().into();
        if let Wrong::Disagrees(Disagreement::Differs { chosen, .. }) = self {
            told["chooses"] = json!(chosen);
        }
    }
}

const fn by(hand: Hand) -> &'static str {
    match hand {
        Hand::Bot => "bot",
        Hand::Fallback => "fallback",
    }
}

fn counted(moves: Moves) -> String {
    let number = |count: u64, by: &str| format!("{count} {} by {by}", if count == 1 { "move" } else { "moves" });
    let bots = number(moves.by_bots, "bots");
    match moves.by_fallback {
        0 => bots,
        count if moves.by_bots == 0 => number(count, "the fallback"),
        count => format!("{bots} and {}", number(count, "the fallback")),
    }
}
