//! `mnk@1`: place pieces on a grid until a line is complete. Tic-tac-toe is its default.
//!
//! Ends, in the order in which they are tested: `line`, `full_line`, `four_corners` (whoever
//! completes it wins, or with `misere` everybody else does), then the draws `board_full` and, with
//! `early_draw`, `no_line_left`.
//!
//! Invariant: parameters under which nobody could complete anything, or some seat would never move,
//! are refused.

use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::limits::{SEATS_MAX, SIDE_MAX};
use plybook_core::params::BadParam;
use plybook_core::{Card, ParamSpec, Params, Rules, Ruleset};

use crate::lines::placing::Placing;
use crate::lines::win_rule::WinRule;

/// The ruleset.
#[derive(Clone, Copy, Debug)]
pub struct Mnk;

const SIDES: (i64, i64) = (1, SIDE_MAX as i64);

impl Ruleset for Mnk {
    fn card(&self) -> Card {
        Card {
            name: "mnk",
            version: 1,
            title: "K in a row on a grid (tic-tac-toe)",
            seats: (2, SEATS_MAX),
            chance: false,
            shapes: &[Shape::Place],
            params: vec![
                ParamSpec::int("rows", 3, SIDES, "Rows of the board."),
                ParamSpec::int("cols", 3, SIDES, "Columns of the board."),
                ParamSpec::int("k", 3, SIDES, "Length of a run; without meaning where win names neither run nor exact."),
                ParamSpec::word(
                    "win",
                    "run",
                    &[],
                    "What wins: run (K or more in a row) or exact (exactly K), full_line (a whole row, column or main diagonal), \
                     four_corners; several are joined by + in this order.",
                ),
                ParamSpec::flag("misere", false, "Who completes a line loses; all other seats win together."),
                ParamSpec::flag("early_draw", false, "Draw as soon as pieces of two seats stand in every line."),
            ],
        }
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let (rows, cols) = (params.int("rows") as u16, params.int("cols") as u16);
        let k = params.int("k") as u32;
        let win = WinRule::parse(params.text("win"), k).map_err(|why| BadParam::new("win", why))?;
        if win.run.is_some() && k > u32::from(rows.max(cols)) {
            return Err(BadParam::new("k", format!("no line of {k} fits on {rows} rows and {cols} columns")));
        }
        let narrow = rows == 1 || cols == 1;
        if win.full_line && narrow {
            return Err(BadParam::new("win", "full_line needs two rows and two columns, or each single cell were a line"));
        }
        if win.four_corners && narrow {
            return Err(BadParam::new("win", "four_corners needs two rows and two columns, for four different corners"));
        }
        if u32::from(seats) > u32::from(rows) * u32::from(cols) {
            return Err(BadParam::new("seats", format!("{seats} seats are more than the board has cells")));
        }
        Ok(Arc::new(Placing { rows, cols, win, misere: params.flag("misere"), early_draw: params.flag("early_draw") }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plybook_core::{ParamValue, Params, Ruleset};

    use super::Mnk;

    fn refused(seats: u8, sides: (i64, i64), k: i64, win: &str) -> Option<String> {
        let given = [("rows", ParamValue::Int(sides.0)), ("cols", ParamValue::Int(sides.1)), ("k", ParamValue::Int(k))];
        let mut given: BTreeMap<String, ParamValue> = given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        given.insert("win".to_owned(), ParamValue::Text(win.to_owned()));
        let built = Params::complete(&Mnk.card().params, given).and_then(|params| Mnk.build(&params, seats));
        built.err().map(|bad| bad.name)
    }

    #[test]
    fn boards_that_cannot_be_won_are_refused() {
        assert_eq!(refused(2, (3, 5), 5, "run"), None);
        assert_eq!(refused(2, (3, 5), 6, "run").as_deref(), Some("k"));
        assert_eq!(refused(2, (3, 5), 6, "exact+full_line").as_deref(), Some("k"));
        assert_eq!(refused(2, (3, 5), 6, "full_line"), None);
        assert_eq!(refused(2, (1, 5), 3, "full_line").as_deref(), Some("win"));
        assert_eq!(refused(2, (5, 1), 3, "run+four_corners").as_deref(), Some("win"));
        assert_eq!(refused(2, (3, 3), 3, "rows").as_deref(), Some("win"));
        assert_eq!(refused(4, (2, 2), 2, "run"), None);
        assert_eq!(refused(5, (2, 2), 2, "run").as_deref(), Some("seats"));
        for side in [0, -1, 1001] {
            assert_eq!(refused(2, (side, 3), 3, "run").as_deref(), Some("rows"));
            assert_eq!(refused(2, (3, side), 3, "run").as_deref(), Some("cols"));
            assert_eq!(refused(2, (3, 3), side, "run").as_deref(), Some("k"));
        }
    }
}
