//! What lists of games share: which games are wanted, and what a listed one says.
//!
//! Invariant: one broken book hides no other, and a page costs a bounded number of looks.

use plybook_core::{Game, Time};
use plybook_proto::v1;
use plybook_store::{Filter, GameKey, State, Summary};

use crate::refusal::Refusal;
use crate::replies;
use crate::service::Service;

/// Which games are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) player: Option<String>,
    pub(super) ruleset: Option<String>,
    pub(super) state: Option<State>,
    pub(super) to_move: Option<String>,
    pub(super) due_before: Option<Time>,
    pub(super) deadlines: bool,
}

impl Wanted {
    /// The shape of a ListGames.
    pub(super) fn of(message: &v1::ListGamesRequest) -> Result<Wanted, Refusal> {
        let given = |text: &String| (!text.is_empty()).then(|| text.clone());
        let state = match v1::GameState::try_from(message.state) {
            Ok(v1::GameState::Unspecified) => None,
            Ok(v1::GameState::Active) => Some(State::Active),
            Ok(v1::GameState::Finished) => Some(State::Finished),
            Ok(v1::GameState::Closed) => Some(State::Closed),
            Err(_) => return Err(Refusal::field("state", format!("{} is not one of its values", message.state))),
        };
        let within = |field: &str, text: &str| match text.len() <= plybook_core::limits::PLAYER_BYTES_MAX && !text.contains('\0') {
            true => Ok(()),
            false => Err(Refusal::field(field, "is longer than any can be, or holds a NUL")),
        };
        within("player_id", &message.player_id)?;
        within("ruleset_id", &message.ruleset_id)?;
        within("to_move_player_id", &message.to_move_player_id)?;
        Ok(Wanted {
            player: given(&message.player_id),
            ruleset: given(&message.ruleset_id),
            state,
            to_move: given(&message.to_move_player_id),
            due_before: message.due_before.as_ref().map(time).transpose()?,
            deadlines: message.with_deadlines,
        })
    }

    /// Whether nothing can fit: who is to move is so in a game that goes on.
    pub(super) fn contradicts_itself(&self) -> bool {
        self.to_move.is_some() && !matches!(self.state, None | Some(State::Active))
    }

    /// What the store looks for: more than fits, where somebody is to move.
    pub(super) fn filter(&self) -> Filter {
        let state = if self.to_move.is_some() { Some(State::Active) } else { self.state };
        Filter { player: self.to_move.clone().or_else(|| self.player.clone()), ruleset: self.ruleset.clone(), state }
    }

    /// Whether this is one of them.
    pub(super) fn fits(&self, game: &v1::Game) -> bool {
        let plays = |player: &String| game.seats.iter().any(|seat| seat.player_id == *player);
        let moves = |player: &String| {
            let seat = game.seat_to_move.and_then(|seat| game.seats.get(seat as usize));
            seat.is_some_and(|seat| seat.player_id == *player)
        };
        let of = |ruleset: &String| game.ruleset.as_ref().is_some_and(|spec| spec.id == *ruleset);
        let in_state = |state: State| {
            let state = match state {
                State::Active => v1::GameState::Active,
                State::Finished => v1::GameState::Finished,
                State::Closed => v1::GameState::Closed,
            };
            game.state() == state
        };
        self.player.as_ref().is_none_or(plays)
            && self.to_move.as_ref().is_none_or(moves)
            && self.ruleset.as_ref().is_none_or(of)
            && self.state.is_none_or(in_state)
    }
}

fn time(given: &prost_types::Timestamp) -> Result<Time, Refusal> {
    let bad = || Refusal::field("due_before", "is no time of the years 1970 to 9999");
    let (seconds, nanos) = (u64::try_from(given.seconds).map_err(|_| bad())?, u64::try_from(given.nanos).map_err(|_| bad())?);
    if nanos >= 1_000_000_000 {
        return Err(bad());
    }
    Ok(Time::from_unix_ms(seconds.saturating_mul(1_000).saturating_add(nanos / 1_000_000)))
}

impl Service {
    /// A game as it stands in a list.
    pub(super) async fn listed(&self, key: GameKey, summary: &Summary, deadlines: bool) -> Result<v1::Game, Refusal> {
        let mut game = replies::game::listed(summary)?;
        if game.foreign.is_some() {
            return Ok(game);
        }
        let over = summary.state != State::Active;
        // Talk of an undo may stand after the end.
        let untold = over && game.outcome.is_none();
        let may_be_due = deadlines && summary.state != State::Closed && (game.terms.is_some() || game.joint_entropy.is_some());
        if untold || may_be_due {
            let told = |game: &Game| (game.outcome().map(replies::outcome), replies::living::deadline(game));
            let (outcome, deadline) = self.games.with_head(key, |table| told(&table.game)).await?;
            game.outcome = game.outcome.or(outcome.filter(|_| over));
            game.deadline = deadline.filter(|_| deadlines);
        }
        Ok(game)
    }

    /// A game of the queue as it stands in a list; nothing where it is due no more, or later.
    pub(super) async fn due_before(&self, key: GameKey, before: Time) -> Result<Option<v1::Game>, Refusal> {
        let due = |game: &Game| {
            game.due().filter(|(deadline, _)| *deadline < before)?;
            Some(replies::game::brief(game))
        };
        self.games.with_head(key, |table| due(&table.game)).await
    }
}
