//! What the exact solvers promise: they find what other engines found, and what a search through the
//! rules alone finds.

mod analysed;
mod known;
mod perfect;
mod plain;
mod vectors;

use plybook_bots::solve::{Halt, Solver};
use plybook_bots::{Budget, Meter};
use plybook_core::Action;
use plybook_tests::arena::Arena;
use plybook_tests::deal::Deal;
use plybook_tests::random::Random;

/// A game that solvers look at.
struct Game {
    arena: Arena,
}

impl Game {
    fn of(deal: &Deal) -> Game {
        Game { arena: Arena::of(deal, 0) }
    }

    fn vacant(&self) -> usize {
        let board = self.arena.play.position().board();
        board.len() as usize - board.occupied().count()
    }

    /// Plays at random until so few cells are vacant; whether the game goes on there.
    fn play_to(&mut self, vacant: usize, random: &mut Random) -> bool {
        while self.vacant() > vacant {
            let Some((action, faces)) = random.action(&self.arena.play) else { return false };
            self.arena.play.play(action, &faces).unwrap();
        }
        self.arena.play.position().to_move().is_some()
    }

    /// A solver for the position, and a meter to go with it.
    fn solver(&self, nodes: u64) -> (Solver, Meter<'static>) {
        let solver = Solver::of(&self.arena.view(), nodes).unwrap_or_else(|| panic!("there is a solver: {:?}", self.arena));
        (solver, Meter::unstopped(Budget(nodes)))
    }

    /// Every legal move with its score.
    fn scores(&self, nodes: u64) -> Result<Vec<(Action, i32)>, Halt> {
        let (mut solver, mut meter) = self.solver(nodes);
        let scores = solver.scores(&mut meter)?;
        let (mut legal, mut scored) = (self.arena.play.legal(), scores.iter().map(|(action, _)| *action).collect::<Vec<_>>());
        legal.sort_unstable();
        scored.sort_unstable();
        assert_eq!(scored, legal, "every legal move has a score");
        // Also with a table full of other windows' bounds, and with a fresh one.
        let best = solver.best(&mut meter)?;
        assert_eq!(scores.iter().map(|(_, score)| *score).max(), Some(best.score));
        assert!(scores.contains(&(best.action, best.score)), "{best:?} is not among {scores:?}");
        let (mut fresh, mut meter) = self.solver(nodes);
        assert_eq!(fresh.best(&mut meter), Ok(best));
        Ok(scores)
    }
}
