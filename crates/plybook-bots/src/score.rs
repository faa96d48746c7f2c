//! How good an action or a position is for a seat.
//!
//! Invariant: scores are whole numbers and compare: a win that is seen, the sooner the better; what is
//! estimated; a draw, or nothing known, at 0; a loss that is seen, the later the better. Whether what is
//! seen is certain, [`Choice::exact`](crate::strategy::Choice::exact) says.

use plybook_core::{Outcome, Seat};

/// How good something is for a seat: higher is better, 0 is even.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(pub i32);

/// No game that is counted in points is won by more.
const POINTS_MOST: u32 = 64;
/// A win on the spot.
const WIN: i32 = 1_000_000;
/// Scores beyond this are wins or losses that are seen; games are not longer than the difference.
const KNOWN: i32 = 700_000;

impl Score {
    /// Neither good nor bad: a draw, or nothing is known.
    pub const EVEN: Score = Score(0);
    /// Below every score.
    pub const LEAST: Score = Score(-WIN - 1);
    /// Above every score.
    pub const MOST: Score = Score(WIN + 1);

    /// A win that takes so many more plies.
    pub const fn win_in(plies: u32) -> Score {
        Score(WIN - if plies < (WIN - KNOWN) as u32 { plies as i32 } else { WIN - KNOWN })
    }

    /// A loss after so many more plies.
    pub const fn loss_in(plies: u32) -> Score {
        Score::win_in(plies).for_other()
    }

    /// A win by so many points, the more the better: as if it came so many plies sooner.
    pub const fn win_by(points: u32) -> Score {
        Score::win_in(POINTS_MOST.saturating_sub(points))
    }

    /// An estimate; one that would look like a win or loss that is seen is cut.
    pub const fn estimate(value: i64) -> Score {
        let most = KNOWN as i64 - 1;
        Score(if value > most {
            most
        } else if value < -most {
            -most
        } else {
            value
        } as i32)
    }

    /// What `outcome`, reached after so many plies, is to `seat`.
    pub fn of(outcome: &Outcome, seat: Seat, plies: u32) -> Score {
        let winners = outcome.winning_seats();
        if winners.contains(seat) {
            Score::win_in(plies)
        } else if winners.is_empty() {
            Score::EVEN
        } else {
            Score::loss_in(plies)
        }
    }

    /// The same for the other of two seats.
    #[must_use]
    pub const fn for_other(self) -> Score {
        Score(-self.0)
    }

    /// Whether it is a win that is seen.
    pub const fn is_win(self) -> bool {
        self.0 >= KNOWN
    }

    /// Whether it is a loss that is seen.
    pub const fn is_loss(self) -> bool {
        self.0 <= -KNOWN
    }

    /// How many plies a win or a loss that is seen takes; nothing where none is seen.
    pub const fn plies(self) -> Option<u32> {
        if self.is_win() || self.is_loss() { Some(WIN.abs_diff(self.0.abs())) } else { None }
    }

    /// By how many points a win or a loss is, where it counts them.
    pub(crate) const fn points(self) -> u32 {
        match self.plies() {
            Some(plies) => POINTS_MOST.saturating_sub(plies),
            None => 0,
        }
    }

    /// So many plies further from the end.
    #[must_use]
    pub const fn later(self, plies: u32) -> Score {
        if self.is_win() {
            Score::win_in((WIN - self.0) as u32 + plies)
        } else if self.is_loss() {
            Score::loss_in((WIN + self.0) as u32 + plies)
        } else {
            self
        }
    }

    /// So many plies nearer to the end: [`Score::later`] taken back.
    #[must_use]
    pub const fn sooner(self, plies: u32) -> Score {
        if self.is_win() {
            Score::win_in(((WIN - self.0) as u32).saturating_sub(plies))
        } else if self.is_loss() {
            Score::loss_in(((WIN + self.0) as u32).saturating_sub(plies))
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Score;

    #[test]
    fn scores_compare() {
        let ascending = [
            Score::LEAST,
            Score::loss_in(1),
            Score::loss_in(9),
            Score::loss_in(u32::MAX),
            Score::estimate(i64::MIN),
            Score::EVEN,
            Score::estimate(i64::MAX),
            Score::win_in(u32::MAX),
            Score::win_in(9),
            Score::win_in(1),
            Score::MOST,
        ];
        assert!(ascending.is_sorted_by(|a, b| a < b), "{ascending:?}");
        for score in ascending {
            assert_eq!(score.for_other().for_other(), score);
        }
        for score in [Score::win_in(3), Score::loss_in(3), Score::estimate(77), Score::EVEN] {
            assert_eq!(score.later(4).sooner(4), score);
        }
        assert_eq!(Score::win_in(3).later(4), Score::win_in(7));
        assert_eq!(Score::loss_in(3).later(4), Score::loss_in(7));
    }
}
