//! The search: negamax with alpha-beta over null windows, a table shared by a position's images,
//! and the cells of the most open lines first.
//!
//! Invariant: a position is searched only while nobody holds a line.

use super::super::table::{Bound, Notes, Table};
use super::super::{Halt, pay};
use super::lines::Lines;
use crate::meter::Meter;

/// With fewer vacant cells a search is quicker than a look into the table.
const TABLE_FROM: u32 = 3;

/// Who has which cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pieces {
    /// The seat that moves.
    pub(super) own: u32,
    /// The other seat.
    pub(super) theirs: u32,
}

/// A board and what is known of its positions.
#[derive(Debug)]
pub(super) struct Search {
    lines: Lines,
    misere: bool,
    table: Table,
    notes: Notes,
}

impl Search {
    /// For searches of so many nodes.
    pub(super) fn new(lines: Lines, misere: bool, nodes: u64) -> Search {
        let notes = Notes::new(lines.board.count_ones() as i32);
        Search { lines, misere, table: Table::for_nodes(nodes), notes }
    }

    /// Cells that nobody has.
    pub(super) const fn vacant(&self, pieces: Pieces) -> u32 {
        self.lines.board & !(pieces.own | pieces.theirs)
    }

    /// What a position is worth to the seat that moves.
    pub(super) fn value(&mut self, pieces: Pieces, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        let reach = self.vacant(pieces).count_ones() as i32;
        // Whether it is won, drawn or lost first: that settles most of it, and cheaply.
        let (mut low, mut high) = (-reach, reach);
        let mut tried = 0;
        while low < high {
            let found = self.negamax(pieces, tried, tried + 1, meter)?;
            if found <= tried {
                high = found;
            } else {
                low = found;
            }
            tried = if high == 0 { -1 } else { low + (high - low).div_euclid(2) };
            tried = tried.clamp(low, (high - 1).max(low));
        }
        Ok(low)
    }

    /// What a piece on `place` is worth to the seat that puts it there.
    pub(super) fn score(&mut self, pieces: Pieces, place: u32, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        match self.at_once(pieces, place) {
            Some(score) => Ok(score),
            None => Ok(-self.value(after(pieces, place), meter)?),
        }
    }

    /// Whether a piece on `place` is worth `score` or more.
    pub(super) fn reaches(&mut self, pieces: Pieces, place: u32, score: i32, meter: &mut Meter<'_>) -> Result<bool, Halt> {
        match self.at_once(pieces, place) {
            Some(found) => Ok(found >= score),
            None => Ok(self.negamax(after(pieces, place), -score, 1 - score, meter)? <= -score),
        }
    }

    /// What a piece on `place` is worth if it ends the game.
    #[inline]
    fn at_once(&self, pieces: Pieces, place: u32) -> Option<i32> {
        let left = self.vacant(pieces).count_ones() as i32 - 1;
        let own = pieces.own | place;
        let through = &self.lines.through[place.trailing_zeros() as usize];
        if through.iter().any(|line| line.held_by(own)) {
            return Some(if self.misere { -1 - left } else { 1 + left });
        }
        (left == 0).then_some(0)
    }

    fn negamax(&mut self, pieces: Pieces, mut alpha: i32, mut beta: i32, meter: &mut Meter<'_>) -> Result<i32, Halt> {
        pay(meter)?;
        let vacant = self.vacant(pieces);
        let count = vacant.count_ones();
        if !self.is_open(pieces) {
            return Ok(0);
        }
        let noted = count >= TABLE_FROM;
        let key = if noted { self.lines.canonical(pieces.own, pieces.theirs) } else { 0 };
        if noted {
            match self.notes.read(self.table.get(key)) {
                Bound::AtLeast(score) if score >= beta => return Ok(score),
                Bound::AtMost(score) if score <= alpha => return Ok(score),
                Bound::AtLeast(score) => alpha = alpha.max(score),
                Bound::AtMost(score) => beta = beta.min(score),
                Bound::Unknown => {}
            }
        }
        let best = self.best_of_moves(pieces, vacant, (alpha, beta), meter)?;
        if noted {
            let bound = if best >= beta { Bound::AtLeast(best) } else { Bound::AtMost(best) };
            self.table.put(key, self.notes.write(bound));
        }
        Ok(best)
    }

    /// The best score of all moves, or the first that reaches `beta`.
    fn best_of_moves(&mut self, pieces: Pieces, vacant: u32, (mut alpha, beta): (i32, i32), meter: &mut Meter<'_>) -> Result<i32, Halt> {
        let mut best = i32::MIN;
        let mut quiet = 0;
        for place in bits(vacant) {
            match self.at_once(pieces, place) {
                Some(score) if score >= beta => return Ok(score),
                Some(score) => best = best.max(score),
                None => quiet |= place,
            }
        }
        alpha = alpha.max(best);
        let (mut order, len) = self.order(pieces, quiet);
        for (_, place) in &mut order[..len] {
            let score = -self.negamax(after(pieces, *place), -beta, -alpha, meter)?;
            best = best.max(score);
            if score >= beta {
                break;
            }
            alpha = alpha.max(score);
        }
        Ok(best)
    }

    /// Whether anybody could still come to hold a line.
    fn is_open(&self, Pieces { own, theirs }: Pieces) -> bool {
        self.lines.all.iter().any(|line| line.open_to(own, theirs) || line.open_to(theirs, own))
    }

    /// Places in the order in which they are tried: what blocks or makes the fullest lines first, and
    /// the reverse in misère.
    fn order(&self, pieces: Pieces, places: u32) -> ([(u32, u32); 32], usize) {
        let mut order = [(0, 0); 32];
        let mut len = 0;
        for place in bits(places) {
            let through = &self.lines.through[place.trailing_zeros() as usize];
            let promise: u32 = through.iter().map(|line| promise(line.cells & pieces.own, line.cells & pieces.theirs)).sum();
            order[len] = (if self.misere { promise } else { u32::MAX - promise }, place);
            len += 1;
        }
        order[..len].sort_unstable();
        (order, len)
    }
}

const fn after(pieces: Pieces, place: u32) -> Pieces {
    Pieces { own: pieces.theirs, theirs: pieces.own | place }
}

/// A line of one seat's pieces alone counts four times as much with each of them.
fn promise(own: u32, theirs: u32) -> u32 {
    if own != 0 && theirs != 0 { 0 } else { 1 << (2 * (own | theirs).count_ones().min(10)) }
}

fn bits(mut bits: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = bits & bits.wrapping_neg();
        bits ^= lowest;
        (lowest != 0).then_some(lowest)
    })
}
