//! `bots`: every strategy of this build, thinking in this process; no server and no store is in it.
//!
//! Invariant: all strategies think about the same positions, each with the same budget as far as it can use it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use plybook_bots::{Bots, Budget, Chance, Meter, Strategy, View};
use plybook_core::{Params, Play, RulesetId};
use plybook_rulesets::Registry;

use super::contender::{Contender, Name, Unit};
use super::load::{self, Asked, Caller};
use super::slice::Slice;

/// Whose moves cost next to nothing: the limit of the others.
pub(super) const FLOOR: &str = "random@1";

/// Games for two and their first moves.
const POSITIONS: &[(&str, &str)] = &[("connect_four", "4 4 3 5"), ("gomoku", "h8 h9 g7 i8"), ("othello", "f5 d6 c3")];
const SEATS: u8 = 2;

/// Every strategy, by so many thinkers.
pub(super) fn contenders(thinkers: usize, nodes: u64) -> anyhow::Result<Vec<Box<dyn Contender>>> {
    let tables = tables()?;
    let bots = Bots::standard();
    let mut found: Vec<Box<dyn Contender>> = Vec::new();
    for card in bots.cards() {
        let strategy = Arc::clone(bots.find(card.name, Some(card.version))?);
        let budget = nodes.min(card.most_budget.0);
        let thinker =
            || Thinker { strategy: Arc::clone(&strategy), tables: Arc::clone(&tables), budget: Budget(budget), turn: 0, nodes: 0 };
        found.push(Box::new(Thinking { id: card.id().to_string(), budget, thinkers: (0..thinkers).map(|_| thinker()).collect() }));
    }
    Ok(found)
}

fn tables() -> anyhow::Result<Arc<Vec<Table>>> {
    let registry = Registry::standard();
    let mut tables = Vec::new();
    for (ruleset, moves) in POSITIONS {
        let (ruleset, params, rules) = registry.choose(ruleset, None, std::collections::BTreeMap::new(), SEATS)?;
        let mut play = Play::new(rules, SEATS);
        for notation in moves.split(' ') {
            let action = play.rules().read_action(notation).with_context(|| format!("{notation} is no action of {ruleset}"))?;
            play.play(action, &[]).map_err(|why| anyhow::anyhow!("{notation}: {why}"))?;
        }
        tables.push(Table { play, ruleset, params });
    }
    Ok(Arc::new(tables))
}

struct Table {
    play: Play,
    ruleset: RulesetId,
    params: Params,
}

struct Thinking {
    id: String,
    budget: u64,
    thinkers: Vec<Thinker>,
}

#[async_trait]
impl Contender for Thinking {
    fn name(&self) -> Name {
        Name::new("bots", self.thinkers.len(), Unit::Choices).kind(self.id.clone()).with("budget", self.budget)
    }

    async fn ready(&mut self, _: Duration) -> anyhow::Result<()> {
        self.thinkers.iter_mut().for_each(|thinker| thinker.nodes = 0);
        Ok(())
    }

    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice> {
        let (thinkers, mut slice) = load::run(std::mem::take(&mut self.thinkers), lasts).await?;
        self.thinkers = thinkers;
        let nodes: u64 = self.thinkers.iter().map(|thinker| thinker.nodes).sum();
        slice.more.push(("nodes_per_s", nodes as f64 / slice.lasted.as_secs_f64().max(1e-9)));
        Ok(slice)
    }
}

struct Thinker {
    strategy: Arc<dyn Strategy>,
    tables: Arc<Vec<Table>>,
    budget: Budget,
    turn: usize,
    nodes: u64,
}

impl Caller for Thinker {
    async fn ask(&mut self) -> anyhow::Result<Asked> {
        let Some(table) = self.tables.get(self.turn % self.tables.len()) else { return Ok(Asked::Spent) };
        self.turn += 1;
        let view = View::new(&table.play, &table.ruleset, &table.params);
        if !self.strategy.plays(&view) {
            return Ok(Asked::InVain);
        }
        let mut meter = Meter::unstopped(self.budget);
        let choose = || self.strategy.choose(&view, &mut meter, &mut Chance::for_advice(&view));
        // Thinking leaves no moment for anybody else on its thread.
        self.nodes += tokio::task::block_in_place(choose)?.nodes;
        Ok(Asked::Did(1))
    }
}
