//! `perfect`: plays a best move where a solver reaches the end of the game, and looks ahead otherwise.
//!
//! A solver has the whole budget but for what `minimax@1` is kept; if that is not enough, or the end
//! is too far away to begin, `minimax@1` chooses with all that is left, and the choice says that it is
//! not exact (unless that search saw the end, too).
//!
//! Invariant: an exact choice is a best move: of Connect Four and small grids, one that wins soonest
//! or loses latest; of Othello, the one with the greatest difference of discs.

use crate::chance::Chance;
use crate::meter::{Budget, Meter};
use crate::minimax::Minimax;
use crate::solve::{Halt, Solver, share};
use crate::strategy::{Card, Choice, NoChoice, Strategy};
use crate::view::View;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Perfect;

impl Strategy for Perfect {
    fn card(&self) -> Card {
        Card {
            name: "perfect",
            version: 1,
            title: "Plays a best move once it can see the end",
            default_budget: Budget(2_000_000),
            most_budget: Budget(200_000_000),
            rulesets: &["connect_four", "mnk", "othello"],
        }
    }

    fn plays(&self, view: &View<'_>) -> bool {
        Solver::knows(view)
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        meter.ask()?;
        let solvers = share(meter.left());
        if let Some(mut solver) = Solver::of(view, solvers) {
            let mut part = meter.part(solvers);
            let best = solver.best(&mut part);
            meter.spend(part.spent())?;
            match best {
                Ok(best) => {
                    let (action, score) = (best.action, solver.rated(best.score));
                    let (nodes, counted) = (meter.spent(), solver.counted());
                    return Ok(Choice { action, score, exact: true, counted, nodes, scores: vec![(action, score)] });
                }
                Err(Halt::Stopped) => return Err(NoChoice::Stopped),
                Err(Halt::OverBudget) => {}
            }
        }
        Minimax.choose(view, meter, chance)
    }
}
