//! What carries hints between nodes: real buses, to be cut, spoken into, and switched off for one node.
//!
//! Invariant: what is heard is the real bus's.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use plybook_store::wake::SITE_DEFAULT;
use plybook_store::{NatsOptions, NatsWakes, News, NoWakes, Wake, Wakes};
use tokio::sync::mpsc;

use crate::injected::{Local, over_postgres};
use crate::nats::{self, Nats};
use crate::patience::until;
use crate::postgres::{TestDatabase, database};

/// A bus that loses hints on demand.
pub struct Bus {
    inner: Arc<dyn Wakes>,
    loses: AtomicBool,
}

impl Bus {
    /// This one, carrying all.
    pub fn new(inner: Arc<dyn Wakes>) -> Bus {
        Bus { inner, loses: AtomicBool::new(false) }
    }

    /// From now on hints to other nodes are lost.
    pub fn loses_hints(&self) {
        self.loses.store(true, Ordering::SeqCst);
    }
}

/// For a node that has nobody to tell.
pub fn none() -> Arc<dyn Wakes> {
    Arc::new(NoWakes::default())
}

#[async_trait]
impl Wakes for Bus {
    fn publish(&self, wake: Wake) {
        if !self.loses.load(Ordering::SeqCst) {
            self.inner.publish(wake);
        }
    }

    fn subscribe(&self) -> mpsc::Receiver<News> {
        self.inner.subscribe()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

/// Nodes over one database, and what wakes them.
pub struct Site {
    /// Their books.
    pub database: TestDatabase,
    /// Where NATS wakes them; else the database does.
    nats: Option<Mutex<Nats>>,
}

impl Site {
    /// Woken by the database.
    pub async fn over_postgres() -> Site {
        Site { database: database().await, nats: None }
    }

    /// Woken over NATS.
    pub async fn over_nats() -> Site {
        let server = tokio::task::spawn_blocking(nats::server).await.unwrap();
        Site { database: database().await, nats: Some(Mutex::new(server)) }
    }

    /// What wakes one more node.
    pub async fn wakes(&self) -> Arc<dyn Wakes> {
        match self.nats_url() {
            Some(url) => Arc::new(NatsWakes::start(&NatsOptions::new(&url, SITE_DEFAULT).unwrap()).await.unwrap()),
            None => Arc::new(self.database.wakes()),
        }
    }

    /// One more node, which looks unasked only so often.
    pub async fn node(&self, poll_floor: Duration) -> Local {
        let setup = over_postgres(&self.database).await.woken_by(self.wakes().await);
        setup.limits(|limits| limits.poll_floor = poll_floor).start().await
    }

    /// Ends every line on which hints are heard, each at least once; they may come back at once.
    pub async fn cut(&self) {
        if self.nats.is_some() {
            self.goes_away();
            self.comes_back();
        } else {
            until("there is a listener to end", async || self.database.kill_listeners().await > 0).await;
        }
    }

    /// The bus ends as in a power cut, and stays away.
    ///
    /// # Panics
    /// Over Postgres, whose bus is the database.
    pub fn goes_away(&self) {
        tokio::task::block_in_place(|| self.nats.as_ref().expect("a bus beside the database").lock().unwrap().kill());
    }

    /// It is there again.
    pub fn comes_back(&self) {
        tokio::task::block_in_place(|| self.nats.as_ref().expect("a bus beside the database").lock().unwrap().start());
    }

    /// Somebody who is no node says this on the bus.
    pub async fn says(&self, what: &str) {
        let Some(url) = self.nats_url() else {
            return self.database.execute(&format!("SELECT pg_notify('plybook_wake', '{what}')")).await;
        };
        let stranger = async_nats::connect(url).await.unwrap();
        stranger.publish(format!("plybook.wake.{SITE_DEFAULT}"), what.to_owned().into()).await.unwrap();
        stranger.drain().await.unwrap();
    }

    fn nats_url(&self) -> Option<String> {
        self.nats.as_ref().map(|server| server.lock().unwrap().url())
    }
}
