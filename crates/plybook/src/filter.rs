//! Which entries of the feed are wanted, as flags.
//!
//! Invariant: the same wishes in another order are the same filter, told by the same words.

use clap::{Args, ValueEnum};
use plybook_proto::v1;

/// The flags of a filter.
#[derive(Args, Clone, Debug)]
pub(crate) struct FilterArgs {
    /// Only games of this ruleset; repeat it for several
    #[arg(long, value_name = "ID")]
    ruleset: Vec<String>,
    /// Only games with this player
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Only entries that leave their game in this state; repeat it for several: finished and closed are results
    #[arg(long, value_enum)]
    state: Vec<StateArg>,
}

/// A game's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StateArg {
    Active,
    Finished,
    Closed,
}

impl FilterArgs {
    /// As the server wants it.
    pub(crate) fn filter(&self) -> v1::FeedFilter {
        let state = |state: &StateArg| match state {
            StateArg::Active => v1::GameState::Active,
            StateArg::Finished => v1::GameState::Finished,
            StateArg::Closed => v1::GameState::Closed,
        };
        v1::FeedFilter {
            ruleset_ids: self.ruleset.clone(),
            player_id: self.player.clone().unwrap_or_default(),
            states: self.state.iter().map(|given| state(given).into()).collect(),
        }
    }

    /// In words, to be compared.
    pub(crate) fn told(&self) -> String {
        let v1::FeedFilter { ruleset_ids: mut rulesets, player_id: player, mut states } = self.filter();
        rulesets.sort_unstable();
        rulesets.dedup();
        states.sort_unstable();
        states.dedup();
        serde_json::json!([rulesets, player, states]).to_string()
    }
}
