//! Decides a request and appends what comes of it.
//!
//! Invariants: a request id is answered once and for ever; what was decided on a guess is appended
//! only if the guess was the head; a refusal is spoken against the head that the store has, and against one behind which
//! every deadline is settled that has passed.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use plybook_core::entry::Entry;
use plybook_core::game::Request;
use plybook_core::{Receipt, Rejection, Seq};
use plybook_store::{GameKey, RequestKey, StoredEntry};

use crate::games::append::Appended;
use crate::games::snapshots::UNDO_LOOK;
use crate::games::unfit::Unfit;
use crate::games::{Games, Opened, SharedTable, Table};
use crate::limits;
use crate::refusal::{Original, Refusal};
use crate::signing::ReceiptWish;
use crate::telemetry::step;
use crate::uninterrupted::Uninterrupted;

/// What a request came to.
pub struct Acted {
    /// The entry, as it is stored.
    pub stored: StoredEntry,
    /// The same as it was decided; an answer to an earlier copy of the request was read, and may be read again.
    pub entry: Option<Entry>,
    /// Who wished for one and finds none here asks for it.
    pub receipt: Option<Box<Receipt>>,
    /// Header and rules of its game.
    pub opened: Arc<Opened>,
    /// Whether an earlier copy of the request made it.
    pub repeated: bool,
}

impl Games {
    /// Decides `request` and appends what comes of it. Who cannot get the receipt that is wished for, or that the game's policy
    /// owes, is refused.
    ///
    /// Runs to its end even if the caller goes away: an append is never dropped midway.
    pub async fn act(
        self: &Arc<Self>,
        key: GameKey,
        id: RequestKey,
        request: Request,
        wish: Option<ReceiptWish>,
    ) -> Result<Acted, Refusal> {
        let games = Arc::clone(self);
        let acting = async move {
            let acted = games.act_to_the_end(key, id, &request, wish.as_ref()).await;
            if let Err(refusal) = &acted {
                Box::pin(games.note_refused(key, id, &request, refusal)).await;
            }
            acted
        };
        match Uninterrupted::new(AssertUnwindSafe(acting).catch_unwind()).await {
            Ok(acted) => acted,
            Err(panic) => {
                // A trial move may stand half done on the table that it left.
                Box::pin(self.forget(key)).await;
                Err(Refusal::internal(format!("an append panicked: {}", said(panic.as_ref()))))
            }
        }
    }

    /// The same for whoever will not go away, and is not noted where it is refused.
    pub(super) async fn act_to_the_end(
        &self,
        key: GameKey,
        id: RequestKey,
        request: &Request,
        wish: Option<&ReceiptWish>,
    ) -> Result<Acted, Refusal> {
        self.fitting(key, || self.act_on_head(key, id, request, wish)).await
    }

    async fn act_on_head(&self, key: GameKey, id: RequestKey, request: &Request, wish: Option<&ReceiptWish>) -> Result<Acted, Unfit> {
        for _ in 0..limits::APPEND_ATTEMPTS {
            let shared = self.table_to_act_on(key).await?;
            let mut table = shared.lock().await;
            if let Some(acted) = self.attempt(key, id, request, wish, &shared, &mut table).await? {
                return Ok(acted);
            }
        }
        Err(Refusal::internal("the head moved away from every attempt").into())
    }

    /// The table of a game of one's own. Whatever is wrong with a foreign one, nothing is appended to it.
    pub(super) async fn table_to_act_on(&self, key: GameKey) -> Result<SharedTable, Unfit> {
        if let Some(shared) = self.tables.get(&key).await.filter(|shared| shared.opened().foreign.is_none()) {
            return Ok(shared);
        }
        // Asked first: to build the table of a book that no rules accept costs its whole length each time.
        if self.opened(key).await?.foreign.is_none() {
            return self.table(key).await;
        }
        let head = self.store.last(key).await?.map_or(Seq::FIRST, |last| last.seq);
        Err(Refusal::GameReadOnly { head }.into())
    }

