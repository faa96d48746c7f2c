//! Nonces and absences: what is appended before the first move of a game that asks for them.
//!
//! Invariant: deciding and folding ask [`crate::entropy::Joining`] the same questions.

use crate::entropy::{Commit, JoinRefusal, Step};
use crate::entry::{Absent, Body, Reveal};
use crate::game::Game;
use crate::rejection::Rejection;
use crate::seat::Seat;
use crate::time::Time;

impl Game {
    pub(super) fn decide_commit(&self, seat: Option<Seat>, commit: &Commit, at: Time) -> Result<Body, Rejection> {
        self.check_commit(seat, commit, at).map_err(Rejection::JoinNotAllowed)?;
        Ok(Body::Commit(commit.clone()))
    }

    pub(super) fn decide_reveal(&self, seat: Option<Seat>, nonce: &[u8], at: Time) -> Result<Body, Rejection> {
        let next = self.check_reveal(seat, nonce, at).map_err(Rejection::JoinNotAllowed)?;
        Ok(Body::Reveal(Reveal { nonce: nonce.to_vec(), next }))
    }

    /// What closing the game settles, once the seats have let the time for joining pass.
    pub(super) fn absence(&self, now: Time) -> Option<(Absent, Time)> {
        let joining = self.waits_for()?;
        let absent = Absent { seats: joining.waiting(), outcome: joining.absence() };
        (now > joining.deadline()).then(|| (absent, joining.deadline()))
    }

    pub(super) fn not_joined(&self) -> Option<Rejection> {
        let joining = self.waits_for()?;
        Some(Rejection::NotJoined { step: joining.step(), waiting: joining.waiting(), deadline: joining.deadline() })
    }

    fn check_commit(&self, seat: Option<Seat>, commit: &Commit, at: Time) -> Result<Seat, JoinRefusal> {
        let (Some(joining), Some(seat)) = (&self.joining, seat) else { return Err(JoinRefusal::NotJoint) };
        joining.check_commit(seat, commit, at).map(|()| seat)
    }

    /// Who moves once this nonce is revealed.
    fn check_reveal(&self, seat: Option<Seat>, nonce: &[u8], at: Time) -> Result<Option<Seat>, JoinRefusal> {
        let (Some(joining), Some(seat)) = (&self.joining, seat) else { return Err(JoinRefusal::NotJoint) };
        joining.check_reveal(seat, nonce, at)?;
        Ok(self.position().to_move().filter(|_| joining.completes(seat)))
    }

    pub(super) fn fold_commit(&mut self, seat: Option<Seat>, commit: &Commit, at: Time) -> Result<(), String> {
        let seat = self.check_commit(seat, commit, at).map_err(|refused| format!("the commitment is refused: {refused}"))?;
        if let Some(joining) = &mut self.joining {
            joining.commit(seat, commit.clone(), at);
        }
        Ok(())
    }

    pub(super) fn fold_reveal(&mut self, seat: Option<Seat>, reveal: &Reveal, at: Time) -> Result<(), String> {
        let next = self.check_reveal(seat, &reveal.nonce, at).map_err(|refused| format!("the nonce is refused: {refused}"))?;
        if next != reveal.next {
            return Err("it claims another seat to be next".to_owned());
        }
        if let (Some(joining), Some(seat)) = (&mut self.joining, seat) {
            joining.reveal(seat, reveal.nonce.clone());
        }
        if let (Some(clock), Some(next)) = (&mut self.living.clock, next) {
            clock.resumed(at, next);
        }
        Ok(())
    }

    pub(super) fn fold_absent(&mut self, seat: Option<Seat>, absent: &Absent, at: Time) -> Result<(), String> {
        if seat.is_some() {
            return Err("absence is told by nobody at the table".to_owned());
        }
        let Some(joining) = self.waits_for() else { return Err("nobody was waited for".to_owned()) };
        assert_ne!(joining.step(), Step::Play, "seats are waited for");
        if at != joining.deadline() {
            return Err(format!("the time was over at {}", joining.deadline()));
        }
        if absent.seats != joining.waiting() || absent.outcome != joining.absence() {
            return Err(format!("the seats waited for were {}", joining.waiting()));
        }
        self.break_off(absent.outcome.clone(), at);
        Ok(())
    }
}
