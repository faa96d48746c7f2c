//! Which games are watched here, and the news about them.
//!
//! Invariant: losing any news costs a watcher time up to the poll floor, never an entry. A game that
//! nobody watches costs nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use plybook_store::{GameKey, News, StoredEntry, Wake};

use crate::feed::Feeds;
use crate::streams::{Standings, Topic};

/// The games watched on this node.
#[derive(Default)]
pub struct Hub {
    topics: Mutex<HashMap<GameKey, Weak<Topic>>>,
    feeds: Feeds,
    standings: Standings,
    heard: Heard,
}

/// What was heard of other nodes.
#[derive(Debug, Default)]
pub struct Heard {
    hints: AtomicU64,
    gaps: AtomicU64,
}

impl Heard {
    /// Hints that a book grew.
    pub fn hints(&self) -> u64 {
        self.hints.load(Ordering::Relaxed)
    }

    /// Times when hints may have been missed, and are heard again since.
    pub fn gaps(&self) -> u64 {
        self.gaps.load(Ordering::Relaxed)
    }
}

impl Hub {
    /// The topic of a game; every watcher of the game shares it while one of them lives.
    pub fn watch(&self, key: GameKey) -> Arc<Topic> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(topic) = topics.get(&key).and_then(Weak::upgrade) {
            return topic;
        }
        if topics.len() >= 64 && topics.len().is_power_of_two() {
            topics.retain(|_, topic| topic.strong_count() > 0);
        }
        let topic = Arc::new(Topic::new(key));
        topics.insert(key, Arc::downgrade(&topic));
        topic
    }

    /// The feeds followed on this node, which every entry is news for.
    pub const fn feeds(&self) -> &Feeds {
        &self.feeds
    }

    /// Where the open streams of games stand.
    pub const fn standings(&self) -> &Standings {
        &self.standings
    }

    /// What was heard of other nodes.
    pub const fn heard(&self) -> &Heard {
        &self.heard
    }

    /// This node stored a game.
    pub fn created(&self, key: GameKey) {
        self.feeds.wake(key.tenant);
    }

    /// This node stored an entry.
    pub fn committed(&self, key: GameKey, stored: StoredEntry) {
        self.feeds.wake(key.tenant);
        if let Some(topic) = self.topic(key) {
            topic.committed(stored);
        }
    }

    /// Another node says that it stored an entry.
    pub fn wake(&self, wake: Wake) {
        self.feeds.wake(wake.key.tenant);
        if let Some(topic) = self.topic(wake.key) {
            topic.wake(wake.seq);
        }
    }

    /// What is remembered of a game is not what the store has.
    pub fn forget(&self, key: GameKey) {
        if let Some(topic) = self.topic(key) {
            topic.forget();
        }
    }

    /// Hands on news of another node.
    pub fn hear(&self, news: News) {
        match news {
            News::Entry(wake) => {
                self.heard.hints.fetch_add(1, Ordering::Relaxed);
                self.wake(wake);
            }
            News::MayHaveMissed => {
                self.heard.gaps.fetch_add(1, Ordering::Relaxed);
                self.may_have_missed();
            }
        }
    }

    /// Every watched game may have news.
    fn may_have_missed(&self) {
        self.feeds.may_have_missed();
        let watched: Vec<_> = self.topics.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect();
        watched.iter().for_each(|topic| topic.may_have_missed());
    }

    fn topic(&self, key: GameKey) -> Option<Arc<Topic>> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let topic = topics.get(&key)?.upgrade();
        if topic.is_none() {
            topics.remove(&key);
        }
        topic
    }
}
