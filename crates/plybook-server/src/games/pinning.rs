//! The bots of a game to be created: named by a caller, pinned to strategies of this build.
//!
//! Invariant: a header pins only strategies that play its game, with budgets that this node allows.

use std::sync::Arc;

use plybook_bots::strategy::Card;
use plybook_bots::{Bots, View};
use plybook_core::bot::Bot;
use plybook_core::clock::IfExpired;
use plybook_core::header::{UndoBy, UndoPolicy};
use plybook_core::{Params, Play, Rules, RulesetId, Seat, Terms};

use crate::refusal::Refusal;

/// Moves for a bot that fails, and for a person whose time ran out, where the caller names nobody: at once.
const FALLBACK: &str = "random";

/// A bot as a caller asks for it.
#[derive(Clone, Debug)]
pub struct AskedBot {
    /// The field of the request that it stands in.
    pub field: String,
    /// The strategy's name.
    pub strategy: String,
    /// Its version; the newest one where none is named.
    pub version: Option<u32>,
    /// Its budget; 0 for the strategy's default.
    pub nodes: u64,
}

/// The bots that a caller asks for.
#[derive(Clone, Debug, Default)]
pub struct AskedBots {
    /// By seat, ascending.
    pub bots: Vec<(Seat, AskedBot)>,
    /// The fallback.
    pub fallback: Option<AskedBot>,
}

/// What of strategies this node has.
#[derive(Clone)]
pub struct Strategies {
    /// The strategies.
    pub bots: Bots,
    /// Most nodes of a choice.
    pub nodes_max: u64,
}

/// A game that is about to be created, as far as strategies see it.
pub struct Setting<'a> {
    /// Name and version.
    pub ruleset: &'a RulesetId,
    /// Every parameter.
    pub params: &'a Params,
    /// The rules.
    pub rules: &'a Arc<dyn Rules>,
    /// How many seats.
    pub seats: u8,
    /// What may be taken back.
    pub undo: UndoPolicy,
}

impl Strategies {
    /// The terms with their bots.
    pub fn pinned(&self, asked: &AskedBots, terms: Terms, setting: &Setting<'_>) -> Result<Terms, Refusal> {
        let lets_bot_move = terms.clock.is_some_and(|clock| clock.if_expired == IfExpired::Bot);
        let fallback = match &asked.fallback {
            None if lets_bot_move || !asked.bots.is_empty() => Some(unnamed()),
            Some(_) if !lets_bot_move && asked.bots.is_empty() => {
                return Err(Refusal::field("terms.fallback", "moves only where a seat is a bot, or the clock lets a bot move"));
            }
            named => named.clone(),
        };
        let mut pinned = terms;
        if !asked.bots.is_empty() || fallback.is_some() {
            let play = Play::new(Arc::clone(setting.rules), setting.seats);
            let view = View::new(&play, setting.ruleset, setting.params);
            pinned.bots = asked.bots.iter().map(|(seat, bot)| Ok((*seat, self.pin(bot, &view)?))).collect::<Result<_, Refusal>>()?;
            pinned.fallback = fallback.map(|bot| self.pin(&bot, &view)).transpose()?;
        }
        check(&pinned, setting)?;
        Ok(pinned)
    }

    /// Whether every bot of these terms is there, and may think for so long: of a game whose terms were accepted before,
    /// perhaps by a node with another limit.
    pub fn know(&self, terms: &Terms) -> Result<(), Refusal> {
        let mut pinned = terms.bots.iter().map(|(_, bot)| bot).chain(&terms.fallback);
        pinned.try_for_each(|bot| {
            let strategy = self.bots.find(&bot.strategy, Some(bot.version))?;
            self.budget(bot.nodes, &strategy.card()).map(|_| ())
        })
    }

    fn pin(&self, asked: &AskedBot, view: &View<'_>) -> Result<Bot, Refusal> {
        let strategy = self.bots.find(&asked.strategy, asked.version)?;
        let card = strategy.card();
        if !strategy.plays(view) {
            let why = format!("{} does not play {} like this", card.id(), view.ruleset());
            return Err(Refusal::field(format!("{}.strategy", asked.field), why));
        }
        Ok(Bot { strategy: card.name.to_owned(), version: card.version, nodes: self.budget(asked.nodes, &card)? })
    }

    fn budget(&self, nodes: u64, card: &Card) -> Result<u64, Refusal> {
        let (own, node) = (card.most_budget.0, self.nodes_max);
        match nodes {
            0 => Ok(card.default_budget.0.min(node)),
            nodes if nodes > node => Err(Refusal::Limit { limit: "bot_nodes_max", most: node }),
            nodes if nodes > own => Err(Refusal::Limit { limit: "strategy_nodes", most: own }),
            nodes => Ok(nodes),
        }
    }
}

fn unnamed() -> AskedBot {
    AskedBot { field: "terms.fallback".to_owned(), strategy: FALLBACK.to_owned(), version: None, nodes: 0 }
}

/// What only the whole of a game's terms shows.
fn check(terms: &Terms, setting: &Setting<'_>) -> Result<(), Refusal> {
    let people = usize::from(setting.seats) - terms.bots.len();
    if setting.undo.by == UndoBy::OwnLastMove && setting.undo.over_throw && people > 1 {
        let why = "a shown throw is taken back with everybody's consent alone: by agreement, or by a caller that is trusted";
        return Err(Refusal::field("undo_policy.over_throw", why));
    }
    terms.check(setting.seats, setting.undo).map_err(|unkept| Refusal::field(format!("terms.{}", unkept.term), unkept.why))
}
