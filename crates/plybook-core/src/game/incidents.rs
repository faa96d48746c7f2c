//! Leaving, offers, presence: what is appended to a game besides moves.
//!
//! Invariant: deciding and folding ask the same questions, in the same order, and what follows from an act is
//! computed in one place.

use crate::clock::IfExpired;
use crate::entry::{Act, Claim, Incident, Step, Undo, in_book_order};
use crate::game::Game;
use crate::game::left::{Left, Why};
use crate::game::living::people;
use crate::header::UndoBy;
use crate::limits;
use crate::offers::{Kind, OfferRefusal};
use crate::outcome::{Outcome, Reason};
use crate::presence::ClaimRefusal;
use crate::rejection::Rejection;
use crate::rules::Verdict;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;

/// How often every seat may let its time pass, all in a row, before the game is taken to be abandoned.
const IDLE_ROUNDS: u32 = 2;

impl Game {
    /// The seats that have not left.
    pub const fn live(&self) -> SeatSet {
        self.living.live
    }

    /// The seats that have left, in the order in which they did.
    pub fn left(&self) -> &[Left] {
        &self.living.left
    }

    /// The other seats whose agreement `seat` would need: those who are people and have not left.
    pub fn others(&self, seat: Seat) -> SeatSet {
        people(&self.header, self.living.live).without(seat)
    }

