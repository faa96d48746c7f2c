//! Who reads a simulated game's book, entry by entry, and believes nothing.
//!
//! Invariant: a witness knows the book and the ledger alone; it asks no node.

use std::collections::BTreeSet;

use plybook_bots::{Bots, Budget, Chance, Meter, View};
use plybook_core::entry::{Act, Body, Entry, Incident};
use plybook_core::game::{Due, State};
use plybook_core::header::Principal;
use plybook_core::{Book, Game, Header, Seed, Seq, Time, Uuid, verify};
use plybook_rulesets::Registry;
use plybook_store::{GameKey, Store, StoredEntry};

use super::ledger::{Heard, Ledger};

/// Entries read at once.
const PAGE: u32 = 500;

/// Who reads a game's book.
pub struct Witness {
    key: GameKey,
    /// The game, as its book tells it.
    pub game: Game,
    seed: Seed,
    entries: Vec<StoredEntry>,
    requests: BTreeSet<Uuid>,
    settled: BTreeSet<(String, Time)>,
    /// Whether every choice of a bot is made once more.
    pub chooses_again: bool,
}

impl Witness {
    /// Reads the header.
    pub async fn of(store: &dyn Store, key: GameKey, seed: Seed) -> Result<Witness, String> {
        let first = store.entries(key, Seq::ZERO, 1).await.map_err(|error| error.to_string())?;
        let first = first.into_iter().next().ok_or("a game that was created has no book")?;
        let header = Header::parse(&first.line).map_err(|error| error.to_string())?;
        if header.digest() != first.digest || header.commitment != seed.commitment() {
            return Err("the header is not the one that was created".to_owned());
        }
        let rules = Registry::standard().rules_of(&header).map_err(|error| error.to_string())?;
        let requests = BTreeSet::from([first.request_id]);
        let game = Game::new(header, rules);
        Ok(Witness { key, game, seed, entries: vec![first], requests, settled: BTreeSet::new(), chooses_again: false })
    }

    /// Reads on to the end of the book; answers how many entries were new.
    pub async fn reads(&mut self, store: &dyn Store, ledger: &Ledger) -> Result<usize, String> {
        let before = self.entries.len();
        loop {
            let page = store.entries(self.key, self.game.head().seq, PAGE).await.map_err(|error| error.to_string())?;
            let more = page.len() == PAGE as usize;
            for stored in page {
                let line = stored.line.clone();
                self.takes(stored, ledger).map_err(|why| format!("{why}, at {line:?}"))?;
            }
            if !more {
                return Ok(self.entries.len() - before);
            }
        }
    }

    /// The seed, which the world gave.
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The entries, the header among them.
    pub fn entries(&self) -> &[StoredEntry] {
        &self.entries
    }

    fn takes(&mut self, stored: StoredEntry, ledger: &Ledger) -> Result<(), String> {
        let entry = self.game.header().read_entry(&stored.line).map_err(|error| error.to_string())?;
        if !self.requests.insert(stored.request_id) {
            return Err("it answers a request that an entry before it answers".to_owned());
        }
        self.check_asker(&stored, &entry, ledger)?;
        self.check_deadline(&stored, &entry)?;
        self.check_seed(&stored, &entry)?;
        self.check_choice(&entry)?;
        let live = self.game.live();
        self.game.apply_line(&stored.line, stored.digest).map_err(|error| error.to_string())?;
        if self.game.live().iter().any(|seat| !live.contains(seat)) {
            return Err("a seat that left is back".to_owned());
        }
        let finished = self.game.outcome().is_some();
        if self.game.to_move().is_some() == finished && self.game.waits_for().is_none() {
            return Err("nobody is to move while the game goes on, or somebody is when it is over".to_owned());
        }
        self.entries.push(stored);
        Ok(())
    }

    /// What nobody asked for is the service's own, and nothing else is.
    fn check_asker(&self, stored: &StoredEntry, entry: &Entry, ledger: &Ledger) -> Result<(), String> {
        let Some(asked) = ledger.find(stored.request_id) else {
            return if entry.actor.by.is_service() { Ok(()) } else { Err("nobody asked for it".to_owned()) };
        };
        let (actor, for_all) = (&asked.request.actor, matches!(entry.body, Body::Close | Body::Absent(_)));
        if entry.actor.by != actor.by || (entry.actor.seat != actor.seat && !for_all) {
            return Err(format!("another asked for it: {actor:?}"));
        }
        match &asked.answer {
            Heard::Entry(heard) if *heard != *stored => Err(format!("its caller heard of another: {heard:?}")),
            _ => Ok(()),
        }
    }

