//! Which entries a stream wants.
//!
//! Invariant: whether an entry is wanted hangs on its game's header and its own line alone, so it is wanted or not for ever,
//! on whichever node.

use std::collections::BTreeSet;

use plybook_core::entry::{Body, Incident};
use plybook_core::limits::PLAYER_BYTES_MAX;
use plybook_core::{Entry, Header};
use plybook_proto::v1;
use plybook_store::State;

use crate::limits::FEED_RULESETS_MAX;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;

/// Which entries are wanted. What is empty is not filtered by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeedFilter {
    rulesets: BTreeSet<String>,
    player: Option<String>,
    states: BTreeSet<i32>,
}

impl FeedFilter {
    /// The shape of a request's filter.
    pub fn of(message: v1::FeedFilter) -> Result<FeedFilter, Refusal> {
        let within = |field: &str, text: &str| match text.len() <= PLAYER_BYTES_MAX && !text.contains('\0') {
            true => Ok(()),
            false => Err(Refusal::field(field, "is longer than any can be, or holds a NUL")),
        };
        if message.ruleset_ids.len() > FEED_RULESETS_MAX {
            return Err(Refusal::Limit { limit: "filter_rulesets", most: FEED_RULESETS_MAX as u64 });
        }
        for ruleset in &message.ruleset_ids {
            within("filter.ruleset_ids", ruleset)?;
            if ruleset.is_empty() {
                return Err(Refusal::field("filter.ruleset_ids", "names a ruleset with no name"));
            }
        }
        within("filter.player_id", &message.player_id)?;
        for state in &message.states {
            if !matches!(v1::GameState::try_from(*state), Ok(known) if known != v1::GameState::Unspecified) {
                return Err(Refusal::field("filter.states", format!("{state} is none of a game's states")));
            }
        }
        let player = (!message.player_id.is_empty()).then_some(message.player_id);
        Ok(FeedFilter { rulesets: message.ruleset_ids.into_iter().collect(), player, states: message.states.into_iter().collect() })
    }

    /// Whether entries of a game with this header may be wanted.
    pub fn fits_game(&self, header: &Header) -> bool {
        let ruleset = self.rulesets.is_empty() || self.rulesets.contains(&header.ruleset.name);
        ruleset && self.player.as_ref().is_none_or(|player| header.seats.iter().any(|place| place.player == *player))
    }

    /// Whether it matters in which state an entry leaves its game.
    pub fn asks_for_states(&self) -> bool {
        !self.states.is_empty()
    }

    /// Whether an entry that leaves its game in this state is wanted.
    pub fn fits_state(&self, state: State) -> bool {
        let state = match state {
            State::Active => v1::GameState::Active,
            State::Finished => v1::GameState::Finished,
            State::Closed => v1::GameState::Closed,
        };
        self.states.is_empty() || self.states.contains(&state.into())
    }

    /// What makes it this filter.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut canon = Canon::of("StreamAllEvents").number(self.rulesets.len() as u64);
        for ruleset in &self.rulesets {
            canon = canon.text(ruleset);
        }
        canon = canon.text(self.player.as_deref().unwrap_or_default());
        for state in &self.states {
            canon = canon.number(state.unsigned_abs().into());
        }
        canon.hash()
    }
}

/// The state in which an entry after the header leaves its game: its line alone tells.
pub fn state_after(entry: &Entry) -> State {
    match (&entry.body, entry.outcome()) {
        _ if entry.closes() => State::Closed,
        (_, Some(_)) => State::Finished,
        // Talk beside a game that was finished before, and still is.
        (Body::Incident(Incident { verdict: None, .. }), None) => State::Finished,
        _ => State::Active,
    }
}
