//! Offers that wait for an answer: a draw, and going back to an entry.
//!
//! Invariants: at most one offer of a kind is open; it is accepted once everybody else who is a person at the table
//! has accepted it; a seat offers the same kind once until a move or an undo changes the position.

use crate::packing::{Damaged, Packer, Unpacker};
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;

/// What is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To end the game in a draw.
    Draw,
    /// To take back the move with this number and everything after it.
    Undo(Seq),
}

/// An offer that waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What.
    pub kind: Kind,
    /// The seat that offers.
    pub by: Seat,
    /// The entry of the offer.
    pub seq: Seq,
    /// Who has accepted it.
    pub accepted: SeatSet,
}

/// Why an offer or an answer to one is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OfferRefusal {
    /// The game's policy knows no such offer: undo is not by agreement.
    #[error("the game's policy knows no such offer")]
    Policy,
    /// Nobody else at the table could answer.
    #[error("nobody else at the table could answer")]
    NobodyToAnswer,
    /// One is open already: it wants an answer.
    #[error("such an offer is open already")]
    AlreadyOpen,
    /// The seat has offered this since the last move.
    #[error("the seat has offered this since the last move")]
    Repeated,
    /// None is open, or not this one.
    #[error("no such offer is open")]
    NotOpen,
    /// It is the seat's own: it can be withdrawn, not answered.
    #[error("nobody answers an offer of their own")]
    Own,
    /// It is another seat's: it can be answered, not withdrawn.
    #[error("another seat made this offer")]
    NotOwn,
    /// The seat has accepted it already.
    #[error("the seat has accepted this offer already")]
    Answered,
}

impl OfferRefusal {
    /// The word in the contract.
    pub const fn code(self) -> &'static str {
        match self {
            OfferRefusal::Policy => "POLICY",
            OfferRefusal::NobodyToAnswer => "NOBODY_TO_ANSWER",
            OfferRefusal::AlreadyOpen => "ALREADY_OPEN",
            OfferRefusal::Repeated => "REPEATED",
            OfferRefusal::NotOpen => "NOT_OPEN",
            OfferRefusal::Own => "OWN",
            OfferRefusal::NotOwn => "NOT_OWN",
            OfferRefusal::Answered => "ANSWERED",
        }
    }
}

/// The offers of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offers {
    draw: Option<Offer>,
    undo: Option<Offer>,
    /// By seat, the entries of its last offers of a draw and of an undo.
    last: Vec<(Seq, Seq)>,
}

impl Offers {
    /// None.
    pub fn new(seats: u8) -> Offers {
        Offers { draw: None, undo: None, last: vec![(Seq::ZERO, Seq::ZERO); usize::from(seats)] }
    }

    /// The open offer of a draw.
    pub const fn draw(&self) -> Option<&Offer> {
        self.draw.as_ref()
    }

    /// The open offer to take moves back.
    pub const fn undo(&self) -> Option<&Offer> {
        self.undo.as_ref()
    }

    /// The open offer of this kind, of an undo only if it names the same move.
    fn open(&self, kind: Kind) -> Option<&Offer> {
        match kind {
            Kind::Draw => self.draw.as_ref(),
            Kind::Undo(_) => self.undo.as_ref(),
        }
        .filter(|offer| offer.kind == kind)
    }

    /// Whether `seat` may make this offer to `others`. `decided` is the last entry that touched the position.
    pub fn check_offer(&self, kind: Kind, seat: Seat, others: SeatSet, decided: Seq) -> Result<(), OfferRefusal> {
        let (draw, undo) = self.last[seat.index()];
        let (open, last) = match kind {
            Kind::Draw => (self.draw, draw),
            Kind::Undo(_) => (self.undo, undo),
        };
        match (others.is_empty(), open) {
            (true, _) => Err(OfferRefusal::NobodyToAnswer),
            (false, Some(_)) => Err(OfferRefusal::AlreadyOpen),
            (false, None) if last > decided => Err(OfferRefusal::Repeated),
            (false, None) => Ok(()),
        }
    }

    /// Whether `seat` may accept it; answers whether `others` than who made it have then all accepted.
    pub fn check_accept(&self, kind: Kind, seat: Seat, others: impl Fn(Seat) -> SeatSet) -> Result<bool, OfferRefusal> {
        let offer = self.check_decline(kind, seat)?;
        if offer.accepted.contains(seat) {
            return Err(OfferRefusal::Answered);
        }
        let accepted = offer.accepted.with(seat);
        Ok(others(offer.by).iter().all(|other| accepted.contains(other)))
    }

