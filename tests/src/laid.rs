//! Live games, laid into a store as the service creates them.
//!
//! ```ignore
//! let game = live().clock("per_move 500 forfeit restore").bot(1, "random@1 1").laid_into(&*store).await;
//! assert!(game.lines(&*store).await.last().unwrap().contains("timeout 0"));
//! ```
//!
//! Invariant: what is laid is what CreateGame would have stored at that moment, the rows of the queue too.

use std::time::Duration;

use plybook_core::bot::Bot;
use plybook_core::clock::{ClockPolicy, IfExpired};
use plybook_core::game::{Game, State};
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Entry, Header, Seat, Seed, Seq, Terms, Time, Uuid};
use plybook_rulesets::Registry;
use plybook_store::{Append, Arms, Create, DueChange, DueKind, GameKey, NewEntry, NewGame, RequestKey, Store, TenantId};

use crate::patience::until;
use crate::table::{SEED, Table, table};

/// Tic-tac-toe for two people and without terms, until told otherwise; created when it is laid.
pub fn live() -> Live {
    Live { table: table(), terms: Terms::default(), created: None, registry: Registry::standard() }
}

/// A live game that is not laid yet.
pub struct Live {
    table: Table,
    terms: Terms,
    created: Option<Time>,
    registry: Registry,
}

/// A live game in a store.
#[derive(Clone, Debug)]
pub struct Laid {
    /// Where it is.
    pub key: GameKey,
    /// Its id on the wire.
    pub id: String,
    /// When it was created.
    pub created: Time,
}

/// A bot as a header has it: `minimax@1 20000`.
fn bot(text: &str) -> Bot {
    let (id, nodes) = text.split_once(' ').unwrap();
    let (strategy, version) = id.split_once('@').unwrap();
    Bot { strategy: strategy.to_owned(), version: version.parse().unwrap(), nodes: nodes.parse().unwrap() }
}

impl Live {
    /// Another game, other seats, another policy.
    #[must_use]
    pub fn at(mut self, lay: impl FnOnce(Table) -> Table) -> Live {
        self.table = lay(self.table);
        self
    }

    /// Of these rulesets.
    #[must_use]
    pub fn of(mut self, registry: Registry) -> Live {
        self.registry = registry;
        self
    }

    /// With a clock, in the words of a header.
    #[must_use]
    pub fn clock(mut self, text: &str) -> Live {
        let policy = ClockPolicy::parse(text).unwrap();
        if policy.if_expired == IfExpired::Bot {
            self.terms.fallback.get_or_insert_with(|| bot("random@1 1"));
        }
        self.terms.clock = Some(policy);
        self
    }

    /// This seat is a bot.
    #[must_use]
    pub fn bot(mut self, seat: u8, text: &str) -> Live {
        self.terms.bots.push((Seat(seat), bot(text)));
        self.terms.fallback.get_or_insert_with(|| bot("random@1 1"));
        self
    }

    /// And this is the fallback.
    #[must_use]
    pub fn fallback(mut self, text: &str) -> Live {
        self.terms.fallback = Some(bot(text));
        self
    }

    /// Who is away for longer leaves.
    #[must_use]
    pub fn forfeits_after(mut self, grace_ms: u64) -> Live {
        self.terms.absence = Some(AbsencePolicy { grace_ms, then: IfAway::Forfeit });
        self
    }

    /// A finished game may be reopened for so long, and then closes itself.
    #[must_use]
    pub fn closes_after(mut self, ms: u64) -> Live {
        self.table = self.table.undo_after_end();
        self.terms.close_after_ms = Some(ms);
        self
    }

    /// Created at this time.
    #[must_use]
    pub fn created(mut self, time: Time) -> Live {
        self.created = Some(time);
        self
    }