    /// Whether somebody at the table may do this at `at`, or, without a seat, the service on request.
    pub(super) fn check_act(&self, seat: Option<Seat>, act: Act, at: Time) -> Result<(), Rejection> {
        if let (Act::Abort, None) = (act, seat) {
            return Ok(());
        }
        if let (Act::Remove(seat), None) = (act, seat) {
            self.check_live(seat)?;
            return self.not_joined().map_or(Ok(()), Err);
        }
        let Some(seat) = seat else { return Err(Rejection::SeatNeeded) };
        self.check_live(seat)?;
        if self.header.terms.bot(seat).is_some() {
            return Err(Rejection::BotSeat { seat });
        }
        if let (Some(rejection), false) = (self.not_joined(), act == Act::Abort) {
            return Err(rejection);
        }
        match act {
            Act::Resign => Ok(()),
            Act::Abort => self.check_abort(),
            Act::Claim(claim) => self.check_claim(seat, claim, at),
            Act::Away | Act::Back => self.check_presence(seat, act == Act::Away),
            Act::Draw(step) => self.check_offer(seat, step, Kind::Draw),
            Act::Undo(step, target) => self.check_undo_offer(seat, step, target),
            Act::Remove(_) | Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_) => Err(Rejection::SeatNeeded),
        }
    }

    /// Whether a seat has not left.
    pub(super) fn check_live(&self, seat: Seat) -> Result<(), Rejection> {
        if self.living.live.contains(seat) { Ok(()) } else { Err(Rejection::SeatLeft { seat }) }
    }

    fn check_abort(&self) -> Result<(), Rejection> {
        let before = self.header.terms.abort_before.unwrap_or_else(|| u32::from(self.header.seat_count()));
        if self.position().ply() < before { Ok(()) } else { Err(Rejection::AbortNotAllowed { before }) }
    }

    fn check_claim(&self, seat: Seat, claim: Claim, at: Time) -> Result<(), Rejection> {
        let Some(presence) = &self.living.presence else { return Err(Rejection::ClaimNotAllowed(ClaimRefusal::Policy)) };
        match claim {
            Claim::Win => presence.check_claim_win(seat, at).map(|_| ()),
            Claim::Draw => presence.check_claim_draw(seat, at),
        }
        .map_err(Rejection::ClaimNotAllowed)
    }

    fn check_presence(&self, seat: Seat, away: bool) -> Result<(), Rejection> {
        let Some(presence) = &self.living.presence else { return Err(Rejection::PresenceNotKept) };
        if presence.away(seat).is_some() == away {
            return Err(Rejection::PresenceUnchanged);
        }
        // Who is back may always say so: a limit costs nobody the game.
        if away && presence.reports() >= limits::PRESENCE_REPORTS_MAX {
            return Err(Rejection::Limit { limit: "presence_reports", most: u64::from(limits::PRESENCE_REPORTS_MAX) });
        }
        Ok(())
    }

    fn check_offer(&self, seat: Seat, step: Step, kind: Kind) -> Result<(), Rejection> {
        let offers = &self.living.offers;
        match step {
            Step::Offer => offers.check_offer(kind, seat, self.others(seat), self.decided),
            Step::Accept => offers.check_accept(kind, seat, |by| self.others(by)).map(|_| ()),
            Step::Decline => offers.check_decline(kind, seat).map(|_| ()),
            Step::Withdraw => offers.check_withdraw(kind, seat),
        }
        .map_err(Rejection::OfferNotAllowed)
    }

    fn check_undo_offer(&self, seat: Seat, step: Step, target: Seq) -> Result<(), Rejection> {
        if self.header.undo.by != UndoBy::Agreement {
            return Err(Rejection::OfferNotAllowed(OfferRefusal::Policy));
        }
        self.check_offer(seat, step, Kind::Undo(target))?;
        match step {
            // What may not be taken back is not offered either.
            Step::Offer => self.undoable(seat, Some(target), true).map(|_| ()),
            Step::Accept | Step::Decline | Step::Withdraw => Ok(()),
        }
    }

    /// What a request comes to.
    pub(super) fn decide_act(&mut self, seat: Option<Seat>, act: Act, at: Time) -> Result<crate::entry::Body, Rejection> {
        use crate::entry::Body;
        self.check_act(seat, act, at)?;
        if let Some((by, target)) = self.agreed_undo(seat, act) {
            return Ok(Body::Undo(self.undo_to(by, Some(target), true)?));
        }
        Ok(Body::Incident(Incident { act, verdict: self.verdict_after(act, seat, at) }))
    }

    /// Who offered which undo, where this is the acceptance that completes it.
    pub(super) fn agreed_undo(&self, seat: Option<Seat>, act: Act) -> Option<(Seat, Seq)> {
        let (Act::Undo(Step::Accept, target), Some(seat)) = (act, seat) else { return None };
        let offers = &self.living.offers;
        let by = offers.undo()?.by;
        offers.check_accept(Kind::Undo(target), seat, |by| self.others(by)).is_ok_and(|complete| complete).then_some((by, target))
    }

    /// What taking back comes to, for a request of `seat`.
    pub(super) fn undo_to(&self, seat: Seat, target: Option<Seq>, agreed: bool) -> Result<Undo, Rejection> {
        let at = self.undoable(seat, target, agreed)?;
        let back_by = self.standing.len() - at;
        Ok(Undo {
            target: self.standing[at],
            ply: (self.play.floor() + at) as u32,
            cells: in_book_order(self.play.changes_back_by(back_by)),
            next: self.mover_after_undo(at),
            agreed,
            reopens: self.outcome().is_some(),
        })
    }

    /// Who moves once the standing moves from `at` on are taken back: the seat whose move goes first, or, where it
    /// has left, who is next.
    pub(super) fn mover_after_undo(&self, at: usize) -> Seat {
        let seat = self.play.standing()[at].seat;
        if self.living.live.contains(seat) {
            return seat;
        }
        let back_by = self.standing.len() - at;
        let mut trial = self.play.shortened(back_by);
        for _ in 0..back_by {
            trial.back();
        }
        trial.next_mover(self.living.live).map_or(seat, |(next, _)| next)
    }

    /// What follows from an act that is allowed; nothing where the game was finished before and still is.
    pub(super) fn verdict_after(&mut self, act: Act, seat: Option<Seat>, at: Time) -> Option<Verdict> {
        let leavers = self.leavers(act, seat, at);
        let verdict = match act {
            _ if !leavers.is_empty() => self.after_leaving(leavers, reason_of(act)),
            Act::Abort => Verdict::Finished(Outcome::void(reason_of(act))),
            Act::Claim(Claim::Draw) => Verdict::Finished(Outcome::draw(reason_of(act))),
            Act::Draw(Step::Accept) if self.draw_is_agreed(seat) => Verdict::Finished(Outcome::draw(reason_of(act))),
            Act::Timeout(late) if self.if_expired() == IfExpired::Skip => self.after_skipping(late),
            _ => Verdict::next(self.to_move()?),
        };
        let settles = matches!(act, Act::Timeout(_) | Act::Forfeit(_));
        if settles && matches!(verdict, Verdict::Next { .. }) && self.head.seq.0 >= limits::ENTRIES_MAX {
            return Some(Verdict::Finished(Outcome::void(ABANDONED)));
        }
        Some(verdict)
    }

    /// The seats that an act makes leave.
    fn leavers(&self, act: Act, seat: Option<Seat>, at: Time) -> SeatSet {
        match act {
            Act::Resign => seat.map_or(SeatSet::EMPTY, SeatSet::only),
            Act::Remove(seat) | Act::Forfeit(seat) => SeatSet::only(seat),
            Act::Timeout(seat) if self.if_expired() == IfExpired::Forfeit => SeatSet::only(seat),
            Act::Claim(Claim::Win) => self.living.presence.as_ref().map_or(SeatSet::EMPTY, |presence| presence.overdue(at)),
            _ => SeatSet::EMPTY,
        }
    }

    fn draw_is_agreed(&self, seat: Option<Seat>) -> bool {
        let accepts = |seat| self.living.offers.check_accept(Kind::Draw, seat, |by| self.others(by));
        seat.is_some_and(|seat| accepts(seat).is_ok_and(|complete| complete))
    }

    fn after_leaving(&mut self, leavers: SeatSet, reason: Reason) -> Verdict {
        let left = leavers.iter().fold(self.living.live, SeatSet::without);
        match (left.len(), self.to_move()) {
            (0, _) => Verdict::Finished(Outcome::void(reason)),
            (1, _) => Verdict::Finished(Outcome::wins(left, reason)),
            (_, Some(seat)) if left.contains(seat) => Verdict::next(seat),
            _ => self.next_of(left).unwrap_or(Verdict::Finished(Outcome::void(reason))),
        }
    }

    fn after_skipping(&mut self, late: Seat) -> Verdict {
        if self.living.idle + 1 >= IDLE_ROUNDS * self.living.live.len() as u32 {
            return Verdict::Finished(Outcome::void(ABANDONED));
        }
        // Where nobody else can move, it is the same seat's turn again.
        self.next_of(self.living.live.without(late)).unwrap_or(Verdict::next(late))
    }

    fn next_of(&mut self, among: SeatSet) -> Option<Verdict> {
        self.play.next_mover(among).map(|(seat, skipped)| Verdict::Next { seat, skipped })
    }

    /// Goes on by an act that was checked, at the entry `seq`.
    pub(super) fn apply_act(&mut self, seq: Seq, seat: Option<Seat>, incident: &Incident, at: Time) {
        let (act, leavers) = (incident.act, self.leavers(incident.act, seat, at));
        let before = self.to_move();
        match (act, seat) {
            (Act::Away, Some(seat)) => self.each_presence(|presence| presence.leaves(seat, at)),
            (Act::Back, Some(seat)) => self.each_presence(|presence| presence.is_back(seat, at, true)),
            (Act::Draw(step), Some(seat)) => self.apply_offer(seq, seat, step, Kind::Draw),
            (Act::Undo(step, target), Some(seat)) => self.apply_offer(seq, seat, step, Kind::Undo(target)),
            _ => {}
        }
        if !leavers.is_empty() {
            self.living.leave(&self.header, leavers, Why::of(act), (seq, at));
        }
        match &incident.verdict {
            Some(Verdict::Finished(outcome)) => {
                if let (Act::Timeout(_), Some(clock)) = (act, &mut self.living.clock) {
                    clock.expired(None);
                }
                self.break_off(outcome.clone(), at);
            }
            Some(Verdict::Next { seat: next, .. }) => {
                let next = *next;
                self.run_clock(act, before, next, at);
                if before != Some(next) {
                    self.play.pass_to(next);
                }
            }
            None => {}
        }
        if !leavers.is_empty() || matches!(act, Act::Timeout(_)) {
            self.decided = seq;
        }
    }

    pub(super) fn break_off(&mut self, outcome: Outcome, at: Time) {
        self.broken_off = Some(outcome);
        if let Some(clock) = &mut self.living.clock {
            clock.stopped(at);
        }
    }

    fn run_clock(&mut self, act: Act, before: Option<Seat>, next: Seat, at: Time) {
        let if_expired = self.if_expired();
        if let (Act::Timeout(late), IfExpired::Skip) = (act, if_expired) {
            self.living.idle += 1;
            self.living.offers.turn_over(late, self.header.terms.bot(late).is_none());
        }
        self.living.stand_in |= matches!((act, if_expired), (Act::Timeout(_), IfExpired::Bot));
        let Some(clock) = &mut self.living.clock else { return };
        match (act, if_expired) {
            (Act::Credit(ms), _) => clock.credit(ms),
            (Act::Timeout(_), IfExpired::Skip | IfExpired::Forfeit) => clock.expired(Some(next)),
            (Act::Timeout(_), IfExpired::Bot) => clock.expired(None),
            _ if before != Some(next) => {
                self.living.stand_in = false;
                clock.passed(at, Some(next));
            }
            _ => {}
        }
    }

    fn apply_offer(&mut self, seq: Seq, seat: Seat, step: Step, kind: Kind) {
        let offers = &mut self.living.offers;
        match step {
            Step::Offer => offers.offered(kind, seat, seq),
            Step::Accept => offers.accepted(kind, seat),
            Step::Decline | Step::Withdraw => offers.answered(kind),
        }
    }

    pub(super) fn each_presence(&mut self, change: impl FnOnce(&mut crate::presence::Presence)) {
        if let Some(presence) = &mut self.living.presence {
            change(presence);
        }
    }
}

const ABANDONED: Reason = Reason::new("abandoned");

/// The word for why a game ended by this act, or why a seat left.
const fn reason_of(act: Act) -> Reason {
    Reason::new(match act {
        Act::Resign => "resigned",
        Act::Abort => "aborted",
        Act::Remove(_) => "removed",
        Act::Timeout(_) => "timeout",
        Act::Draw(_) => "agreement",
        _ => "absent",
    })
}
