//! What goes wrong in a simulated world, and how often it did.
//!
//! Invariant: a fault is counted when it happens, not when it is planned.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

use crate::injected::Call;
use crate::random::Random;

/// What goes wrong with a call to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An error, and nothing is done.
    Before,
    /// It is done, and the answer is an error.
    After,
    /// It is done, and the node dies of the answer.
    Dies,
    /// The node stands still before it is done, and does not notice.
    SleepsBefore,
    /// The node stands still after it is done.
    SleepsAfter,
}

impl Fault {
    /// Something that goes wrong with one request, and leaves the node alive and awake.
    pub fn of_a_request(random: &mut Random) -> (Call, Fault) {
        let call = *random.pick(&[Call::Append, Call::Append, Call::Append, Call::Entries, Call::Find]);
        (call, *random.pick(&[Fault::Before, Fault::After]))
    }

    /// The same for a node that looks after what is due.
    pub fn of_a_sweep(random: &mut Random) -> (Call, Fault) {
        let call = *random.pick(&[Call::Claim, Call::Append, Call::Append, Call::Settle, Call::Entries, Call::Outages]);
        (call, *random.pick(&[Fault::Before, Fault::After]))
    }
}

/// How often what went wrong, in all worlds of a run.
#[derive(Debug, Default)]
pub struct Faults(Mutex<BTreeMap<String, u64>>);

impl Faults {
    /// One more.
    pub fn count(&self, call: Call, fault: Fault) {
        self.note(&format!("{call:?}/{fault:?}"));
    }

    /// One more of something else.
    pub fn note(&self, what: &str) {
        *self.0.lock().unwrap().entry(what.to_owned()).or_default() += 1;
    }

    /// How often something like this happened.
    pub fn of(&self, what: &str) -> u64 {
        self.0.lock().unwrap().iter().filter(|(known, _)| known.contains(what)).map(|(_, times)| times).sum()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.lock().unwrap().iter().try_for_each(|(what, times)| writeln!(f, "  {times:>8} {what}"))
    }
}
