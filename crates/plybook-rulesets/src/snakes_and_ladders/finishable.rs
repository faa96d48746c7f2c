//! Whether every square that a token may come to leads to the last one.
//!
//! The graph's nodes are squares on which a turn may begin and its edges are whole turns, so a streak
//! inside a turn needs no nodes of its own: every turn can end, since a throw that is not the
//! highest ends it.
//!
//! Invariant: the work is bounded. A node has at most three throws' edges, and squares are looked at
//! again only while that settles one more: only tokens behind a wall of jumps as wide as the dice
//! need it, and jumps are few.

use std::ops::ControlFlow;

use plybook_core::params::BadParam;

use super::course::{Course, Extra, Turn};

/// Refuses a course on which some token could never finish.
pub(super) fn check(course: &Course) -> Result<(), BadParam> {
    let mut unsettled = reachable(course);
    let mut leads = vec![false; usize::from(course.last) + 1];
    leads[usize::from(course.last)] = true;
    loop {
        let before = unsettled.len();
        unsettled.retain(|square| {
            let good = turn_ends(course, Turn::at(*square), &mut |end| {
                if leads[usize::from(end)] { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            leads[usize::from(*square)] = good.is_break();
            good.is_continue()
        });
        let Some(stuck) = unsettled.first() else { return Ok(()) };
        if unsettled.len() == before {
            let name = if course.jumps.is_empty() { "finish" } else { "jumps" };
            return Err(BadParam::new(name, format!("a token that comes to square {stuck} could never finish")));
        }
    }
}

/// Every square but the last on which a turn may begin, descending: tokens mostly climb, so that
/// what lies ahead of a square is settled before it.
fn reachable(course: &Course) -> Vec<u16> {
    let mut seen = vec![false; usize::from(course.last) + 1];
    seen[usize::from(course.start)] = true;
    let mut waiting = vec![course.start];
    while let Some(square) = waiting.pop() {
        let _all = turn_ends(course, Turn::at(square), &mut |end| {
            if !seen[usize::from(end)] {
                seen[usize::from(end)] = true;
                if end != course.last {
                    waiting.push(end);
                }
            }
            ControlFlow::Continue(())
        });
    }
    (0..course.last).rev().filter(|square| seen[usize::from(*square)]).collect()
}

/// Offers every square on which the turn may end, until told to stop.
fn turn_ends(course: &Course, turn: Turn, offer: &mut dyn FnMut(u16) -> ControlFlow<()>) -> ControlFlow<()> {
    for total in course.least()..=course.greatest() {
        let after = course.after(turn, total);
        // Where streaks are not counted, another throw is as good as another turn.
        if after.streak == 0 || course.extra == Extra::Always {
            offer(after.square)?;
        } else {
            turn_ends(course, after, offer)?;
        }
    }
    ControlFlow::Continue(())
}
