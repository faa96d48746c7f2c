//! A game of a simulated world: what was agreed on, asked and written.
//!
//! Invariant: what is known of it comes from its book and from answers that were heard.

use plybook_core::game::Request;
use plybook_core::{Entry, Game, Rejection, Seed, Time};
use plybook_server::games::act::Acted;
use plybook_server::refusal::Refusal;
use plybook_store::GameKey;

use super::ledger::{Heard, Ledger};
use super::witness::Witness;

/// A game.
pub struct Played {
    /// Which.
    pub key: GameKey,
    /// What was asked.
    pub ledger: Ledger,
    /// Who reads its book.
    pub witness: Witness,
    /// How much more people ask.
    pub asks_left: u32,
}

/// What a caller makes of an answer; an error where there may be no such answer.
pub fn heard(answer: Result<Acted, Refusal>) -> Result<Heard, String> {
    match answer {
        Ok(acted) => Ok(Heard::Entry(acted.stored)),
        Err(Refusal::StoreUnavailable | Refusal::Draining) => Ok(Heard::Nothing),
        Err(Refusal::Rejected { rejection: Rejection::Unsettled { deadline }, .. }) => {
            Err(format!("a caller is told that the deadline {deadline} is not settled"))
        }
        Err(Refusal::Rejected { .. }) => Ok(Heard::Refused),
        Err(Refusal::Internal { detail }) if detail.contains("moved away") => Ok(Heard::Nothing),
        Err(fault) => Err(format!("a caller is told {fault:?}")),
    }
}

/// What a node has to answer whose clock shows `now`, if nobody comes before it.
pub fn foretold(game: &Game, request: &Request, now: Time, outages: &[(Time, Time)], seed: &Seed) -> Result<Entry, Rejection> {
    let mut game = game.clone();
    loop {
        let decided = game.decide(request, now, seed);
        let Err(Rejection::Unsettled { .. }) = decided else { return decided };
        let entry = game.settle(now, outages, seed).expect("what is not settled can be");
        game.apply(&entry).expect("what settles a deadline follows");
    }
}