    /// Whether `seat` may decline it.
    pub fn check_decline(&self, kind: Kind, seat: Seat) -> Result<&Offer, OfferRefusal> {
        match self.open(kind) {
            None => Err(OfferRefusal::NotOpen),
            Some(offer) if offer.by == seat => Err(OfferRefusal::Own),
            Some(offer) => Ok(offer),
        }
    }

    /// Whether `seat` may take it away again.
    pub fn check_withdraw(&self, kind: Kind, seat: Seat) -> Result<(), OfferRefusal> {
        match self.open(kind) {
            None => Err(OfferRefusal::NotOpen),
            Some(offer) if offer.by != seat => Err(OfferRefusal::NotOwn),
            Some(_) => Ok(()),
        }
    }

    /// Notes an offer that was checked.
    pub(crate) fn offered(&mut self, kind: Kind, by: Seat, seq: Seq) {
        let offer = Some(Offer { kind, by, seq, accepted: SeatSet::EMPTY });
        let last = &mut self.last[by.index()];
        match kind {
            Kind::Draw => (self.draw, last.0) = (offer, seq),
            Kind::Undo(_) => (self.undo, last.1) = (offer, seq),
        }
    }

    /// Notes that `seat` accepts, and others have yet to.
    pub(crate) fn accepted(&mut self, kind: Kind, seat: Seat) {
        let open = match kind {
            Kind::Draw => &mut self.draw,
            Kind::Undo(_) => &mut self.undo,
        };
        if let Some(offer) = open {
            offer.accepted = offer.accepted.with(seat);
        }
    }

    /// Declined, or withdrawn.
    pub(crate) const fn answered(&mut self, kind: Kind) {
        match kind {
            Kind::Draw => self.draw = None,
            Kind::Undo(_) => self.undo = None,
        }
    }

    /// A turn is over: where its seat answers offers, a draw that another has offered is declined by that.
    pub(crate) fn turn_over(&mut self, seat: Seat, answers: bool) {
        self.draw = self.draw.filter(|offer| offer.by == seat || !answers);
        self.undo = None;
    }

    /// Moves were taken back, or somebody left: whatever was offered concerned another game than the one that goes on.
    pub(crate) const fn lapse(&mut self) {
        self.draw = None;
        self.undo = None;
    }

    pub(crate) fn pack(&self, out: &mut Packer) {
        for offer in [&self.draw, &self.undo] {
            out.number(offer.map_or(0, |offer| offer.seq.0));
            let Some(offer) = offer else { continue };
            out.number(offer.by.0);
            out.count(offer.accepted.len());
            offer.accepted.iter().for_each(|seat| out.number(seat.0));
            if let Kind::Undo(target) = offer.kind {
                out.number(target.0);
            }
        }
        for (draw, undo) in &self.last {
            out.number(draw.0);
            out.number(undo.0);
        }
    }

    pub(crate) fn unpack(seats: u8, from: &mut Unpacker<'_>) -> Result<Offers, Damaged> {
        let draw = unpack_offer(seats, from, |_| Ok(Kind::Draw))?;
        let undo = unpack_offer(seats, from, |from| Ok(Kind::Undo(Seq(from.number()?))))?;
        let last = (0..seats).map(|_| Ok((Seq(from.number()?), Seq(from.number()?)))).collect::<Result<_, Damaged>>()?;
        Ok(Offers { draw, undo, last })
    }
}

fn unpack_offer(
    seats: u8,
    from: &mut Unpacker<'_>,
    kind: impl Fn(&mut Unpacker<'_>) -> Result<Kind, Damaged>,
) -> Result<Option<Offer>, Damaged> {
    let seq = Seq(from.number()?);
    if seq == Seq::ZERO {
        return Ok(None);
    }
    let seat = |from: &mut Unpacker<'_>| from.byte().ok().filter(|seat| *seat < seats).map(Seat).ok_or(Damaged);
    let by = seat(from)?;
    let accepted = (0..from.count()?).map(|_| seat(from)).collect::<Result<_, _>>()?;
    Ok(Some(Offer { by, seq, accepted, kind: kind(from)? }))
}
