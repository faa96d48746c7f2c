//! A standby that serves history: what is known to be in the book, and never where a book ends.
//!
//! Invariant: it only ever saves the first database work. What it has not got yet, or does not say in time, is
//! asked of the first one; so it may lag, or be away, and nobody gets an error or a gap from it.
//!
//! Entries never change, so a page that is whole is right, however old it is. In the feed the same holds for what is
//! below the standby's own horizon: all of it was replayed. A page that is not whole may only be late.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use sqlx::query;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::connect::{self, PostgresOptions};
use super::manner::Manner;
use super::{Link, feed};
use crate::counts::ReplicaCounts;
use crate::error::Error;
use crate::fault::classify;
use crate::feed::{FeedCursor, FeedPage};
use crate::row::Columns as _;
use crate::store::TenantId;

/// A page takes milliseconds; whoever waits has the first database to ask.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// After it failed it is not asked for so long.
const REST: Duration = Duration::from_secs(5);

/// The same in a database and in all of its standbys, and in no other one, be it restored from a dump of the first.
const IDENTITY: &str = "
    SELECT system_identifier::text || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database()) AS identity
    FROM pg_control_system()";

/// A standby, or none.
#[derive(Clone, Debug, Default)]
pub(super) struct Replica(Option<Arc<Standby>>);

#[derive(Debug)]
struct Standby {
    link: Link,
    /// The first database.
    first: Link,
    /// Set once it was seen to be a standby of that one: whole pages of other books would be taken for ours.
    is_of_first: OnceCell<()>,
    began: Instant,
    /// Until when it rests, in milliseconds since it was opened.
    rests_until: AtomicU64,
    served: AtomicU64,
    passed_on: AtomicU64,
    /// From where on it had no whole page of a tenant's feed, and when that was.
    short: Mutex<HashMap<TenantId, (Option<FeedCursor>, Instant)>>,
}

impl Replica {
    /// Connects when it is first asked: it need not be there yet.
    pub(super) fn of(options: &PostgresOptions, first: &Link) -> Result<Replica, Error> {
        let Some(url) = &options.read_url else { return Ok(Replica::default()) };
        let options = PostgresOptions { url: url.clone(), acquire_timeout: options.acquire_timeout.min(ANSWER_WITHIN), ..options.clone() };
        let pool = connect::pool_when_asked(&options, options.session()?);
        let link = Link { pool, manner: Manner::of(&options).hurried(ANSWER_WITHIN) };
        let none = || AtomicU64::new(0);
        Ok(Replica(Some(Arc::new(Standby {
            link,
            first: first.clone(),
            is_of_first: OnceCell::new(),
            began: Instant::now(),
            rests_until: none(),
            served: none(),
            passed_on: none(),
            short: Mutex::default(),
        }))))
    }

    /// Its answer, where it gives one in time that will do.
    pub(super) async fn ask<T, F: Future<Output = Result<T, Error>>>(
        &self,
        question: impl FnOnce(Link) -> F,
        will_do: impl FnOnce(&T) -> bool,
    ) -> Option<T> {
        let standby = self.0.as_deref()?;
        let answer = standby.answer(question).await.filter(will_do);
        let count = if answer.is_some() { &standby.served } else { &standby.passed_on };
        count.fetch_add(1, Ordering::Relaxed);
        answer
    }

    /// A page of the feed, unless it had none from there on a moment ago: the tail is read all the time.
    pub(super) async fn feed(&self, tenant: TenantId, after: Option<&FeedCursor>, limit: u32) -> Option<FeedPage> {
        let standby = self.0.as_deref()?;
        let short = || standby.short.lock().unwrap_or_else(PoisonError::into_inner);
        let known = short().get(&tenant).copied();
        if known.is_some_and(|(from, when)| from.as_ref() <= after && when.elapsed() < REST) {
            return None;
        }
        let question = |link: Link| async move { feed::page(&link, tenant, after, limit).await };
        let page = self.ask(question, |page| page.rows.len() == limit as usize).await;
        if page.is_none() {
            short().insert(tenant, (after.copied(), Instant::now()));
        }
        page
    }

    pub(super) fn counts(&self) -> ReplicaCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        self.0.as_deref().map_or_else(ReplicaCounts::default, |standby| ReplicaCounts {
            served: read(&standby.served),
            passed_on: read(&standby.passed_on),
        })
    }

    pub(super) async fn close(&self) {
        if let Some(standby) = self.0.as_deref() {
            standby.link.pool.close().await;
        }
    }
}

impl Standby {
    async fn answer<T, F: Future<Output = Result<T, Error>>>(&self, question: impl FnOnce(Link) -> F) -> Option<T> {
        let now = self.began.elapsed();
        if (now.as_millis() as u64) < self.rests_until.load(Ordering::Relaxed) {
            return None;
        }
        let why = match timeout(ANSWER_WITHIN, self.answer_of_ours(question)).await {
            Ok(Ok(answer)) => return Some(answer),
            // What it has not got yet looks like a fault of the book, or of a cursor: the first database knows.
            Ok(Err(Error::Missing { .. } | Error::Expired)) => return None,
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {ANSWER_WITHIN:?}"),
        };
        self.rests_until.store((now + REST).as_millis() as u64, Ordering::Relaxed);
        tracing::warn!(%why, rest = ?REST, "the read replica is left alone for a while");
        None
    }

    async fn answer_of_ours<T, F: Future<Output = Result<T, Error>>>(&self, question: impl FnOnce(Link) -> F) -> Result<T, Error> {
        let look = || async {
            match identity(&self.link).await? == identity(&self.first).await? {
                true => Ok(()),
                false => Err(Error::Config("it is another database, and no standby of the first one".to_owned())),
            }
        };
        self.is_of_first.get_or_try_init(look).await?;
        question(self.link.clone()).await
    }
}

async fn identity(link: &Link) -> Result<String, Error> {
    let row = link.row(query(IDENTITY)).await.map_err(classify)?;
    row.ok_or_else(|| Error::Corrupt("a database that is none".to_owned()))?.text("identity")
}
