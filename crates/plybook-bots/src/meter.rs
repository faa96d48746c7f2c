//! A budget in nodes, what is spent of it, and the question whether to stop.
//!
//! Every strategy counts the same thing, so that a limit means the same for all: a *node* is an action
//! tried on a trial, and one more node for each [`LISTED_PER_NODE`] candidates that are listed on the
//! way, so that a large board is not free.
//!
//! Invariant: whether the budget is used up depends on the count alone. Being stopped is different: it
//! comes from outside, at any moment, and leaves no choice.

use crate::strategy::NoChoice;

/// Nodes that a strategy may spend on a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget(pub u64);

/// So many candidates listed cost a node.
pub const LISTED_PER_NODE: u64 = 256;

/// So many nodes pass between two questions whether to stop.
const NODES_PER_QUESTION: u64 = 256;

/// Counts nodes against a budget.
pub struct Meter<'a> {
    most: u64,
    spent: u64,
    asked_at: u64,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Meter<'a> {
    /// Nothing is spent yet. `stop` is asked now and then; once it says yes the search ends without a
    /// choice.
    pub const fn new(budget: Budget, stop: &'a dyn Fn() -> bool) -> Meter<'a> {
        Meter { most: budget.0, spent: 0, asked_at: 0, stop }
    }

    /// A meter that nobody stops.
    pub const fn unstopped(budget: Budget) -> Meter<'a> {
        Meter::new(budget, &|| false)
    }

    /// A meter of its own for so many of the nodes that are left; whoever takes it counts here what it
    /// spent.
    #[must_use]
    pub const fn part(&self, nodes: u64) -> Meter<'a> {
        let left = self.left();
        Meter::new(Budget(if nodes < left { nodes } else { left }), self.stop)
    }

    /// Counts some nodes, and asks whether to stop when it is time to.
    pub fn spend(&mut self, nodes: u64) -> Result<(), NoChoice> {
        self.spent = self.spent.saturating_add(nodes);
        if self.spent - self.asked_at >= NODES_PER_QUESTION {
            self.asked_at = self.spent;
            return self.ask();
        }
        Ok(())
    }

    /// Asks now whether to stop.
    pub fn ask(&self) -> Result<(), NoChoice> {
        if (self.stop)() { Err(NoChoice::Stopped) } else { Ok(()) }
    }

    /// Whether nothing is left.
    pub const fn is_empty(&self) -> bool {
        self.spent >= self.most
    }

    /// What is left.
    pub const fn left(&self) -> u64 {
        self.most.saturating_sub(self.spent)
    }

    /// What was spent; the last step may have gone beyond the budget.
    pub const fn spent(&self) -> u64 {
        self.spent
    }
}
