//! The search: principal variation search, with a table and the other seat's fewest moves first
//! while many cells are vacant, and by the parity of quarters when few are.
//!
//! Invariant: what the table holds are bounds for the position itself, under one way of counting.

use super::super::table::bits_for;
use super::super::{Halt, pay};
use super::discs::{Discs, Frame, bits};
use super::{VACANT_MAX, Vacant};
use crate::meter::Meter;

/// With so many vacant cells or more, positions are looked up in the table.
const TABLE_FROM: u32 = 7;
/// With so many or more, moves are ordered by what they leave to the other seat.
const FASTEST_FROM: u32 = 5;
/// 24 MiB.
const TABLE_BITS_MAX: u32 = 20;
/// More than any difference of discs.
const BEYOND: i32 = 65;

/// What is known of a position.
#[derive(Clone, Copy, Debug)]
struct Entry {
    discs: Discs,
    low: i8,
    high: i8,
}

/// A board, a way of counting, and what is known of positions.
#[derive(Debug)]
pub(super) struct Search {
    frame: Frame,
    counting: Vacant,
    table: Vec<Entry>,
}

/// A move that was looked at: how much it leaves to the other seat, and where it leads.
type Tried = (i32, Discs);

impl Search {
    /// For searches of so many nodes.
    pub(super) fn new(frame: Frame, counting: Vacant, nodes: u64) -> Search {
        let empty = Entry { discs: Discs { own: 0, theirs: 0 }, low: -(BEYOND as i8), high: BEYOND as i8 };
        // Positions near the leaves are not kept, so fewer slots than nodes will do.
        Search { frame, counting, table: vec![empty; 1 << bits_for(nodes / 8, TABLE_BITS_MAX)] }
    }

    /// What a position is worth to `discs.own`, which may have no move.
    pub(super) fn value(&mut self, discs: Discs, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        self.negamax(discs, -BEYOND, BEYOND, meter)
    }

    /// Whether it is worth `score` or less.
    pub(super) fn is_at_most(&mut self, discs: Discs, score: i32, meter: &mut Meter<'_>) -> Result<bool, Halt> {
        Ok(self.negamax(discs, score, score + 1, meter)? <= score)
    }

    fn counted(&self, discs: Discs) -> i32 {
        let difference = discs.own.count_ones() as i32 - discs.theirs.count_ones() as i32;
        match self.counting {
            Vacant::Nobody => difference,
            Vacant::Winner => difference + difference.signum() * self.frame.vacant(discs).count_ones() as i32,
        }
    }

    /// The value if it lies between `alpha` and `beta`, else a bound on its side of them.
    fn negamax(&mut self, discs: Discs, mut alpha: i32, mut beta: i32, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        pay(meter)?;
        let moves = self.frame.moves(discs);
        if moves == 0 {
            let other = discs.swapped();
            if self.frame.moves(other) == 0 {
                return Ok(self.counted(discs));
            }
            return Ok(-self.negamax(other, -beta, -alpha, meter)?);
        }
        let vacant = self.frame.vacant(discs);
        let count = vacant.count_ones();
        if count < FASTEST_FROM {
            return self.by_parity(discs, moves, vacant, (alpha, beta), meter);
        }
        let slot = (count >= TABLE_FROM).then(|| self.slot(discs));
        if let Some(entry) = slot.map(|slot| self.table[slot]).filter(|entry| entry.discs == discs) {
            let (low, high) = (i32::from(entry.low), i32::from(entry.high));
            if low >= beta || low == high {
                return Ok(low);
            }
            if high <= alpha {
                return Ok(high);
            }
            (alpha, beta) = (alpha.max(low), beta.min(high));
        }
        let best = self.by_mobility(discs, moves, vacant, (alpha, beta), meter)?;
        if let Some(slot) = slot {
            self.note(slot, discs, best, (alpha, beta));
        }
        Ok(best)
    }

    /// Tries moves in quarters with an odd number of vacant cells first: there, the seat that begins
    /// also has the last word.
    fn by_parity(
        &mut self,
        discs: Discs,
        moves: u64,
        vacant: u64,
        (mut alpha, beta): (i32, i32),
        meter: &mut Meter<'_>,
    ) -> Result<i32, Halt> {
        let odd = self.odd(vacant);
        let mut best = -BEYOND;
        for place in bits(moves & odd).chain(bits(moves & !odd)) {
            let after = discs.after(place, discs.turned(place));
            let score = if vacant == place { -self.counted(after) } else { -self.negamax(after, -beta, -alpha, meter)? };
            best = best.max(score);
            if score >= beta {
                break;
            }
            alpha = alpha.max(score);
        }
        Ok(best)
    }

    /// Tries the moves that leave the fewest to the other seat first; all but the first only to see
    /// whether they are better.
    fn by_mobility(
        &mut self,
        discs: Discs,
        moves: u64,
        vacant: u64,
        (mut alpha, beta): (i32, i32),
        meter: &mut Meter<'_>,
    ) -> Result<i32, Halt> {
        let (order, len) = self.order(discs, moves, vacant);
        let mut best = -BEYOND;
        for (n, (_, after)) in order[..len].iter().enumerate() {
            let mut score = if n == 0 { BEYOND } else { -self.negamax(*after, -alpha - 1, -alpha, meter)? };
            if n == 0 || (score > alpha && score < beta) {
                score = -self.negamax(*after, -beta, -alpha, meter)?;
            }
            best = best.max(score);
            if score >= beta {
                break;
            }
            alpha = alpha.max(score);
        }
        Ok(best)
    }

    fn order(&self, discs: Discs, moves: u64, vacant: u64) -> ([Tried; VACANT_MAX as usize], usize) {
        let mut order = [(0, Discs { own: 0, theirs: 0 }); VACANT_MAX as usize];
        let odd = self.odd(vacant);
        let mut len = 0;
        for place in bits(moves) {
            let after = discs.after(place, discs.turned(place));
            let theirs = self.frame.moves(after);
            // A corner is worth two moves; a move into an odd quarter, or onto a corner, is a little better.
            let left = 4 * (theirs.count_ones() + (theirs & self.frame.corners).count_ones()) as i32;
            let better = i32::from(place & odd != 0) + 2 * i32::from(place & self.frame.corners != 0);
            order[len] = (left - better, after);
            len += 1;
        }
        order[..len].sort_by_key(|(left, _)| *left);
        (order, len)
    }

    fn odd(&self, vacant: u64) -> u64 {
        let odd = self.frame.quarters.iter().filter(|quarter| (vacant & **quarter).count_ones() % 2 == 1);
        odd.fold(0, |cells, quarter| cells | quarter)
    }

    const fn slot(&self, discs: Discs) -> usize {
        let mixed = discs.own.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ discs.theirs.rotate_left(32).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        (mixed >> 32) as usize & (self.table.len() - 1)
    }

    /// Notes what a search between `alpha` and `beta` found; what was known before still holds.
    fn note(&mut self, slot: usize, discs: Discs, found: i32, (alpha, beta): (i32, i32)) {
        let entry = &mut self.table[slot];
        if entry.discs != discs {
            *entry = Entry { discs, low: -(BEYOND as i8), high: BEYOND as i8 };
        }
        if found > alpha {
            entry.low = entry.low.max(found as i8);
        }
        if found < beta {
            entry.high = entry.high.min(found as i8);
        }
    }
}