    /// Lays it into a store.
    pub async fn laid_into(self, store: &dyn Store) -> Laid {
        let now = Time::from_unix_ms(store.clock_unix_ms().await.unwrap());
        let created = self.created.unwrap_or(now);
        let id = Uuid::new_v4();
        let table = self.table.registry(self.registry.clone()).terms(self.terms).created(created).id(id.as_u128());
        let header = table.header();
        let game = Game::new(header.clone(), self.registry.rules_of(&header).unwrap());
        let key = GameKey { tenant: TenantId::DEFAULT, game: id };
        let time = game.due().map(|(deadline, _)| Time::from_unix_ms(deadline.unix_ms() + 1));
        let new = NewGame {
            key,
            request: RequestKey { id: Uuid::new_v4(), hash: [0; 32] },
            header: header.to_string(),
            digest: header.digest(),
            seed: Seed::new(SEED),
            created,
            ruleset: header.ruleset.name.clone(),
            ruleset_version: header.ruleset.version,
            players: header.seats.iter().map(|place| place.player.clone()).collect(),
            given: Vec::new(),
            arms: Arms { time, bot: game.waits_for_bot().map(|_| created) },
        };
        assert_eq!(store.create(new).await.unwrap(), Create::Created);
        Laid { key, id: id.to_string(), created }
    }
}

impl Laid {
    /// So many milliseconds after its creation.
    pub const fn after(&self, ms: u64) -> Time {
        Time::from_unix_ms(self.created.unix_ms() + ms)
    }

    /// Its lines after the header.
    pub async fn lines(&self, store: &dyn Store) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let entries = store.entries(self.key, Seq(1 + lines.len() as u32), 500).await.unwrap();
            if entries.is_empty() {
                return lines;
            }
            lines.extend(entries.into_iter().map(|stored| stored.line));
        }
    }

    /// The lines that have this in them.
    pub async fn lines_with(&self, store: &dyn Store, part: &str) -> Vec<String> {
        self.lines(store).await.into_iter().filter(|line| line.contains(part)).collect()
    }

    /// Waits until so many lines have this in them; answers all lines.
    pub async fn until_lines(&self, store: &dyn Store, count: usize, part: &str) -> Vec<String> {
        until(&format!("{count} lines with {part:?}"), || async { self.lines_with(store, part).await.len() >= count }).await;
        self.lines(store).await
    }

    /// Appends what somebody decides on its head, past every node.
    pub async fn appends(&self, store: &dyn Store, decide: impl FnOnce(&mut Game, &Seed) -> Entry) {
        let mut entries = store.entries(self.key, Seq::ZERO, 500).await.unwrap().into_iter();
        let header = Header::parse(&entries.next().unwrap().line).unwrap();
        let rules = Registry::standard().rules_of(&header).unwrap();
        let mut game = Game::new(header, rules);
        entries.for_each(|stored| drop(game.apply_line(&stored.line, stored.digest).unwrap()));
        let entry = decide(&mut game, &Seed::new(SEED));
        let (line, previous) = (entry.to_string(), game.head().digest);
        let digest = game.apply(&entry).unwrap().digest;
        let time = game.due().map(|(deadline, _)| Time::from_unix_ms(deadline.unix_ms() + 1));
        let new = NewEntry {
            key: self.key,
            seq: entry.seq,
            previous,
            request: RequestKey { id: Uuid::new_v4(), hash: [0; 32] },
            digest,
            line,
            state: None,
            due: DueChange::Arm(Arms { time, bot: None }),
            notary: None,
        };
        assert_eq!(store.append(new).await.unwrap(), Append::Stored);
    }

    /// Waits until it is closed; answers its lines.
    pub async fn until_closed(&self, store: &dyn Store) -> Vec<String> {
        until("the game is closed", || async { self.is_closed(store).await }).await;
        self.lines(store).await
    }

    /// Whether it is closed.
    pub async fn is_closed(&self, store: &dyn Store) -> bool {
        store.state(self.key).await.unwrap() == Some(State::Closed)
    }

    /// The kinds of its rows in the queue.
    pub async fn rows(&self, store: &dyn Store) -> Vec<DueKind> {
        store.due_of(self.key).await.unwrap().into_iter().map(|row| row.kind).collect()
    }

    /// Waits until it has no row in the queue.
    pub async fn until_no_row(&self, store: &dyn Store) {
        until("no row is left", || async { self.rows(store).await.is_empty() }).await;
    }
}

/// Waits until the database's clock shows a later time than this.
pub async fn until_after(store: &dyn Store, time: Time) {
    until("a time has passed", || async { store.clock_unix_ms().await.unwrap() > time.unix_ms() }).await;
}

/// Waits until no game has a row in the queue.
pub async fn until_queue_is_empty(store: &dyn Store) {
    until("the queue is empty", || async { store.next_due().await.unwrap().is_none() }).await;
}

/// Longer than any test: a lease that does not end.
pub const LONG: Duration = Duration::from_secs(20 * 60 * 60);
