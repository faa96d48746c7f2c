//! Reads a book from the store and follows it.
//!
//! Invariant: a cold node comes to the same game, byte for byte, as the node that played it.

use plybook_core::{Header, Seq};
use plybook_store::{GameKey, StoredEntry};

use crate::games::{Games, Opened, Table};
use crate::limits::PAGE_ENTRIES;
use crate::refusal::Refusal;

impl Games {
    pub(super) async fn load_opened(&self, key: GameKey) -> Result<Opened, Refusal> {
        let first = self.store.entries(key, Seq::ZERO, 1).await?;
        self.open(first.first().ok_or(Refusal::GameNotFound)?)
    }

    pub(super) async fn load_table(&self, key: GameKey) -> Result<Table, Refusal> {
        let opened = self.opened(key).await?;
        let seed = self.store.seed(key).await?.ok_or_else(|| Refusal::internal(format!("game {} has no seed", key.game)))?;
        let mut table = Table::at_header(opened, seed);
        self.refresh(key, &mut table).await?;
        Ok(table)
    }

    /// Follows what the store has after the table's head; answers what was new.
    pub(super) async fn refresh(&self, key: GameKey, table: &mut Table) -> Result<usize, Refusal> {
        let mut followed = 0;
        loop {
            let entries = self.store.entries(key, table.game.head().seq, PAGE_ENTRIES).await?;
            for stored in &entries {
                table.follow(stored)?;
            }
            followed += entries.len();
            if entries.len() < PAGE_ENTRIES as usize {
                return Ok(followed);
            }
        }
    }

    fn open(&self, first: &StoredEntry) -> Result<Opened, Refusal> {
        let corrupt = |why: String| Refusal::BookCorrupt { first_bad: Seq::FIRST, why };
        let header = Header::parse(&first.line).map_err(|error| corrupt(error.to_string()))?;
        if header.digest() != first.digest {
            return Err(corrupt("the header's digest is another".to_owned()));
        }
        let rules = self.registry.rules_of(&header)?;
        Ok(Opened { header, rules, request_id: first.request_id })
    }
}
