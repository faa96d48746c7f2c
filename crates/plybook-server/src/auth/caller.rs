//! Who is calling, and whether they may.
//!
//! Invariants: a refusal depends on the credential and the request alone, never on whether a game is there; what is
//! appended to a game went through [`Caller::may_act`], because nothing else makes a [`Permitted`].

use plybook_core::Seat;
use plybook_core::header::Principal;
use plybook_store::{GameKey, TenantId};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::access::{Reach, Rpc, reaches};
use super::tenure::Tenure;
use super::{Role, principal};
use crate::refusal::Refusal;
use crate::requests::Asked;

/// Who is calling, for which tenant, and as what.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Whose games they see.
    pub tenant: TenantId,
    /// As it will stand in the book.
    pub principal: Principal,
    /// As what.
    pub role: Role,
    /// Until when the credential goes on to hold: a stream of theirs ends with it.
    pub tenure: Tenure,
    /// Which token it is, where it is bound to one game.
    pub bearer: Option<Bearer>,
}

/// A token that is bound to one game, and so lies in a player's or a watcher's own client: what it uses up is counted for
/// it alone, beside what is counted for its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bearer(pub u128);

impl Bearer {
    fn of(token: &str) -> Bearer {
        Bearer(Sha256::digest(token).iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte)))
    }
}

/// A request to a game that its caller may make.
pub struct Permitted(Asked);

impl Permitted {
    /// The request.
    pub fn into_asked(self) -> Asked {
        self.0
    }
}

impl Caller {
    /// Everybody, where authentication is off: the service of the tenant `default`.
    pub fn anonymous() -> Result<Caller, Refusal> {
        let principal = Principal::parse(principal::ANONYMOUS).ok_or_else(|| Refusal::internal("the principal's name is not one"))?;
        Ok(Caller { tenant: TenantId::DEFAULT, principal, role: Role::Service, tenure: Tenure::default(), bearer: None })
    }

    /// The same, who bears this token.
    #[must_use]
    pub(super) fn bearing(self, token: &str) -> Caller {
        let bearer = self.role.game().map(|_| Bearer::of(token));
        Caller { bearer, ..self }
    }

    /// The key of a game of this caller's tenant, which says nothing of what they may do with it.
    pub(crate) const fn game(&self, game: Uuid) -> GameKey {
        GameKey { tenant: self.tenant, game }
    }

    /// Whether they may make a call that is about no game that is there.
    pub fn may(&self, rpc: Rpc) -> Result<(), Refusal> {
        self.allowed(rpc, self.reach(rpc) == Reach::Tenant)
    }

    /// The key of a game that they may read by this call.
    pub fn may_see(&self, rpc: Rpc, game: Uuid) -> Result<GameKey, Refusal> {
        let own = || self.role.game().is_none_or(|bound| bound == game);
        let allowed = match self.reach(rpc) {
            Reach::Tenant | Reach::NoSeat => true,
            Reach::OwnGame => own(),
            Reach::OwnSeat | Reach::Nothing => false,
        };
        self.allowed(rpc, allowed)?;
        Ok(self.game(game))
    }

    /// A request of this call that they may make.
    pub fn may_act(&self, rpc: Rpc, asked: Asked) -> Result<Permitted, Refusal> {
        let (game, seat) = (asked.key.game, asked.request.actor.seat);
        let allowed = match self.reach(rpc) {
            Reach::Tenant => true,
            Reach::NoSeat => seat.is_none(),
            Reach::OwnSeat => self.owns(game, seat),
            Reach::OwnGame | Reach::Nothing => false,
        };
        self.allowed(rpc, allowed)?;
        Ok(Permitted(asked))
    }

    fn owns(&self, game: Uuid, seat: Option<Seat>) -> bool {
        seat.is_some() && self.role.game() == Some(game) && self.role.seat() == seat
    }

    const fn reach(&self, rpc: Rpc) -> Reach {
        reaches(rpc)[self.role.column()]
    }

    fn allowed(&self, rpc: Rpc, allowed: bool) -> Result<(), Refusal> {
        if allowed { Ok(()) } else { Err(self.denied(rpc)) }
    }

    /// What they are told who may not.
    pub const fn denied(&self, rpc: Rpc) -> Refusal {
        Refusal::AccessDenied { rpc: rpc.name(), role: self.role.name() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plybook_core::entry::Actor;
    use plybook_core::game::{Ask, Request};
    use plybook_core::{Seat, Seq};
    use plybook_store::RequestKey;

    use super::*;

    fn caller(role: Role) -> Caller {
        Caller { role, ..Caller::anonymous().unwrap() }
    }

    fn asked(game: u128, seat: Option<u8>) -> Asked {
        let caller = caller(Role::Service);
        let actor = Actor { seat: seat.map(Seat), by: caller.principal.clone() };
        let request = Request { actor, expected: Seq::FIRST, ask: Ask::Close };
        Asked { key: caller.game(Uuid::from_u128(game)), id: RequestKey { id: Uuid::from_u128(1), hash: [0; 32] }, request }
    }

    #[test]
    fn a_seat_acts_for_itself_in_its_game_alone() {
        let seat = caller(Role::Seat { game: Uuid::from_u128(7), seat: Seat(1) });
        for (game, acts_for, may) in [(7, Some(1), true), (7, Some(0), false), (7, None, false), (8, Some(1), false)] {
            assert_eq!(seat.may_act(Rpc::MakeMove, asked(game, acts_for)).is_ok(), may, "{game} {acts_for:?}");
            assert_eq!(seat.may_act(Rpc::AbortGame, asked(game, acts_for)).is_ok(), may, "{game} {acts_for:?}");
            assert!(seat.may_act(Rpc::CloseGame, asked(game, acts_for)).is_err());
        }
        assert!(seat.may_see(Rpc::GetGame, Uuid::from_u128(7)).is_ok());
        assert!(seat.may_see(Rpc::GetGame, Uuid::from_u128(8)).is_err());
        assert!(seat.may(Rpc::ListGames).is_err());
    }

    #[test]
    fn an_operator_acts_for_nobody_at_the_table() {
        let operator = caller(Role::Operator);
        assert!(operator.may_act(Rpc::AbortGame, asked(7, None)).is_ok());
        assert!(operator.may_act(Rpc::AbortGame, asked(7, Some(0))).is_err());
        assert!(operator.may_act(Rpc::MakeMove, asked(7, Some(0))).is_err());
    }

    #[test]
    fn a_spectator_sees_one_game_or_any() {
        let (bound, free) = (caller(Role::Spectator { game: Some(Uuid::from_u128(7)) }), caller(Role::Spectator { game: None }));
        for (game, may) in [(7, true), (8, false)] {
            assert_eq!(bound.may_see(Rpc::StreamEvents, Uuid::from_u128(game)).is_ok(), may);
            assert!(free.may_see(Rpc::StreamEvents, Uuid::from_u128(game)).is_ok());
            assert!(free.may_see(Rpc::SuggestMove, Uuid::from_u128(game)).is_err());
        }
    }
}
