//! What a score says, in words that need no table.
//!
//! Invariant: the sizes of wins and losses are told as what they are: plies that are still to be played, or
//! points at the end, never one for the other.

use crate::score::Score;

/// What the size of a win or a loss counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Plies until the end: a win is better the sooner it comes.
    #[default]
    Plies,
    /// Points at the end, however far it is: a win is better the higher it is.
    Points,
}

/// What a score says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A win in so many plies.
    WinIn(u32),
    /// A loss after so many plies.
    LossIn(u32),
    /// A win by so many points.
    WinBy(u32),
    /// A loss by so many points.
    LossBy(u32),
    /// Nobody wins, for certain.
    Draw,
    /// How it looks: above 0 good, below 0 bad.
    Estimate(i32),
}

impl Score {
    /// What it says, given what it counts and whether it is certain.
    pub const fn meaning(self, counted: Counted, exact: bool) -> Meaning {
        match (self.plies(), counted) {
            (Some(plies), Counted::Plies) if self.is_win() => Meaning::WinIn(plies),
            (Some(plies), Counted::Plies) => Meaning::LossIn(plies),
            (Some(_), Counted::Points) if self.is_win() => Meaning::WinBy(self.points()),
            (Some(_), Counted::Points) => Meaning::LossBy(self.points()),
            (None, _) if exact && self.0 == 0 => Meaning::Draw,
            (None, _) => Meaning::Estimate(self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Meaning, Score};

    #[test]
    fn sizes_are_told_as_what_they_are() {
        for (score, counted, exact, meaning) in [
            (Score::win_in(1), Counted::Plies, true, Meaning::WinIn(1)),
            (Score::win_in(3), Counted::Plies, false, Meaning::WinIn(3)),
            (Score::loss_in(2), Counted::Plies, true, Meaning::LossIn(2)),
            (Score::win_by(8), Counted::Points, true, Meaning::WinBy(8)),
            (Score::win_by(64), Counted::Points, true, Meaning::WinBy(64)),
            (Score::win_by(1).for_other(), Counted::Points, true, Meaning::LossBy(1)),
            (Score::EVEN, Counted::Points, true, Meaning::Draw),
            (Score::EVEN, Counted::Plies, false, Meaning::Estimate(0)),
            (Score::estimate(-7), Counted::Plies, true, Meaning::Estimate(-7)),
        ] {
            assert_eq!(score.meaning(counted, exact), meaning, "{score:?}");
        }
    }
}
