//! Which action to try first: what was best here before, what refuted a sister position, what has often
//! refuted others, and then what looks promising.
//!
//! Invariant: the order is a matter of speed; it leaves nothing out.

use std::cmp::Reverse;

use plybook_core::{Action, Board};

/// What was learnt of actions in this search.
#[derive(Clone, Debug)]
pub(super) struct Order {
    cols: usize,
    /// The last two refutations at each distance from the root.
    killers: Vec<[Option<Action>; 2]>,
    /// How often an action refuted, the deeper the more.
    history: Vec<u32>,
}

impl Order {
    pub(super) fn new(board: &Board) -> Order {
        let cols = usize::from(board.cols());
        Order { cols, killers: Vec::new(), history: vec![0; (board.len() as usize).max(2 * cols)] }
    }

    fn slot(&self, action: Action) -> usize {
        match action {
            Action::Place(cell) => cell.index(),
            Action::Drop(column) => column.0 as usize,
            Action::Pop(column) => self.cols + column.0 as usize,
            Action::Roll => 0,
        }
    }

    /// Notes that `action` made all others needless.
    pub(super) fn refuted(&mut self, action: Action, depth: u32, ply: usize) {
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [None; 2]);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != Some(action) {
            *killers = [Some(action), killers[0]];
        }
        let slot = self.slot(action);
        if let Some(history) = self.history.get_mut(slot) {
            *history = history.saturating_add(depth * depth);
        }
    }

    /// Sorts actions that stand in the order of what they promise.
    pub(super) fn sort(&self, actions: &mut [Action], first: Option<Action>, ply: usize) {
        let killers = self.killers.get(ply).copied().unwrap_or_default();
        actions.sort_by_cached_key(|action| {
            let class = if Some(*action) == first {
                3
            } else if killers.contains(&Some(*action)) {
                2
            } else {
                0
            };
            let history = self.history.get(self.slot(*action)).copied().unwrap_or(0);
            Reverse((class, if class == 0 { (history + 1).ilog2() / 2 } else { 0 }))
        });
    }
}
