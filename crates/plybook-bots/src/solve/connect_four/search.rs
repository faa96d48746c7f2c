//! The search: negamax with alpha-beta over null windows, threats first, with a table.
//!
//! Invariant: scores in the table are bounds for the position itself, whatever window or search they
//! come from, so that one table serves every search on one board.

use super::super::table::{Bound, Notes, Table};
use super::super::{Halt, pay};
use super::frame::{COLUMNS_MAX, Discs, Frame};
use crate::meter::Meter;

/// With so many vacant cells or more, a position shares its entry with its mirror image: deeper,
/// few positions come from both sides, and the turning costs more than it saves.
const MIRRORED_FROM: u32 = 28;
/// With so many or more, the positions after every move are looked up before one is searched: that
/// saves a quarter of the nodes.
const LOOKED_UP_FROM: u32 = 8;

/// A board, the order of its columns, and what is known of its positions.
#[derive(Debug)]
pub(super) struct Search {
    frame: Frame,
    /// Cells of each column, centre first.
    order: Vec<u64>,
    table: Table,
    notes: Notes,
}

impl Search {
    /// For searches of so many nodes.
    pub(super) fn new(frame: Frame, nodes: u64) -> Search {
        let order = frame.centre_first().into_iter().map(|column| frame.column(column)).collect();
        let notes = Notes::new(frame.cells().div_ceil(2) as i32);
        Search { frame, order, table: Table::for_nodes(nodes), notes }
    }

    /// How many discs are still to fall.
    pub(super) const fn vacant(&self, discs: Discs) -> u32 {
        self.frame.cells() - discs.all.count_ones()
    }

    /// What a disc on `place` is worth if it ends the game: it wins, or it fills the board.
    pub(super) const fn at_once(&self, discs: Discs, place: u64) -> Option<i32> {
        let vacant = self.vacant(discs);
        if self.frame.completing(discs.own, discs.all) & place != 0 {
            Some(vacant.div_ceil(2) as i32)
        } else if vacant == 1 {
            Some(0)
        } else {
            None
        }
    }

    /// What the position is worth to the seat that moves: halves the interval of what it can be,
    /// near 0 first, where a search is cheapest.
    pub(super) fn value(&mut self, discs: Discs, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        let vacant = self.vacant(discs);
        if self.wins_at_once(discs) {
            return Ok(vacant.div_ceil(2) as i32);
        }
        let (mut low, mut high) = (-(vacant as i32 / 2), vacant.saturating_sub(1) as i32 / 2);
        while low < high {
            let middle = low + (high - low) / 2;
            let tried = if middle <= 0 && low / 2 < middle {
                low / 2
            } else if middle >= 0 && high / 2 > middle {
                high / 2
            } else {
                middle
            };
            let found = self.negamax(discs, vacant, tried, tried + 1, meter)?;
            if found <= tried {
                high = found;
            } else {
                low = found;
            }
        }
        Ok(low)
    }

    /// Whether the position is worth `score` or less to the seat that moves.
    pub(super) fn is_at_most(&mut self, discs: Discs, score: i32, meter: &mut Meter<'_>) -> Result<bool, Halt> {
        let vacant = self.vacant(discs);
        if self.wins_at_once(discs) {
            return Ok(vacant.div_ceil(2) as i32 <= score);
        }
        Ok(self.negamax(discs, vacant, score, score + 1, meter)? <= score)
    }

    const fn wins_at_once(&self, discs: Discs) -> bool {
        self.frame.completing(discs.own, discs.all) & self.frame.playable(discs.all) != 0
    }

    /// The score if it lies between `alpha` and `beta`, else a bound on its side of them. The seat
    /// to move cannot win at once.
    fn negamax(&mut self, discs: Discs, vacant: u32, mut alpha: i32, mut beta: i32, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        pay(meter)?;
        let safe = self.frame.safe(discs);
        if vacant <= 2 && (safe != 0 || vacant == 0) {
            return Ok(0);
        }
        if safe == 0 {
            return Ok(-(vacant as i32 / 2));
        }
        // They cannot win with their next disc, and the seat that moves cannot with this one.
        let floor = -((vacant as i32 - 2) / 2);
        if alpha < floor {
            alpha = floor;
            if alpha >= beta {
                return Ok(alpha);
            }
        }
        let mut ceiling = (vacant as i32 - 1) / 2;
        let key = self.key(discs, vacant);
        match self.notes.read(self.table.get(key)) {
            Bound::AtLeast(score) if score > alpha => {
                alpha = score;
                if alpha >= beta {
                    return Ok(alpha);
                }
            }
            Bound::AtMost(score) => ceiling = ceiling.min(score),
            _ => {}
        }
        if beta > ceiling {
            beta = ceiling;
            if alpha >= beta {
                return Ok(beta);
            }
        }
        if let Some(score) = self.known_to_reach(discs, vacant, safe, beta) {
            self.table.put(key, self.notes.write(Bound::AtLeast(score)));
            return Ok(score);
        }
        let mut ranks = self.ranks(discs, safe);
        while let Some(place) = self.take(&mut ranks, safe) {
            let score = -self.negamax(discs.after(place), vacant - 1, -beta, -alpha, meter)?;
            if score >= beta {
                self.table.put(key, self.notes.write(Bound::AtLeast(score)));
                return Ok(score);
            }
            alpha = alpha.max(score);
        }
        self.table.put(key, self.notes.write(Bound::AtMost(alpha)));
        Ok(alpha)
    }

    /// A score of `beta` or more that a move is known to have: all moves are looked up before one is
    /// searched.
    #[inline]
    fn known_to_reach(&self, discs: Discs, vacant: u32, safe: u64, beta: i32) -> Option<i32> {
        let mut rest = if vacant >= LOOKED_UP_FROM { safe } else { 0 };
        while rest != 0 {
            let place = rest & rest.wrapping_neg();
            rest ^= place;
            match self.notes.read(self.table.get(self.key(discs.after(place), vacant - 1))) {
                Bound::AtMost(score) if -score >= beta => return Some(-score),
                _ => {}
            }
        }
        None
    }

    #[inline]
    fn key(&self, discs: Discs, vacant: u32) -> u64 {
        let key = discs.key();
        if vacant >= MIRRORED_FROM { key.min(self.frame.mirrored(key)) } else { key }
    }

    /// How much each column promises, centre first: 1 + the cells that would then complete four;
    /// 0 for columns that are not safe.
    #[inline]
    fn ranks(&self, discs: Discs, safe: u64) -> [u8; COLUMNS_MAX] {
        let mut ranks = [0; COLUMNS_MAX];
        for (rank, column) in ranks.iter_mut().zip(&self.order) {
            let place = safe & column;
            if place != 0 {
                *rank = 1 + self.frame.completing(discs.own | place, discs.all).count_ones() as u8;
            }
        }
        ranks
    }

    /// Takes the most promising column, the nearest to the centre among equals.
    #[inline]
    fn take(&self, ranks: &mut [u8; COLUMNS_MAX], safe: u64) -> Option<u64> {
        let (mut most, mut at) = (0, 0);
        for (index, rank) in ranks[..self.order.len()].iter().enumerate() {
            if *rank > most {
                (most, at) = (*rank, index);
            }
        }
        if most == 0 {
            return None;
        }
        ranks[at] = 0;
        Some(safe & self.order[at])
    }
}
