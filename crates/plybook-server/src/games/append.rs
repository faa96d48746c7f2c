//! Appends an entry that was decided: by a request, by time, by a bot.
//!
//! Invariant: what follows from an entry follows from every entry: the table goes on, watchers are told, a snapshot
//! is offered, what it makes due stands in the queue with it, and a bot that it leaves to move is told.

use std::sync::Arc;

use plybook_core::entry::{Body, Entry};
use plybook_core::game::State;
use plybook_core::{Game, Receipt};
use plybook_store::{Append, DueChange, GameKey, NewEntry, Notary, RequestKey, StoredEntry, Wake};
use tracing::Instrument as _;

use crate::games::reminder::{self, Turn};
use crate::games::unfit::Unfit;
use crate::games::{Games, SharedTable, Table};
use crate::refusal::Refusal;
use crate::telemetry::{self, step};

/// What came of it.
pub(super) enum Appended {
    /// It is stored, as this, and signed, if that was wanted and the store could.
    Stored(StoredEntry, Option<Box<Receipt>>),
    /// The same request was answered with this entry before.
    Repeated(StoredEntry),
    /// Another request with this id was answered with this entry.
    Reused(StoredEntry),
    /// The head of the store is another one.
    Conflict,
}

impl Games {
    /// Appends what was decided on the table's head. The table has moved on only where it is stored.
    pub(super) async fn append(
        &self,
        key: GameKey,
        id: RequestKey,
        entry: &Entry,
        shared: &SharedTable,
        table: &mut Table,
        notary: Option<Arc<dyn Notary>>,
    ) -> Result<Appended, Unfit> {
        let line = entry.to_string();
        let (previous, seq) = (table.game.head().digest, entry.seq);
        let digest = previous.chain(&line);
        let state = state_after(table.game.state(), entry);
        let (before, due) = (Turn::of(&table.game), self.due_change(&table.game, entry)?);
        let stored = StoredEntry { seq, line, digest, request_id: id.id };
        let new = NewEntry { key, seq, previous, request: id, line: stored.line.clone(), digest, state, due, notary };
        let receipt = match self.store.append(new).instrument(step!("append")).await? {
            Append::Stored => None,
            Append::Signed(receipt) => Some(receipt),
            Append::Repeated(stored) => return Ok(Appended::Repeated(stored)),
            Append::Reused(stored) => return Ok(Appended::Reused(stored)),
            Append::Conflict => return Ok(Appended::Conflict),
        };
        table.appended(entry, digest, id.id)?;
        step!("wake").in_scope(|| {
            self.hub.committed(key, stored.clone());
            self.wakes.publish(Wake { key, seq });
        });
        telemetry::count_appended(&table.game, entry);
        self.weigh(key, shared, table).await;
        self.offer(key, &table.game);
        self.moved_on(key, &table.game, before, due);
        Ok(Appended::Stored(stored, receipt))
    }

    /// What an entry makes due is only known once it is applied, and the table's own game must not be ahead of the store.
    fn due_change(&self, game: &Game, entry: &Entry) -> Result<DueChange, Refusal> {
        if !reminder::has_rows(game.header()) {
            return Ok(DueChange::Keep);
        }
        let mut after = game.shortened();
        after.apply(entry).map_err(|error| Refusal::internal(format!("decided and refused: {error}")))?;
        Ok(reminder::change(game, &after, self.clock.now().max(entry.time), self.lease))
    }

    /// The game stands where it does now: whoever thinks about an earlier turn stops, and whose turn it is now begins.
    fn moved_on(&self, key: GameKey, game: &Game, before: Option<Turn>, due: DueChange) {
        let turn = Turn::of(game);
        self.turns.moved_on(key, turn);
        if turn != before {
            self.call_bot(key, game);
        }
        if let DueChange::Arm(arms) = due {
            self.rings_at(&arms);
        }
    }
}

/// The state for lists, where this entry changes it.
fn state_after(before: State, entry: &Entry) -> Option<State> {
    let after = match (&entry.body, entry.outcome(), entry.closes()) {
        (_, _, true) => State::Closed,
        (Body::Move(_), Some(_), false) => State::Finished,
        // Talk of an undo after the end leaves the game as it was.
        (Body::Incident(_), ..) => before,
        _ => State::Active,
    };
    (after != before).then_some(after)
}
