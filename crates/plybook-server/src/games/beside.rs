//! What an entry says only together with the entries before it: who must answer an offer, who leaves by a claim.
//!
//! Invariant: it is what a fold of the book up to that entry comes to, whoever asks and whenever. At a table of
//! two no fold is needed: the other one is meant.

use plybook_core::entry::{Act, Body, Claim, Incident, Step};
use plybook_core::{Entry, Game, Header, Seat, SeatSet};
use plybook_store::{GameKey, StoredEntry};

use crate::games::{Games, Opened};
use crate::refusal::Refusal;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// The seats whose answer an offer waits for.
    pub waiting: SeatSet,
    /// The seats that leave by a claim.
    pub left: SeatSet,
}

impl Beside {
    /// What stands beside this act, the last entry of a game.
    pub fn after(game: &Game, act: Act) -> Beside {
        let open = match act {
            Act::Draw(_) => game.offers().draw(),
            Act::Undo(..) => game.offers().undo(),
            _ => None,
        };
        let waiting = open.map_or(SeatSet::EMPTY, |offer| offer.accepted.iter().fold(game.others(offer.by), SeatSet::without));
        let head = game.head().seq;
        let left = game.left().iter().filter(|left| left.seq == head && matches!(act, Act::Claim(_))).map(|left| left.seat).collect();
        Beside { waiting, left }
    }
}

impl Games {
    /// What stands beside an entry.
    pub async fn beside(&self, key: GameKey, opened: &Opened, stored: &StoredEntry) -> Result<Beside, Refusal> {
        if !may_need_others(&stored.line) {
            return Ok(Beside::default());
        }
        // Whoever makes an event of a line that cannot be read says so.
        let Ok(entry) = opened.header.read_entry(&stored.line) else { return Ok(Beside::default()) };
        let Body::Incident(Incident { act, .. }) = entry.body else { return Ok(Beside::default()) };
        if opened.header.seat_count() == 2 || opened.rules.is_err() {
            return Ok(at_header(&opened.header, &entry, act));
        }
        let fold = async {
            match self.seen_at(key, stored, |game| Beside::after(game, act)).await? {
                Some(beside) => Ok(beside),
                None => Ok(Beside::after(&self.at(key, stored.seq).await?.0, act)),
            }
        };
        Box::pin(fold).await
    }
}

/// By the fourth word, so that moves are not read twice.
fn may_need_others(line: &str) -> bool {
    line.split(' ').nth(3).is_some_and(|ask| ask == "draw" || ask == "claim" || ask.starts_with("undo-"))
}

/// Where nobody can have left.
fn at_header(header: &Header, entry: &Entry, act: Act) -> Beside {
    let people = header.terms.bot_seats().iter().fold(SeatSet::all(header.seat_count()), SeatSet::without);
    let others = entry.actor.seat.map_or(people, |seat: Seat| people.without(seat));
    match act {
        Act::Draw(Step::Offer) | Act::Undo(Step::Offer, _) => Beside { waiting: others, left: SeatSet::EMPTY },
        Act::Claim(Claim::Win) => Beside { waiting: SeatSet::EMPTY, left: others },
        _ => Beside::default(),
    }
}
