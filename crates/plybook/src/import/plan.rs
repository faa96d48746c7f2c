//! What to ask of the server for one recorded game, and what must come of it.
//!
//! Invariant: the `n`th step (from 0) is decided on entry `n + 1` and becomes entry `n + 2`, here as in
//! any book: so a plan can be sent again from its beginning, at any time.

use plybook_core::game::{Ask, State};
use plybook_core::header::UndoBy;
use plybook_core::{Digest, Game, Header, Outcome, Seat, Seq, Terms};
use plybook_proto::v1;
use plybook_records::Rehearsed;
use plybook_records::rehearsal::{tell, tell_of};

use super::acting::Asked;
use crate::typed;

/// One recorded game, ready to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The game, without a request id.
    pub(crate) create: v1::CreateGameRequest,
    /// One step an entry.
    pub(crate) steps: Vec<Step>,
    /// How it stands at the end.
    pub(crate) after: After,
    /// What of the record the game has not, in words; nothing where it has everything.
    pub(crate) without: Option<String>,
}

/// One entry to bring about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A move.
    Move {
        /// Who.
        seat: u32,
        /// What.
        notation: String,
    },
    /// Moves taken back.
    Undo {
        /// Who asked; nobody at the table where it is not told.
        seat: Option<u32>,
        /// The move taken back.
        target: u64,
    },
    /// Something that is no move.
    Act {
        /// Who; nobody at the table for what the calling service asks.
        seat: Option<Seat>,
        /// What.
        asked: Asked,
    },
    /// A finished game closed.
    Close,
}

impl Step {
    /// What is asked of the core.
    pub(crate) fn ask(&self) -> Ask {
        match self {
            Step::Move { notation, .. } => Ask::MoveText(notation.clone()),
            Step::Undo { target, .. } => Ask::Undo(Some(Seq(u32::try_from(*target).unwrap_or(u32::MAX)))),
            Step::Act { asked, .. } => Ask::Act(asked.act()),
            Step::Close => Ask::Close,
        }
    }
}

/// How a game stands when every step is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct After {
    /// Digest of the position.
    pub(crate) position_digest: Digest,
    /// How it ended, if it did.
    pub(crate) outcome: Option<Outcome>,
    /// Whether it is closed.
    pub(crate) closed: bool,
}

impl Plan {
    /// For a record that was played through here.
    pub(crate) fn of(rehearsed: Rehearsed) -> Plan {
        let Rehearsed { ruleset, given, seats, moves, position_digest, outcome } = rehearsed;
        let params = given.iter().map(|(name, value)| (name.clone(), typed::to_wire(value))).collect();
        let create = v1::CreateGameRequest {
            ruleset: Some(v1::RulesetSpec { id: ruleset.name, version: ruleset.version, params }),
            seats: vec![v1::Seat::default(); usize::from(seats)],
            undo_policy: Some(v1::UndoPolicy { by: v1::UndoBy::None.into(), over_throw: false, after_end: false }),
            ..Default::default()
        };
        let steps = moves.into_iter().map(|(seat, notation)| Step::Move { seat: u32::from(seat.0), notation }).collect();
        Plan { create, steps, after: After { position_digest, closed: outcome.is_some(), outcome }, without: None }
    }

    /// Number of moves, of those that stand and those taken back.
    pub(crate) fn moves(&self) -> usize {
        self.steps.iter().filter(|step| matches!(step, Step::Move { .. })).count()
    }
}

impl After {
    /// How `game` stands.
    pub(crate) fn of(game: &Game) -> After {
        After { position_digest: game.position_digest(), outcome: game.outcome().cloned(), closed: game.state() == State::Closed }
    }

    /// Whether the server's game stands like this, or what differs.
    pub(crate) fn check(&self, game: &v1::Game) -> Result<(), String> {
        let digest = game.position.as_ref().map(|position| hex(&position.position_digest)).unwrap_or_default();
        let expected = self.position_digest.to_string();
        if digest != expected {
            return Err(format!("the server's position has digest {digest}, the record's {expected}"));
        }
        let (ours, theirs) = (self.outcome.as_ref().map(tell), game.outcome.as_ref().map(tell_wire));
        if ours != theirs {
            return Err(format!("the server says {theirs:?}, the record {ours:?}"));
        }
        match game.state() == v1::GameState::Closed {
            closed if closed == self.closed => Ok(()),
            true => Err("the server has closed the game, the record has not".to_owned()),
            false => Err("the record has closed the game, the server has not".to_owned()),
        }
    }
}

fn tell_wire(outcome: &v1::Outcome) -> String {
    let winners: Vec<String> = outcome.winners.iter().map(u32::to_string).collect();
    tell_of(&winners, outcome.no_result, &outcome.reason)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The request for a game with this header, under a seed if there is one to give.
pub(crate) fn create(header: &Header, seed: Vec<u8>) -> v1::CreateGameRequest {
    let params = header.params.values().iter().map(|(name, value)| (name.clone(), typed::to_wire(value))).collect();
    let seat =
        |place: &plybook_core::header::Place| v1::Seat { player_id: place.player.clone(), mark: place.mark.clone(), ..Default::default() };
    let by = match header.undo.by {
        UndoBy::None => v1::UndoBy::None,
        UndoBy::OwnLastMove => v1::UndoBy::OwnLastMove,
        UndoBy::Agreement => v1::UndoBy::Agreement,
        UndoBy::Free => v1::UndoBy::Free,
    };
    let policy = v1::UndoPolicy { by: by.into(), over_throw: header.undo.over_throw, after_end: header.undo.after_end };
    let Terms { undo_limit, abort_before: abort_before_plies, .. } = header.terms;
    let terms = v1::Terms { undo_limit, abort_before_plies, ..v1::Terms::default() };
    v1::CreateGameRequest {
        request_id: String::new(),
        ruleset: Some(v1::RulesetSpec { id: header.ruleset.name.clone(), version: header.ruleset.version, params }),
        seats: header.seats.iter().map(seat).collect(),
        undo_policy: Some(policy),
        seed,
        terms: Some(terms).filter(|terms| *terms != v1::Terms::default()),
        ..Default::default()
    }
}
