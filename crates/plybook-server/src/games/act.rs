//! Decides a request and appends what comes of it.
//!
//! Invariants: a request id is answered once and for ever; what was decided on a guess is appended
//! only if the guess was the head; a refusal is spoken against the head that the store has.

use std::sync::Arc;

use plybook_core::entry::{Body, Entry};
use plybook_core::game::{Request, State};
use plybook_core::{Rejection, Seq};
use plybook_store::{Append, GameKey, NewEntry, RequestKey, StoredEntry};

use crate::games::{Games, Opened, SharedTable, Table};
use crate::limits;
use crate::refusal::{Original, Refusal};

/// What a request came to.
pub struct Acted {
    /// The entry, as it is stored.
    pub stored: StoredEntry,
    /// Header and rules of its game.
    pub opened: Arc<Opened>,
    /// Whether an earlier copy of the request made it.
    pub repeated: bool,
}

impl Games {
    /// Decides `request` and appends what comes of it.
    ///
    /// Runs to its end even if the caller goes away: an append is never dropped midway.
    pub async fn act(self: &Arc<Self>, key: GameKey, id: RequestKey, request: Request) -> Result<Acted, Refusal> {
        let games = Arc::clone(self);
        let span = tracing::Span::current();
        let task = async move { games.act_to_the_end(key, id, &request).await };
        match tokio::spawn(tracing::Instrument::instrument(task, span)).await {
            Ok(acted) => acted,
            Err(error) => {
                // A trial move may stand half done on the table that it left.
                self.forget(key).await;
                Err(Refusal::internal(format!("an append panicked: {error}")))
            }
        }
    }

    async fn act_to_the_end(&self, key: GameKey, id: RequestKey, request: &Request) -> Result<Acted, Refusal> {
        for _ in 0..limits::APPEND_ATTEMPTS {
            let shared = self.table(key).await?;
            let mut table = shared.lock().await;
            if let Some(acted) = self.attempt(key, id, request, &shared, &mut table).await? {
                return Ok(acted);
            }
        }
        Err(Refusal::internal("the head moved away from every attempt"))
    }

    /// One attempt on the head that the table has. Nothing means: look again.
    async fn attempt(
        &self,
        key: GameKey,
        id: RequestKey,
        request: &Request,
        shared: &SharedTable,
        table: &mut Table,
    ) -> Result<Option<Acted>, Refusal> {
        if table.answered(id.id).is_some() {
            return self.answer_again(key, id, table).await.map(Some);
        }
        let now = self.clock.now();
        let dice = table.dice.clone();
        let entry = match table.game.decide(request, now, &dice) {
            Ok(entry) => entry,
            Err(rejection) => return self.reconsider(key, rejection, table).await,
        };
        let line = entry.to_string();
        let digest = table.game.head().digest.chain(&line);
        let state = state_after(table.game.state(), &entry);
        let stored = StoredEntry { seq: entry.seq, line, digest, request_id: id.id };
        let previous = table.game.head().digest;
        let new = NewEntry { key, seq: stored.seq, previous, request: id, line: stored.line.clone(), digest, state };
        match self.store.append(new).await? {
            Append::Stored => {
                table.appended(&entry, id.id)?;
                self.hub.committed(key, stored.clone());
                self.store.publish(plybook_store::Wake { key, seq: stored.seq });
                if shared.outgrew(table) {
                    self.tables.insert(key, shared.clone()).await;
                }
                Ok(Some(Acted { stored, opened: Arc::clone(&table.opened), repeated: false }))
            }
            Append::Repeated(stored) => Ok(Some(Acted { stored, opened: Arc::clone(&table.opened), repeated: true })),
            Append::Reused(stored) => Err(Refusal::RequestIdReused(Original::Entry(stored.seq))),
            Append::Conflict => {
                if self.refresh(key, table).await? == 0 {
                    // The store has less than this table: it went back in time. Begin from the book.
                    self.forget(key).await;
                }
                Ok(None)
            }
        }
    }

    /// A rejection on a guess is none yet: the store may have moved on, or may have answered this
    /// very request through another node.
    async fn reconsider(&self, key: GameKey, rejection: Rejection, table: &mut Table) -> Result<Option<Acted>, Refusal> {
        if self.refresh(key, table).await? > 0 {
            return Ok(None);
        }
        let head = table.game.head().seq;
        let missed = match rejection {
            Rejection::Stale { expected, .. } if expected < head => self.missed(key, expected).await?,
            _ => Vec::new(),
        };
        Err(Refusal::Rejected { rejection, head, missed })
    }

    async fn answer_again(&self, key: GameKey, id: RequestKey, table: &Table) -> Result<Acted, Refusal> {
        let found = self.store.find_request(key, id.id).await?;
        let (stored, hash) = found.ok_or_else(|| Refusal::internal("an answered request is not in the store"))?;
        if hash != id.hash {
            return Err(Refusal::RequestIdReused(Original::Entry(stored.seq)));
        }
        Ok(Acted { stored, opened: Arc::clone(&table.opened), repeated: true })
    }

    /// The lines after `expected`, as many as fit into a refusal.
    async fn missed(&self, key: GameKey, expected: Seq) -> Result<Vec<(Seq, String)>, Refusal> {
        let mut room = limits::MISSED_BYTES_MAX;
        let entries = self.store.entries(key, expected, 8).await?;
        let fits = |stored: &StoredEntry| {
            let left = room.checked_sub(stored.line.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        Ok(entries.into_iter().take_while(fits).map(|stored| (stored.seq, stored.line)).collect())
    }
}

/// The state for lists, where this entry changes it.
fn state_after(before: State, entry: &Entry) -> Option<State> {
    let after = match (&entry.body, entry.outcome(), entry.closes()) {
        (_, _, true) => State::Closed,
        (Body::Move(_), Some(_), false) => State::Finished,
        _ => State::Active,
    };
    (after != before).then_some(after)
}
