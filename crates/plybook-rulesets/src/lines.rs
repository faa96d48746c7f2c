//! Winning by lines: what mnk, gomoku and Connect Four have in common.
//!
//! Invariant: a line is looked for through the cells that just changed, so a move on the largest
//! board reads as many cells as the same move on a small one. Whatever concerns a whole board (the
//! cells filled, the lines still open, the tallies of whole lines) is a register.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`run`] | a run of one seat's pieces through a cell |
//! | [`window`] | K cells in a row that somebody may still fill |
//! | [`whole`] | a whole row, column or diagonal, or the corners, by tallies |
//! | [`win_rule`] | what wins: the word in the header |
//! | [`placing`] | the rules of games in which pieces are placed and stay |

use plybook_core::outcome::Reason;

pub(crate) mod placing;
pub(crate) mod run;
mod whole;
pub(crate) mod win_rule;
mod window;

/// A run long enough, or exactly as long as asked.
pub(crate) const LINE: Reason = Reason::new("line");
/// A whole row, column or main diagonal.
const FULL_LINE: Reason = Reason::new("full_line");
/// All four corners.
const FOUR_CORNERS: Reason = Reason::new("four_corners");
/// A draw: every cell is filled.
pub(crate) const BOARD_FULL: Reason = Reason::new("board_full");
/// A draw: pieces of two seats stand in every line.
const NO_LINE_LEFT: Reason = Reason::new("no_line_left");
