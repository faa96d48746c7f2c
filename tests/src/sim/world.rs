//! A simulated world: nodes over one store, and people at their tables, until all that could happen has.
//!
//! Invariant: nodes and people are told apart from what they are told: nobody here looks into a node to find out what
//! the book should say.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plybook_core::bot::Bot;
use plybook_core::game::State;
use plybook_core::header::{Place, Principal, Receipts};
use plybook_core::{Terms, Time};
use plybook_server::games::act::Acted;
use plybook_server::games::create::Plan;
use plybook_server::games::pinning::{AskedBot, AskedBots};
use plybook_server::refusal::Refusal;
use plybook_store::{GameKey, RequestKey, TenantId};
use tokio::task::JoinHandle;

use super::agreement::Agreement;
use super::faults::{Fault, Faults};
use super::ledger::{Ledger, random_uuid};
use super::node::{DrawnIds, Node};
use super::played::Played;
use super::shelf::Shelf;
use super::told::Told;
use super::witness::Witness;
use crate::injected::Call;
use crate::random::Random;
use crate::table::MARKS;

/// More calls to the store than whatever follows from one moment takes: bots play long games among themselves.
const CALLS_OF_A_MOMENT: u64 = 30_000;

/// What came of all worlds of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Worlds.
    pub worlds: AtomicU64,
    /// Games.
    pub games: AtomicU64,
    /// Entries, headers among them.
    pub entries: AtomicU64,
    /// Requests.
    pub asked: AtomicU64,
    /// What went wrong.
    pub faults: Arc<Faults>,
    /// What the entries are.
    pub written: Faults,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [worlds, games, entries, asked] =
            [&self.worlds, &self.games, &self.entries, &self.asked].map(|count| count.load(Ordering::Relaxed));
        writeln!(f, "{worlds} worlds, {games} games, {entries} entries, {asked} requests; what went wrong:\n{}", self.faults)?;
        write!(f, "what is written:\n{}", self.written)
    }
}

/// How a world is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Nodes.
    pub nodes: usize,
    /// Games.
    pub games: usize,
    /// Requests of a game, at most.
    pub asks: u64,
}

/// An answer that a node which stands still has not given yet.
pub(super) struct Awaited {
    pub(super) node: usize,
    pub(super) game: usize,
    pub(super) number: usize,
    /// Whether an answer to the same request was known when it was sent.
    pub(super) was_answered: bool,
    pub(super) task: JoinHandle<Result<Acted, Refusal>>,
}

/// See the module.
pub struct World<'a> {
    pub(super) random: Random,
    pub(super) shelf: Arc<Shelf>,
    pub(super) nodes: Vec<Node>,
    pub(super) games: Vec<Played>,
    pub(super) awaited: Vec<Awaited>,
    pub(super) told: Told,
    pub(super) tally: &'a Tally,
    ids: Arc<DrawnIds>,
}

