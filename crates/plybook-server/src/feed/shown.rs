//! Which entries of a page a stream gets, and as what.
//!
//! Invariant: an entry that cannot be read here is shown as its text: one broken book stops no feed, and nobody is left
//! unaware of it.

use std::collections::HashSet;
use std::sync::Arc;

use plybook_core::Seq;
use plybook_proto::v1;
use plybook_store::{FeedCursor, FeedRow, GameKey, State, TenantId};

use crate::feed::FeedFilter;
use crate::feed::tail::Rows;
use crate::feed::wanted::state_after;
use crate::games::{Beside, Games, Opened};
use crate::refusal::Refusal;
use crate::replies;

/// An entry of a page.
#[derive(Debug)]
pub struct Item {
    row: Arc<FeedRow>,
    shown: Shown,
}

#[derive(Debug)]
enum Shown {
    /// It is not wanted.
    No,
    /// It is, with what it takes to make an event of it.
    Whole(Arc<Opened>, Beside),
    /// It cannot be read.
    Text,
}

impl Item {
    /// Its place.
    pub fn cursor(&self) -> FeedCursor {
        self.row.cursor
    }

    /// The event, where it is wanted.
    pub fn event(&self) -> Option<v1::Event> {
        match &self.shown {
            Shown::No => None,
            Shown::Whole(opened, beside) => {
                Some(replies::event::stored(opened, &self.row.entry, beside).unwrap_or_else(|_| text(&self.row)))
            }
            Shown::Text => Some(text(&self.row)),
        }
    }
}

/// Looks at each row what becomes of it.
pub async fn items(games: &Games, tenant: TenantId, filter: &FeedFilter, rows: Rows) -> Result<Vec<Item>, Refusal> {
    let of: HashSet<_> = rows.iter().map(|row| row.key.game).collect();
    let opened = games.opened_all(tenant, of.into_iter().collect()).await?;
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let shown = match opened.get(&row.key.game) {
            Some(opened) => shown(games, row.key, opened, filter, &row).await?,
            None => Shown::Text,
        };
        items.push(Item { row, shown });
    }
    Ok(items)
}

async fn shown(games: &Games, key: GameKey, opened: &Arc<Opened>, filter: &FeedFilter, row: &FeedRow) -> Result<Shown, Refusal> {
    if !filter.fits_game(&opened.header) {
        return Ok(Shown::No);
    }
    if filter.asks_for_states() {
        let state = match row.entry.seq {
            Seq::FIRST => Ok(State::Active),
            _ => opened.header.read_entry(&row.entry.line).map(|entry| state_after(&entry)),
        };
        match state {
            Ok(state) if filter.fits_state(state) => {}
            Ok(_) => return Ok(Shown::No),
            Err(_) => return Ok(Shown::Text),
        }
    }
    match games.beside(key, opened, &row.entry).await {
        Ok(beside) => Ok(Shown::Whole(Arc::clone(opened), beside)),
        Err(refusal @ (Refusal::StoreUnavailable | Refusal::Busy { .. } | Refusal::Draining)) => Err(refusal),
        Err(_) => Ok(Shown::Text),
    }
}

fn text(row: &FeedRow) -> v1::Event {
    v1::Event {
        game_id: row.key.game.to_string(),
        seq: u64::from(row.entry.seq.0),
        request_id: row.entry.request_id.to_string(),
        book_digest: row.entry.digest.0.to_vec(),
        line: row.entry.line.clone(),
        ..v1::Event::default()
    }
}
