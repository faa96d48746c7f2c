//! `gomoku@1`: five in a row on a square board, two seats.
//!
//! Ends: `line` for whoever has five (`standard`: exactly five; `freestyle`: five or more), then the
//! draw `board_full`.
//!
//! Invariant: these are the rules of mnk with other defaults; nothing is decided here.

use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::limits::SIDE_MAX;
use plybook_core::params::BadParam;
use plybook_core::{Card, ParamSpec, Params, Rules, Ruleset};

use crate::lines::placing::Placing;
use crate::lines::run::Length;
use crate::lines::win_rule::WinRule;

/// The ruleset.
#[derive(Clone, Copy, Debug)]
pub struct Gomoku;

const FIVE: u32 = 5;

impl Ruleset for Gomoku {
    fn card(&self) -> Card {
        Card {
            name: "gomoku",
            version: 1,
            title: "Gomoku: five in a row",
            seats: (2, 2),
            chance: false,
            shapes: &[Shape::Place],
            params: vec![
                ParamSpec::int("size", 15, (i64::from(FIVE), i64::from(SIDE_MAX)), "Rows and columns of the board."),
                ParamSpec::word(
                    "rule",
                    "freestyle",
                    &["freestyle", "standard"],
                    "What wins: five or more in a row (freestyle) or exactly five (standard).",
                ),
            ],
        }
    }

    fn build(&self, params: &Params, _seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let size = params.int("size") as u16;
        let length = if params.text("rule") == "standard" { Length::Exactly(FIVE) } else { Length::AtLeast(FIVE) };
        Ok(Arc::new(Placing { rows: size, cols: size, win: WinRule::run(length), misere: false, early_draw: false }))
    }
}
