//! Deadlines that have passed become entries.
//!
//! Invariants: what settles a deadline is decided on a head and appended only to it, under a request id that follows
//! from both; so sweeps and moves that race make one entry. Nothing is decided at a time before which a deadline lies that is not
//! settled. A read settles nothing: it shows the book as it is, the deadline too, and costs no write; the queue sees to
//! the deadline a moment later, whether or not anybody looks.

use plybook_core::clock::Clock;
use plybook_core::entry::{Act, Body, Incident};
use plybook_core::game::Due;
use plybook_core::{Entry, Game, Time};
use plybook_store::GameKey;

use crate::games::append::Appended;
use crate::games::own_request::OwnRequest;
use crate::games::unfit::Unfit;
use crate::games::{Games, SharedTable, Table, reminder};
use crate::limits::SETTLEMENTS_AT_ONCE;
use crate::refusal::Refusal;
use crate::upkeep::Chore;

/// A game that was looked at because it was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looked {
    /// When it was.
    pub at: Time,
    /// When to look again; never where nothing is due.
    pub next: Option<Time>,
    /// How many deadlines were settled.
    pub settled: u32,
    /// Whether a bot's time is nearly over, so that the fallback has to move now.
    pub rescue: bool,
}

impl Games {
    /// Settles what is overdue at the head that the store has.
    pub async fn settle_overdue(&self, key: GameKey) -> Result<Looked, Refusal> {
        self.fitting(key, || async {
            let shared = self.table_to_act_on(key).await?;
            let mut table = shared.lock().await;
            self.follow_up(key, &shared, &mut table).await?;
            let settled = self.settle(key, &shared, &mut table, self.clock.now()).await?;
            let (at, game) = (self.clock.now(), &table.game);
            let rescue = reminder::rescue_at(game).is_some_and(|rescue| rescue <= at);
            Ok(Looked { at, next: reminder::next(game, at), settled, rescue })
        })
        .await
    }

    /// Settles what is overdue at `now`; answers how many deadlines that were.
    pub(super) async fn settle(&self, key: GameKey, shared: &SharedTable, table: &mut Table, now: Time) -> Result<u32, Unfit> {
        let (mut settled, mut taken) = (0, false);
        for _ in 0..SETTLEMENTS_AT_ONCE {
            let now = now.max(self.clock.now());
            let Some((deadline, due)) = table.game.overdue(now) else { return Ok(settled) };
            let outages = match credited(&table.game, due) {
                Some(clock) => self.heartbeat.outages(clock.since(), deadline).await?,
                None => Vec::new(),
            };
            let seed = table.own_seed()?;
            let head = table.game.head().seq;
            let Some(entry) = table.game.settle(now, &outages, &seed) else { return Ok(settled) };
            let id = OwnRequest::Settle(due).key(key, head, taken);
            match self.append(key, id, &entry, shared, table, None).await? {
                Appended::Stored(..) => {
                    settled += 1;
                    self.note_settled(key, &entry);
                }
                Appended::Repeated(_) | Appended::Conflict => {
                    self.follow_up(key, shared, table).await?;
                }
                Appended::Reused(_) => taken = true,
            }
        }
        Err(Refusal::internal("there is no end to what is overdue").into())
    }

    fn note_settled(&self, key: GameKey, entry: &Entry) {
        self.upkeep.add(Chore::Settled);
        let (game, seq) = (key.game, entry.seq);
        match &entry.body {
            Body::Incident(Incident { act: act @ Act::Credit(ms), .. }) => {
                self.upkeep.add(Chore::Credited);
                tracing::info!(%game, %seq, %act, ms, "time is credited, since no node was there");
            }
            body => tracing::debug!(%game, %seq, deadline = %entry.time, ?body, "a deadline is settled"),
        }
    }
}

/// The clock, where its policy gives time back for what is due.
fn credited(game: &Game, due: Due) -> Option<&Clock> {
    game.clock().filter(|clock| matches!(due, Due::Turn(_)) && clock.policy().credit_ms.is_some())
}
