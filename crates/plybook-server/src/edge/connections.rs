//! How many connections there may be, and who goes where there are too many.
//!
//! A connection is *opening* until it speaks HTTP, a *stranger* until a call of it was let in, and *known* from then on.
//! Where there is no room, the oldest of those that are opening makes room for one that opens; the oldest stranger, or
//! else whoever is known and has had no call for longest, makes room for one that has opened. So whoever fills the
//! table without credentials pushes out nobody but himself.
//!
//! Invariant: the table holds `handshakes` openings and `connections` others at most, and a known connection that has a
//! stream open, or a call that may still be answered, is never let go.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::connection::Connection;
use crate::limits::Limits;

/// The log says at most so often that the table is full.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// So many go at once where the system has no room: one at a time, a flood would be let in as slowly as it is let go.
const ROOM: usize = 8;

/// The connections of this node.
#[derive(Debug)]
pub struct Connections {
    openings: usize,
    most: usize,
    /// A known connection that has had no call for so long is idle.
    idle_ms: u64,
    table: Mutex<Table>,
    let_go: AtomicU64,
}

#[derive(Debug, Default)]
struct Table {
    next: u64,
    opening: BTreeMap<u64, Arc<Connection>>,
    strangers: BTreeMap<u64, Arc<Connection>>,
    known: BTreeMap<u64, Arc<Connection>>,
    told: Option<Instant>,
}

impl Connections {
    /// An empty table.
    pub fn new(limits: &Limits) -> Arc<Connections> {
        Arc::new(Connections {
            openings: limits.handshakes,
            most: limits.connections,
            idle_ms: limits.call_timeout.as_millis() as u64,
            table: Mutex::default(),
            let_go: AtomicU64::new(0),
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        let table = self.table();
        table.opening.len() + table.strangers.len() + table.known.len()
    }

    /// How many were let go to make room for others.
    pub fn let_go(&self) -> u64 {
        self.let_go.load(Ordering::Relaxed)
    }

    /// A connection that begins to open.
    pub(super) fn opening(self: &Arc<Connections>, address: SocketAddr) -> Opened {
        let mut table = self.table();
        while table.opening.len() >= self.openings
            && let Some((_, oldest)) = table.opening.pop_first()
        {
            self.let_one_go(&mut table, &oldest);
        }
        let connection = Arc::new(Connection::new(table.next, address, Arc::downgrade(self)));
        table.next += 1;
        table.opening.insert(connection.id(), Arc::clone(&connection));
        Opened { connection, table: Arc::clone(self) }
    }

    /// It has opened. Nothing where there is no room for it.
    pub(super) fn opened(&self, connection: &Arc<Connection>) -> Option<()> {
        let mut table = self.table();
        table.opening.remove(&connection.id())?;
        if table.strangers.len() + table.known.len() >= self.most {
            let goes = table.strangers.pop_first().map(|(_, stranger)| stranger).or_else(|| self.idlest(&mut table));
            self.let_one_go(&mut table, goes.as_ref().unwrap_or(connection));
            goes?;
        }
        table.strangers.insert(connection.id(), Arc::clone(connection));
        Some(())
    }

    /// A few of them go, where the system has no room for another.
    pub(super) fn make_room(&self) {
        let mut table = self.table();
        for _ in 0..ROOM {
            let opening = table.opening.pop_first().or_else(|| table.strangers.pop_first()).map(|(_, stranger)| stranger);
            let Some(goes) = opening.or_else(|| self.idlest(&mut table)) else { return };
            self.let_one_go(&mut table, &goes);
        }
    }

    /// A call of it was let in.
    pub(super) fn known(&self, id: u64) {
        let mut table = self.table();
        if let Some(connection) = table.strangers.remove(&id) {
            table.known.insert(id, connection);
        }
    }

    fn closed(&self, id: u64) {
        let mut table = self.table();
        let Table { opening, strangers, known, .. } = &mut *table;
        for part in [opening, strangers, known] {
            part.remove(&id);
        }
    }

    fn idlest(&self, table: &mut Table) -> Option<Arc<Connection>> {
        let idle = table.known.values().filter_map(|connection| Some((connection.idle_ms()?, connection.id())));
        let (_, id) = idle.filter(|(idle_ms, _)| *idle_ms > self.idle_ms).max()?;
        table.known.remove(&id)
    }

    fn let_one_go(&self, table: &mut Table, connection: &Connection) {
        connection.cut();
        self.let_go.fetch_add(1, Ordering::Relaxed);
        if table.told.is_none_or(|told| told.elapsed() >= TOLD_EVERY) {
            table.told = Some(Instant::now());
            let (opening, open) = (table.opening.len(), table.strangers.len() + table.known.len());
            tracing::warn!(opening, open, address = %connection.address(), "there are too many connections: some are let go");
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection's place in the table, until it is dropped.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Arc<Connection>,
    table: Arc<Connections>,
}

impl Opened {
    /// It has opened. Nothing where there is no room for it.
    pub(super) fn opened(&self) -> Option<()> {
        self.table.opened(&self.connection)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.table.closed(self.connection.id());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::task::Waker;

    use super::*;

    fn table(handshakes: usize, connections: usize) -> Arc<Connections> {
        Connections::new(&Limits { handshakes, connections, call_timeout: Duration::ZERO, ..Limits::default() })
    }

    fn opening(table: &Arc<Connections>) -> Opened {
        table.opening(([127, 0, 0, 1], 1).into())
    }

    fn open(table: &Arc<Connections>) -> Opened {
        let opened = opening(table);
        opened.opened().unwrap();
        opened
    }

    fn is_cut(opened: &Opened) -> bool {
        opened.connection.is_cut(&std::task::Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_oldest_opening_makes_room() {
        let table = table(2, 9);
        let all = [(); 3].map(|()| opening(&table));
        assert_eq!(all.each_ref().map(is_cut), [true, false, false]);
        assert!(all[0].opened().is_none() && all[1].opened().is_some());
        assert_eq!((table.count(), table.let_go()), (2, 1));
        drop(all);
        assert_eq!(table.count(), 0);
    }

    #[test]
    fn strangers_go_before_anybody_who_is_known() {
        let table = table(9, 2);
        let known = open(&table);
        known.connection.called();
        let stranger = open(&table);
        let newcomer = open(&table);
        assert_eq!([&known, &stranger, &newcomer].map(is_cut), [false, true, false]);
    }

    #[test]
    fn whoever_has_been_idle_for_longest_goes_and_nobody_with_a_stream() {
        let table = table(9, 2);
        let (busy, idle) = (open(&table), open(&table));
        busy.connection.called();
        let stream = busy.connection.open_stream(1).unwrap();
        assert!(busy.connection.open_stream(1).is_none());
        idle.connection.called();
        while idle.connection.idle_ms() == Some(0) {
            std::thread::yield_now();
        }
        let third = open(&table);
        assert_eq!([&busy, &idle, &third].map(is_cut), [false, true, false]);
        third.connection.called();
        let _stream = third.connection.open_stream(1).unwrap();
        let fourth = opening(&table);
        assert!(fourth.opened().is_none() && is_cut(&fourth), "all that are there are busy");
        drop(stream);
        while busy.connection.idle_ms() == Some(0) {
            std::thread::yield_now();
        }
        assert!(opening(&table).opened().is_some() && is_cut(&busy));
    }
}
