//! Bots and clocks of a game to create, from the command line.
//!
//! Invariant: what can be told to make no sense without a server is told before one is asked.

use clap::Args;
use plybook_proto::v1;

use super::pace::{self, IfExpired};
use crate::suggest;

/// Bots and clocks.
#[derive(Args, Clone, Debug)]
pub(super) struct TermArgs {
    /// Have a bot play, such as minimax or mcts@1 (`plybook suggest --list` tells them); may be repeated. Bots take the
    /// last seats that are not yours; where every seat is a bot's, the game is watched.
    #[arg(long = "bot", value_name = "NAME[@VERSION]", conflicts_with = "joint")]
    pub(super) bots: Vec<String>,
    /// Nodes that each bot may spend on a move; the strategy's own number where none is given.
    #[arg(long, value_name = "NUMBER", requires = "bots")]
    nodes: Option<u64>,
    /// Who moves where a bot fails, and for a person whose time ran out under --if-expired bot; random where nobody is named
    #[arg(long, value_name = "NAME[@VERSION]")]
    fallback: Option<String>,
    /// A clock for every seat: 5m+3s, 30s/move, bronstein:5m+3s, byo-yomi:10m+5x30s, or 3d for days a move
    #[arg(long, value_name = "TIME")]
    clock: Option<String>,
    /// What becomes of a seat that lets its time pass; forfeit where nothing is said
    #[arg(long, value_enum, requires = "clock")]
    if_expired: Option<IfExpired>,
}

impl TermArgs {
    /// The bots, in the order in which they were named.
    pub(super) fn bots(&self) -> Result<Vec<v1::Bot>, String> {
        self.bots.iter().map(|name| bot("--bot", name, self.nodes.unwrap_or_default())).collect()
    }

    /// The rest of the terms; none where nothing is asked for.
    pub(super) fn terms(&self) -> Result<Option<v1::Terms>, String> {
        let if_expired = self.if_expired.unwrap_or(IfExpired::Forfeit);
        if self.fallback.is_some() && self.bots.is_empty() && if_expired != IfExpired::Bot {
            return Err("--fallback: it moves only where there is a --bot, or with --if-expired bot".to_owned());
        }
        let clock = self.clock.as_deref().map(|text| pace::read(text, if_expired).map_err(|why| format!("--clock: {why}"))).transpose()?;
        let fallback = self.fallback.as_deref().map(|name| bot("--fallback", name, 0)).transpose()?;
        let asked = clock.is_some() || fallback.is_some();
        Ok(asked.then(|| v1::Terms { fallback, clock: clock.as_ref().map(pace::to_wire), ..Default::default() }))
    }
}

fn bot(flag: &str, name: &str, nodes: u64) -> Result<v1::Bot, String> {
    Ok(v1::Bot { strategy: Some(suggest::spec(flag, name)?), nodes })
}