    /// Nothing stands behind a deadline but what settles it, once, with the deadline's own time.
    fn check_deadline(&mut self, stored: &StoredEntry, entry: &Entry) -> Result<(), String> {
        let by_time = match &entry.body {
            Body::Incident(Incident { act: Act::Timeout(_) | Act::Forfeit(_) | Act::Credit(_), .. }) | Body::Absent(_) => true,
            Body::Close => entry.actor.by == Principal::service(),
            _ => false,
        };
        let due = self.game.due();
        if let Some((deadline, _)) = due.filter(|(deadline, _)| entry.time > *deadline) {
            return Err(format!("it stands behind a deadline, {deadline}"));
        }
        if !by_time {
            return Ok(());
        }
        let Some((deadline, due)) = due.filter(|(deadline, _)| *deadline == entry.time) else {
            return Err("it settles a deadline that there is not".to_owned());
        };
        let what = match &entry.body {
            Body::Incident(Incident { act: act @ Act::Credit(_), .. }) => act.to_string(),
            _ => format!("{due:?}"),
        };
        if !self.settled.insert((what, deadline)) {
            return Err("it settles a deadline that is settled".to_owned());
        }
        let head = self.game.head().seq;
        let id = Uuid::new_v5(&self.key.game, format!("{}/{head}", word(due)).as_bytes());
        if entry.actor.by == Principal::service() && stored.request_id != id {
            return Err(format!("two nodes that settle the same deadline would make two entries: it has not the id {id}"));
        }
        let whenever = Time::from_unix_ms(deadline.unix_ms() + 1_000_000);
        let settles = self.game.clone().settle(whenever, &[], &self.seed).map(|entry| entry.body);
        let credit = matches!(&entry.body, Body::Incident(Incident { act: Act::Credit(_), .. }));
        if !credit && settles.as_ref() != Some(&entry.body) {
            return Err(format!("another entry settles this deadline: {settles:?}"));
        }
        Ok(())
    }

    /// The seed is told by what closes the game, and by nothing before.
    fn check_seed(&self, stored: &StoredEntry, entry: &Entry) -> Result<(), String> {
        let secret = hex::encode(self.seed.reveal());
        match entry.closes() {
            true if entry.seed.as_ref() != Some(&self.seed) => Err("it closes the game, and tells another seed or none".to_owned()),
            false if stored.line.contains(&secret) => Err("it tells the seed of a game that goes on".to_owned()),
            _ => Ok(()),
        }
    }

    /// A bot's move is what its pinned strategy chooses.
    fn check_choice(&self, entry: &Entry) -> Result<(), String> {
        let Body::Move(made) = &entry.body else { return Ok(()) };
        if !self.chooses_again || !entry.actor.by.is_service() {
            return Ok(());
        }
        let terms = &self.game.header().terms;
        let bot = match entry.actor.by == Principal::bot() {
            true => entry.actor.seat.and_then(|seat| terms.bot(seat)),
            false => terms.fallback.as_ref(),
        };
        let bot = bot.ok_or("no bot moves here")?;
        let bots = Bots::standard();
        let strategy = bots.find(&bot.strategy, Some(bot.version)).map_err(|error| error.to_string())?;
        let view = View::of(&self.game);
        let mut chance = Chance::of_game(&self.seed, &view).ok_or("nobody is to move")?;
        let chosen = strategy.choose(&view, &mut Meter::unstopped(Budget(bot.nodes)), &mut chance).map_err(|error| error.to_string())?;
        let notation = self.game.rules().write_action(chosen.action);
        if notation == made.notation { Ok(()) } else { Err(format!("{bot} chooses {notation}")) }
    }

    /// Every entry that somebody heard of is there, and is the one that they heard of.
    pub fn misses_nothing(&self, ledger: &Ledger) -> Result<(), String> {
        for asked in ledger.all() {
            let Heard::Entry(heard) = &asked.answer else { continue };
            if self.entries.get(heard.seq.0 as usize - 1) != Some(heard) {
                return Err(format!("an entry that was heard of is gone: {heard:?}"));
            }
        }
        Ok(())
    }

    /// The whole book, checked from its text as a stranger would.
    pub fn verifies(&self) -> Result<(), String> {
        let mut book = Book::new(self.game.header().clone());
        self.entries[1..].iter().for_each(|stored| book.push(stored.line.clone()));
        let report = verify::verify(&book.print(), &Registry::standard()).map_err(|wrong| format!("{wrong:?}"))?;
        let as_told = report.digest == self.game.head().digest && report.state == self.game.state();
        if as_told { Ok(()) } else { Err("the verifier comes to another end".to_owned()) }
    }

    /// Whether time or a bot would bring the game on.
    pub fn has_hope(&self) -> bool {
        self.game.state() != State::Closed && (self.game.due().is_some() || self.game.waits_for_bot().is_some())
    }
}

/// Everything that can be seen of a game, as text.
pub fn picture(game: &Game) -> String {
    format!(
        "{:?}\n{} {:?} {:?} {:?}\n{:?} {:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?} {} {:?}",
        game.head(),
        game.position_digest(),
        game.to_move(),
        game.state(),
        game.outcome(),
        game.live(),
        game.left(),
        game.offers(),
        game.presence(),
        game.clock(),
        game.joining(),
        game.due(),
        game.undos(),
        game.waits_for_bot()
    )
}

/// In the id of the request that settles it.
const fn word(due: Due) -> &'static str {
    match due {
        Due::Joining => "absent",
        Due::Turn(_) => "timeout",
        Due::Presence(_) => "forfeit",
        Due::Reopening => "close",
    }
}
