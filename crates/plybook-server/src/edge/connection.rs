//! One connection: what it has cost, and the way to end it.
//!
//! Invariant: a connection that was cut is read from no more, whatever its peer goes on to send.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Context;
use std::time::Instant;

use futures::task::AtomicWaker;

use super::connections::Connections;
use super::rates::{Meter, Rate};

const MINUTE: u64 = 60;

/// One connection. Its line and its calls share it.
#[derive(Debug)]
pub struct Connection {
    id: u64,
    address: SocketAddr,
    table: Weak<Connections>,
    began: Instant,
    cut: AtomicBool,
    reader: AtomicWaker,
    /// A call of it was let in.
    known: AtomicBool,
    /// Milliseconds between its begin and its last call.
    last_call: AtomicU64,
    streams: AtomicUsize,
    waiting_bytes: AtomicUsize,
    left: Mutex<Meter>,
}

/// Who is at the other end, as every request's extensions have it.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The connection.
    pub connection: Arc<Connection>,
}

impl Connection {
    pub(super) fn new(id: u64, address: SocketAddr, table: Weak<Connections>) -> Connection {
        Connection {
            id,
            address,
            table,
            began: Instant::now(),
            cut: AtomicBool::new(false),
            reader: AtomicWaker::new(),
            known: AtomicBool::new(false),
            last_call: AtomicU64::new(0),
            streams: AtomicUsize::new(0),
            waiting_bytes: AtomicUsize::new(0),
            left: Mutex::new(Meter::default()),
        }
    }

    /// The other end's address.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    /// Ends it, now.
    pub fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.reader.wake();
    }

    /// Whether it was cut; if not, the context is woken when it is.
    pub(super) fn is_cut(&self, context: &Context<'_>) -> bool {
        self.reader.register(context.waker());
        self.cut.load(Ordering::SeqCst)
    }

    /// A call of it was let in: its peer is no stranger any more.
    pub fn called(&self) {
        self.last_call.store(self.began.elapsed().as_millis() as u64, Ordering::Relaxed);
        if !self.known.swap(true, Ordering::Relaxed)
            && let Some(table) = self.table.upgrade()
        {
            table.known(self.id);
        }
    }

    /// Milliseconds without a call, where no stream is open.
    pub(super) fn idle_ms(&self) -> Option<u64> {
        let now = self.began.elapsed().as_millis() as u64;
        (self.streams.load(Ordering::Relaxed) == 0).then(|| now.saturating_sub(self.last_call.load(Ordering::Relaxed)))
    }

    /// A place for a stream, if it has fewer than so many.
    pub(crate) fn open_stream(self: &Arc<Connection>, most: usize) -> Option<StreamPlace> {
        let place = self.streams.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |open| (open < most).then_some(open + 1));
        place.is_ok().then(|| StreamPlace(Arc::clone(self)))
    }

    /// Room for an answer's bytes, if less than so many wait to be taken.
    pub(super) fn hold(self: &Arc<Connection>, bytes: usize, most: usize) -> Option<HeldBytes> {
        let room = |waiting: usize| (waiting.saturating_add(bytes) <= most).then_some(waiting + bytes);
        let held = self.waiting_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room);
        held.is_ok().then(|| HeldBytes { connection: Arc::clone(self), bytes })
    }

    /// A caller left a call before its answer. Too often, and it is the connection's end: what a call has begun goes on.
    pub(super) fn left_a_call(&self, most_a_minute: u64) {
        let rate = Rate::over(most_a_minute, MINUTE);
        let now = self.began.elapsed();
        let mut meter = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if meter.take(rate, now).is_err() {
            tracing::warn!(address = %self.address, most_a_minute, "a connection is cut: its caller leaves calls unanswered");
            self.cut();
        }
    }
}

/// A stream's place on its connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPlace(Arc<Connection>);

impl Drop for StreamPlace {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
        // The time without a call begins when the stream ends.
        self.0.called();
    }
}

/// An answer's bytes, until they are dropped.
#[derive(Debug)]
pub(super) struct HeldBytes {
    connection: Arc<Connection>,
    bytes: usize,
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.connection.waiting_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
