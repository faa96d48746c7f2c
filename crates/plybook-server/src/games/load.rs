//! Reads a book from the store and follows it.
//!
//! Invariants: a cold node comes to the same game, byte for byte, as the node that played it; a game
//! is followed only after its head was seen to be an entry of the book, so that a book that went
//! back in time is noticed however it went on.

use std::collections::HashMap;
use std::sync::Arc;

use plybook_core::game::{Head, State};
use plybook_core::{Header, Seq};
use plybook_store::{Foreign, GameKey, StoredEntry, TenantId};
use uuid::Uuid;

use crate::games::opened::no_rules;
use crate::games::snapshots::UNDO_LOOK;
use crate::games::unfit::Unfit;
use crate::games::{Games, Opened, Table};
use crate::limits::PAGE_ENTRIES;
use crate::refusal::Refusal;

impl Games {
    pub(super) async fn load_opened(&self, key: GameKey) -> Result<Opened, Refusal> {
        let first = self.store.entries(key, Seq::ZERO, 1).await?;
        let foreign = self.store.foreign(key).await?;
        self.open(first.first().ok_or(Refusal::GameNotFound)?, foreign).await
    }

    /// Headers and rules of games of a tenant, asked for together; those that cannot be read, or are not there, are left out.
    pub async fn opened_all(&self, tenant: TenantId, games: Vec<Uuid>) -> Result<HashMap<Uuid, Arc<Opened>>, Refusal> {
        let (mut opened, mut unknown) = (HashMap::with_capacity(games.len()), Vec::new());
        for game in games {
            match self.opened.get(&GameKey { tenant, game }).await {
                Some(known) => drop(opened.insert(game, known)),
                None => unknown.push(game),
            }
        }
        if unknown.is_empty() {
            return Ok(opened);
        }
        for heading in self.store.headings(tenant, &unknown).await? {
            let Ok(read) = self.open(&heading.header, heading.foreign).await else { continue };
            let read = Arc::new(read);
            self.opened.insert(GameKey { tenant, game: heading.game }, Arc::clone(&read)).await;
            opened.insert(heading.game, read);
        }
        Ok(opened)
    }

    pub(super) async fn load_table(&self, key: GameKey) -> Result<Table, Unfit> {
        let opened = self.opened(key).await?;
        let seed = match opened.foreign {
            // Only its last line may tell it.
            Some(_) => None,
            None => {
                let seed = self.store.seed(key).await?;
                Some(seed.ok_or_else(|| Unfit::memory(Seq::FIRST, format!("game {} has no seed", key.game)))?)
            }
        };
        // Before the book: what closed a game is never taken back.
        let closed = self.store.state(key).await? == Some(State::Closed);
        let mut table = Table::at_header(opened, seed)?;
        self.refresh(key, &mut table).await?;
        if closed && table.game.state() != State::Closed {
            let missing = table.game.head().seq.next();
            return Err(Unfit::memory(missing, "the game's row says that it is closed, and the book has lost what closed it"));
        }
        Ok(table)
    }

    /// Follows what the store has after the table's head; answers what was new. Where that is more than a
    /// page, the rest is followed from the latest snapshot.
    pub(super) async fn refresh(&self, key: GameKey, table: &mut Table) -> Result<usize, Unfit> {
        let before = table.game.head().seq.0;
        let mut whole = self.follow_page(key, table).await?;
        if whole {
            let mut snapshot = self.stored(key, Seq(u32::MAX), &table.opened).await;
            let closed = snapshot.as_ref().filter(|game| game.state() == State::Closed).map(|game| game.head().seq);
            if let Some(last) = closed.filter(|_| table.seed.is_none()) {
                // The last line of a foreign book tells its seed, so it is to be followed.
                snapshot = self.stored(key, Seq(last.0 - 1), &table.opened).await;
            }
            if let Some(game) = snapshot.filter(|game| game.head().seq > table.game.head().seq) {
                table.skips_to(game);
            }
        }
        while whole {
            whole = self.follow_page(key, table).await?;
        }
        Ok((table.game.head().seq.0 - before) as usize)
    }

    /// Follows a page; answers whether it was whole, so that there may be more.
    async fn follow_page(&self, key: GameKey, table: &mut Table) -> Result<bool, Unfit> {
        let entries = self.after(key, table.game.head(), PAGE_ENTRIES).await?;
        for stored in &entries {
            let mut followed = table.follow(stored);
            if let Err(Unfit::WayBack) = followed {
                self.lengthen(key, &mut table.game, UNDO_LOOK).await?;
                followed = table.follow(stored);
            }
            followed?;
            self.offer(key, &table.game);
        }
        Ok(entries.len() == PAGE_ENTRIES as usize)
    }

    /// The entries after this one, at most `limit`, if it is the one that the store has.
    pub(super) async fn after(&self, key: GameKey, head: Head, limit: u32) -> Result<Vec<StoredEntry>, Unfit> {
        let before = Seq(head.seq.0.saturating_sub(1));
        follow_on(head, self.store.entries(key, before, limit.saturating_add(1)).await?)
    }

    /// The same where so many are known to be there.
    pub(super) async fn known_after(&self, key: GameKey, head: Head, limit: u32) -> Result<Vec<StoredEntry>, Unfit> {
        let before = Seq(head.seq.0.saturating_sub(1));
        follow_on(head, self.store.history(key, before, limit.saturating_add(1)).await?)
    }

    async fn open(&self, first: &StoredEntry, foreign: Option<Foreign>) -> Result<Opened, Refusal> {
        let corrupt = |why: String| Refusal::BookCorrupt { first_bad: Seq::FIRST, why };
        let header = Header::parse(&first.line).map_err(|error| corrupt(error.to_string()))?;
        if header.digest() != first.digest {
            return Err(corrupt("the header's digest is another".to_owned()));
        }
        let registry = Arc::clone(&self.registry);
        // Rules may take long to build: a network of jumps is searched for a way to the end.
        let built = tokio::task::spawn_blocking(move || (registry.rules_of(&header), header)).await;
        let (rules, header) = built.map_err(|error| Refusal::internal(format!("building rules panicked: {error}")))?;
        match rules {
            Err(error) if foreign.is_none() => Err(no_rules(&header, error)),
            rules => Ok(Opened { header, rules, request_id: first.request_id, foreign }),
        }
    }
}

/// What comes behind this entry, if it is the first of these.
fn follow_on(head: Head, entries: Vec<StoredEntry>) -> Result<Vec<StoredEntry>, Unfit> {
    let mut entries = entries.into_iter();
    match entries.next() {
        Some(first) if (first.seq, first.digest) == (head.seq, head.digest) => Ok(entries.collect()),
        Some(first) => Err(Unfit::memory(first.seq, format!("the store has digest {}, not {}", first.digest, head.digest))),
        None => Err(Unfit::memory(head.seq, "the store has no such entry")),
    }
}