    /// One attempt on the head that the table has. Nothing means: look again.
    async fn attempt(
        &self,
        key: GameKey,
        id: RequestKey,
        request: &Request,
        wish: Option<&ReceiptWish>,
        shared: &SharedTable,
        table: &mut Table,
    ) -> Result<Option<Acted>, Unfit> {
        if table.answered(id.id).is_some() {
            return Box::pin(self.answer_again(key, id, table)).await.map(Some);
        }
        // Before anything is appended.
        let notary = wish.map(|wish| wish.notary(table.opened.header.receipts)).transpose()?.flatten();
        let now = self.clock.now();
        let seed = table.own_seed()?;
        let mut decided = step!("decide").in_scope(|| table.game.decide(request, now, &seed));
        if let Err(Rejection::WayBack { .. }) = decided {
            Box::pin(self.lengthen(key, &mut table.game, UNDO_LOOK)).await?;
            decided = table.game.decide(request, now, &seed);
        }
        let entry = match decided {
            Ok(entry) => entry,
            Err(Rejection::Unsettled { .. }) => {
                // Also where the request will be refused then.
                Box::pin(self.settle(key, shared, table, now)).await?;
                return Ok(None);
            }
            Err(rejection) => return Box::pin(self.reconsider(key, id, rejection, shared, table)).await,
        };
        match self.append(key, id, &entry, shared, table, notary).await? {
            Appended::Stored(stored, receipt) => {
                Ok(Some(Acted { stored, entry: Some(entry), receipt, opened: Arc::clone(&table.opened), repeated: false }))
            }
            Appended::Repeated(stored) => Ok(Some(again(stored, table))),
            Appended::Reused(stored) => Err(reused(&stored, table)),
            Appended::Conflict => {
                self.follow_up(key, shared, table).await?;
                Ok(None)
            }
        }
    }

    /// A rejection on a guess is none yet: the store may have moved on, or may have answered this
    /// very request through another node.
    async fn reconsider(
        &self,
        key: GameKey,
        id: RequestKey,
        rejection: Rejection,
        shared: &SharedTable,
        table: &mut Table,
    ) -> Result<Option<Acted>, Unfit> {
        if self.follow_up(key, shared, table).await? > 0 {
            return Ok(None);
        }
        if !table.knows_every_request()
            && let Some((stored, hash)) = self.store.find_request(key, id.id).await?
        {
            return answered(stored, hash, id, table).map(Some);
        }
        let head = table.game.head().seq;
        let missed = match rejection {
            Rejection::Stale { expected, .. } if expected < head => self.missed(key, expected).await?,
            _ => Vec::new(),
        };
        Err(Refusal::Rejected { rejection, head, missed }.into())
    }

    async fn answer_again(&self, key: GameKey, id: RequestKey, table: &Table) -> Result<Acted, Unfit> {
        let found = self.store.find_request(key, id.id).await?;
        let (stored, hash) = found.ok_or_else(|| Unfit::memory(table.game.head().seq, "an answered request is not in the store"))?;
        answered(stored, hash, id, table)
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

/// The words of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without words")
}

/// The request id was answered with this entry; the head may be a later one than this node has seen.
fn reused(stored: &StoredEntry, table: &Table) -> Unfit {
    let head = table.game.head().seq.max(stored.seq);
    Refusal::RequestIdReused(Original::Entry { seq: stored.seq, head }).into()
}

/// What a request id was answered with before, if this is the same request.
fn answered(stored: StoredEntry, hash: [u8; 32], id: RequestKey, table: &Table) -> Result<Acted, Unfit> {
    if hash != id.hash {
        return Err(reused(&stored, table));
    }
    Ok(again(stored, table))
}

fn again(stored: StoredEntry, table: &Table) -> Acted {
    Acted { stored, entry: None, receipt: None, opened: Arc::clone(&table.opened), repeated: true }
}
