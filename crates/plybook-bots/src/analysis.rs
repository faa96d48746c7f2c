//! What can be said of a position: for hints, heat maps and threats on a board.
//!
//! Invariant: it says nothing that the position does not show to everybody.

use std::cmp::Reverse;

use plybook_core::{Action, Cell, Seat};

use crate::chance::Chance;
use crate::meaning::Counted;
use crate::meter::Meter;
use crate::minimax::{Search, Window};
use crate::score::Score;
use crate::solve::{Halt, Solver, share};
use crate::strategy::NoChoice;
use crate::threats::threats;
use crate::trial::Trial;
use crate::view::View;

/// Most actions that are tried for threats.
const TRIED: usize = 1_024;

/// What can be said of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// The legal actions with what they are worth to the seat to move, best first. Those that the budget
    /// did not reach are missing.
    pub actions: Vec<(Action, Score)>,
    /// Whether the best of these scores tells for certain who wins, or that nobody does, under best play by
    /// everybody.
    pub exact: bool,
    /// Whether every one does, and no legal action is missing.
    pub complete: bool,
    /// What the sizes of wins and losses among the scores count.
    pub counted: Counted,
    /// By seat: the actions with which it would win at once if it were to move.
    pub threats: Vec<Vec<Action>>,
    /// Nodes that were spent.
    pub nodes: u64,
}

impl Analysis {
    /// Whether one of the scores is certain: where the best one is, nothing was left out on the way to a
    /// win or a loss that is seen.
    pub const fn is_exact(&self, score: Score) -> bool {
        self.complete || (self.exact && (score.is_win() || score.is_loss()))
    }
}

/// Looks at a position until the budget is used up or everything is known: by a solver where one reaches
/// the end, by looking ahead where none does.
pub fn analyse(view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Analysis, NoChoice> {
    meter.ask()?;
    let mut trial = Trial::new(view);
    let seats = (0..view.position().seats()).map(Seat);
    let mut threatens = |seat: Seat| match view.live().contains(seat) {
        true => threats(&mut trial, seat, TRIED, meter),
        false => Ok(Vec::new()),
    };
    let threats = seats.map(&mut threatens).collect::<Result<_, _>>()?;
    if let Some((actions, counted)) = solved(view, meter)? {
        return Ok(Analysis { actions, exact: true, complete: true, counted, threats, nodes: meter.spent() });
    }
    let choice = Search::new(view, meter, chance)?.deepen(Window::Full)?;
    // Only a win ends a search that is certain before everything is known.
    let complete = choice.exact && !choice.score.is_win();
    let (actions, exact, counted) = (choice.scores, choice.exact, choice.counted);
    Ok(Analysis { actions, exact, complete, counted, threats, nodes: meter.spent() })
}

/// Legal actions with their scores, best first, and what those count.
type Solved = (Vec<(Action, Score)>, Counted);

/// What a solver says of every action; nothing where there is none, or where it does not reach the end.
fn solved(view: &View<'_>, meter: &mut Meter<'_>) -> Result<Option<Solved>, NoChoice> {
    let solvers = share(meter.left());
    let Some(mut solver) = Solver::of(view, solvers) else { return Ok(None) };
    let mut part = meter.part(solvers);
    let scores = solver.scores(&mut part);
    meter.spend(part.spent())?;
    match scores {
        Ok(scores) => {
            let mut rated: Vec<_> = scores.into_iter().map(|(action, score)| (action, solver.rated(score))).collect();
            rated.sort_by_key(|(_, score)| Reverse(*score));
            Ok(Some((rated, solver.counted())))
        }
        Err(Halt::Stopped) => Err(NoChoice::Stopped),
        Err(Halt::OverBudget) => Ok(None),
    }
}

/// For each of these actions of `seat`, as if it were to move: the cells that pieces would newly stand on, or
/// where there are none, every cell that would change. Of what dice decide, none.
pub fn filled(view: &View<'_>, seat: Seat, actions: &[Action]) -> Vec<Vec<Cell>> {
    let mut trial = Trial::new(view);
    trial.as_if(seat, |trial| {
        let cells = |action: &Action| {
            let changes = trial.changes(*action);
            let filled: Vec<Cell> = changes.iter().filter(|change| change.before.is_nothing()).map(|change| change.cell).collect();
            if filled.is_empty() { changes.iter().map(|change| change.cell).collect() } else { filled }
        };
        actions.iter().map(cells).collect()
    })
}