impl<'a> World<'a> {
    /// Runs the world of this number to its end.
    pub async fn run(number: u64, size: Size, shelf: Shelf, store: &str, tally: &'a Tally) -> Result<(), String> {
        let mut random = Random::new(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let (shelf, ids) = (Arc::new(shelf), Arc::new(DrawnIds::new(random.bits())));
        let nodes = (0..size.nodes).map(|_| Node::start(&shelf, &tally.faults, &ids, &mut random)).collect();
        let told = Told::of(store, number);
        let mut world = World { random, shelf, nodes, games: Vec::new(), awaited: Vec::new(), told, tally, ids };
        let lived = world.lives(size).await;
        world.nodes.iter().for_each(|node| node.line.dies());
        lived.map_err(|why| world.told.failed(&why))
    }

    async fn lives(&mut self, size: Size) -> Result<(), String> {
        for _ in 0..size.games {
            self.creates(size.asks).await?;
        }
        while self.games.iter().any(|game| game.asks_left > 0) {
            self.goes_on().await?;
        }
        self.ends().await?;
        self.tally.worlds.fetch_add(1, Ordering::Relaxed);
        self.tally.games.fetch_add(self.games.len() as u64, Ordering::Relaxed);
        for stored in self.games.iter().flat_map(|game| &game.witness.entries()[1..]) {
            self.tally.written.note(&kind_of(&stored.line));
        }
        let entries: usize = self.games.iter().map(|game| game.witness.entries().len()).sum();
        self.tally.entries.fetch_add(entries as u64, Ordering::Relaxed);
        Ok(())
    }

    /// A game is created, now and then by a request that has to be repeated.
    async fn creates(&mut self, asks: u64) -> Result<(), String> {
        let agreement = Agreement::draw(&mut self.random);
        let request = RequestKey { id: random_uuid(&mut self.random), hash: self.random.bytes() };
        let mut created = None;
        let faults = self.random.below(3);
        for attempt in 0..=faults {
            let node = self.awake();
            if attempt < faults && self.random.once_in(4) {
                let fault = *self.random.pick(&[Fault::Before, Fault::After]);
                self.nodes[node].line.breaks_next(Call::Create, fault);
            }
            match self.nodes[node].games.create(plan(&agreement, request), &self.nodes[node].strategies).await {
                Ok(game) => {
                    let game = game.header().game;
                    if created.is_some_and(|before| before != game) {
                        return Err("one request created two games".to_owned());
                    }
                    created = Some(game);
                }
                Err(Refusal::StoreUnavailable) if attempt < faults => {}
                Err(refusal) => return Err(format!("{agreement:?} is refused: {refusal:?}")),
            }
            self.nodes[node].line.mends();
        }
        let key = GameKey { tenant: TenantId::DEFAULT, game: created.ok_or("nothing was created")? };
        let seed = self.shelf.inner().seed(key).await.map_err(|error| error.to_string())?.ok_or("a game without a seed")?;
        let mut witness = Witness::of(self.shelf.inner(), key, seed).await?;
        witness.chooses_again = self.random.once_in(20);
        let asks_left = self.random.from_to(1, asks as i64) as u32;
        self.told.note(self.shelf.time().now(), format!("game {} is created\n{}", self.games.len(), witness.entries()[0].line));
        self.games.push(Played { key, ledger: Ledger::default(), witness, asks_left });
        Ok(())
    }

    async fn goes_on(&mut self) -> Result<(), String> {
        match self.random.below(100) {
            0..64 => self.asks().await?,
            64..72 => self.asks_again().await?,
            72..76 => self.asks_at_once().await?,
            76..91 => self.lets_time_pass().await?,
            91..93 => self.restarts().await,
            93..95 => self.puts_to_sleep(),
            95..97 => self.breaks_a_sweep(),
            97 if self.random.once_in(2) => self.goes_dark().await?,
            _ => self.compares().await?,
        }
        if self.random.once_in(6) {
            self.wakes().await?;
        }
        Ok(())
    }

    /// A moment, or days, or until just before or after a deadline.
    async fn lets_time_pass(&mut self) -> Result<(), String> {
        const SECOND: u64 = 1_000;
        let most = *self.random.pick(&[3, 50, 400, 900, SECOND, 5 * SECOND, 40 * SECOND, 600 * SECOND, 8_000 * SECOND, 200_000 * SECOND]);
        let mut ms = 1 + self.random.below(most);
        let now = self.shelf.time().now().unix_ms();
        let game = self.random.pick(&self.games);
        if let Some((deadline, _)) = game.witness.game.due().filter(|(deadline, _)| deadline.unix_ms() > now + 1)
            && self.random.once_in(3)
        {
            ms = deadline.unix_ms() - now - 1 + self.random.below(4);
        }
        self.passes(ms).await
    }

    /// Time passes, and what follows from that happens.
    pub(super) async fn passes(&mut self, ms: u64) -> Result<(), String> {
        let now = self.shelf.time().now();
        self.told.passes(now, ms);
        if self.nodes.iter().any(|node| node.line.is_awake()) {
            self.shelf.is_served_until(Time::from_unix_ms(now.unix_ms() + ms));
        }
        self.shelf.time().pass(ms).await;
        self.calms_down().await?;
        self.reads_all().await
    }

    /// Waits until no node does anything any more by itself.
    pub(super) async fn calms_down(&self) -> Result<(), String> {
        let (mut quiet, began) = (0, self.shelf.calls());
        while quiet < 3 {
            let before = self.shelf.calls();
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            if before - began > CALLS_OF_A_MOMENT {
                return Err("a node does not come to rest: it asks the store again and again while no time passes".to_owned());
            }
            let at_work = self.shelf.at_work() || self.nodes.iter().any(Node::is_at_work);
            quiet = if at_work || self.shelf.calls() != before { 0 } else { quiet + 1 };
            if at_work {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
        }
        Ok(())
    }

    /// Every witness reads on.
    pub(super) async fn reads_all(&mut self) -> Result<(), String> {
        for game in 0..self.games.len() {
            self.reads(game).await?;
        }
        Ok(())
    }

    /// The witness of a game reads on; answers how many entries were new.
    pub(super) async fn reads(&mut self, game: usize) -> Result<usize, String> {
        let played = &mut self.games[game];
        let from = played.witness.entries().len();
        let read = played.witness.reads(self.shelf.inner(), &played.ledger).await;
        let now = self.shelf.time().now();
        for stored in &played.witness.entries()[from..] {
            self.told.note(now, format!("  game {game}: {}", stored.line));
        }
        if played.witness.game.state() == State::Closed {
            played.asks_left = played.asks_left.min(2);
        }
        read.map_err(|why| format!("game {game}, {}: {why}", played.key.game))
    }

    /// A node that is neither dead nor asleep.
    pub(super) fn awake(&mut self) -> usize {
        let awake: Vec<usize> = (0..self.nodes.len()).filter(|node| !self.nodes[*node].line.is_asleep()).collect();
        match awake.is_empty() {
            true => {
                self.nodes[0].line.wakes_up();
                0
            }
            false => *self.random.pick(&awake),
        }
    }

    /// A node dies, and another takes its place.
    async fn restarts(&mut self) {
        let node = self.random.below(self.nodes.len() as u64) as usize;
        self.replaces(node).await;
        self.tally.faults.note("node/Killed");
    }

    /// A node that remembers nothing.
    pub(super) fn starts(&mut self) -> Node {
        Node::start(&self.shelf, &self.tally.faults, &self.ids, &mut self.random)
    }

    /// For a while no node is there.
    async fn goes_dark(&mut self) -> Result<(), String> {
        self.nodes.iter().for_each(|node| node.line.dies());
        self.tally.faults.note("node/AllKilled");
        let most = *self.random.pick(&[1_000, 20_000, 100_000, 10_000_000]);
        let ms = 1 + self.random.below(most);
        self.told.note(self.shelf.time().now(), format!("no node is there for {ms} ms"));
        self.shelf.time().pass(ms).await;
        for node in 0..self.nodes.len() {
            self.replaces(node).await;
        }
        self.calms_down().await?;
        self.reads_all().await
    }

    /// Another node takes the place of one.
    pub(super) async fn replaces(&mut self, node: usize) {
        self.told.note(self.shelf.time().now(), format!("node {node} is dead, and another takes its place"));
        let other = self.starts();
        let dead = std::mem::replace(&mut self.nodes[node], other);
        dead.dies().await;
        // Their callers hear nothing any more.
        self.awaited.retain(|awaited| awaited.node != node);
    }

    /// The next node that claims what is due stands still with its claim; or it stands still with what it appends.
    fn puts_to_sleep(&mut self) {
        let node = self.awake();
        let (call, fault) = *self.random.pick(&[
            (Call::Claim, Fault::SleepsAfter),
            (Call::Claim, Fault::SleepsAfter),
            (Call::Append, Fault::SleepsBefore),
            (Call::Append, Fault::SleepsAfter),
            (Call::Settle, Fault::SleepsBefore),
        ]);
        self.nodes[node].line.breaks_next(call, fault);
    }

    fn breaks_a_sweep(&mut self) {
        let node = self.awake();
        let (call, fault) = Fault::of_a_sweep(&mut self.random);
        self.nodes[node].line.breaks_next(call, fault);
    }

    /// Whoever slept goes on.
    pub(super) async fn wakes(&mut self) -> Result<(), String> {
        for (node, line) in self.nodes.iter().map(|node| &node.line).enumerate().filter(|(_, line)| line.is_asleep()) {
            self.told.note(self.shelf.time().now(), format!("node {node} wakes up"));
            line.wakes_up();
        }
        self.hears_late().await?;
        self.calms_down().await?;
        self.reads_all().await
    }
}

fn plan(agreement: &Agreement, request: RequestKey) -> Plan {
    let Agreement { deal, terms, undo, entropy } = agreement.clone();
    let place = |seat: usize| Place { mark: MARKS[seat].to_owned(), player: format!("player-{seat}") };
    Plan {
        tenant: TenantId::DEFAULT,
        by: Principal::parse("anonymous").unwrap(),
        request,
        ruleset: deal.ruleset,
        version: deal.version,
        params: deal.given.into_iter().collect::<BTreeMap<_, _>>(),
        seats: (0..usize::from(deal.seats)).map(place).collect(),
        undo,
        entropy,
        receipts: Receipts::OnRequest,
        bots: AskedBots {
            bots: terms.bots.iter().map(|(seat, bot)| (*seat, asked(bot))).collect(),
            fallback: terms.fallback.as_ref().map(asked),
        },
        terms: Terms { bots: Vec::new(), fallback: None, ..terms },
        seed: None,
    }
}

fn asked(bot: &Bot) -> AskedBot {
    AskedBot { field: "bot".to_owned(), strategy: bot.strategy.clone(), version: Some(bot.version), nodes: bot.nodes }
}

/// Who did what, as a line tells it: `plybook timeout`.
fn kind_of(line: &str) -> String {
    let mut words = line.split(' ').skip(2);
    let by = words.next().and_then(|actor| actor.split_once(':')).map_or("", |(_, by)| by);
    let what: Vec<&str> = words.take(2).filter(|word| !word.contains('=')).collect();
    let detail = matches!(what.first(), Some(&"draw" | &"claim"));
    format!("{by} {}", what[..if detail { what.len() } else { 1 }].join(" "))
}
