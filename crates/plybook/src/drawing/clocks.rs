//! Everybody's time, beside a board.
//!
//! Invariant: time is counted from the moment at which the game was read, by this machine's steady clock; what
//! o'clock it is here plays no part.

use std::time::{Duration, Instant};

use plybook_proto::v1;
use plybook_proto::v1::clock_policy::Pace;

use crate::words::{self, left};

/// The clocks of a game as they were read, and when that was.
#[derive(Clone, Debug)]
pub(crate) struct Clocks {
    clock: v1::Clock,
    /// A period of byo-yomi; 0 with every other pace.
    period_ms: u64,
    read: Instant,
}

impl Clocks {
    /// Those of a game that was read just now, if it has any.
    pub(crate) fn of(game: &v1::Game) -> Option<Clocks> {
        let pace = game.terms.as_ref().and_then(|terms| terms.clock.as_ref()).and_then(|policy| policy.pace.as_ref());
        let period_ms = match pace {
            Some(Pace::ByoYomi(pace)) => left::millis(pace.period.as_ref()),
            _ => 0,
        };
        Some(Clocks { clock: game.clock.clone()?, period_ms, read: Instant::now() })
    }

    /// The seat whose time runs, and how long it still does.
    pub(crate) fn running(&self, now: Instant) -> Option<(u32, Duration)> {
        let seat = self.clock.running_seat?;
        let at_reading = left::between(self.clock.as_of.as_ref(), self.clock.deadline.as_ref())?;
        Some((seat, Duration::from_millis(at_reading).saturating_sub(now.saturating_duration_since(self.read))))
    }

    /// The same lines as of the moment at which the game was read.
    pub(crate) fn still(&self, marks: &[String]) -> Vec<String> {
        self.lines(marks, self.read)
    }

    /// A line for each seat: its mark, its time, and a sign where it runs.
    pub(crate) fn lines(&self, marks: &[String], now: Instant) -> Vec<String> {
        let width = marks.iter().map(|mark| mark.chars().count()).max().unwrap_or(0);
        let line = |(seat, time): (u32, &v1::SeatTime)| {
            let runs = self.clock.running_seat == Some(seat);
            let (mut ms, mut periods) = (left::millis(time.remaining.as_ref()), time.periods);
            if runs {
                (ms, periods) = self.later(ms, periods, now);
            }
            let more = if periods > 0 { format!(" + {periods} x {}", left::face(self.period_ms)) } else { String::new() };
            format!("{:width$} {:>5}{more}{}", words::seat_name(seat, marks), left::face(ms), if runs { " <" } else { "" })
        };
        (0..).zip(&self.clock.seats).map(line).collect()
    }

    /// What the running seat has left of its time and periods.
    fn later(&self, ms: u64, periods: u32, now: Instant) -> (u64, u32) {
        let gone = u64::try_from(now.saturating_duration_since(self.read).as_millis()).unwrap_or(u64::MAX);
        if gone <= ms || periods == 0 || self.period_ms == 0 {
            return (ms.saturating_sub(gone), periods);
        }
        let over = gone - ms;
        let used = u32::try_from((over - 1) / self.period_ms).unwrap_or(u32::MAX).saturating_add(1);
        let into = over - u64::from(used - 1) * self.period_ms;
        if used > periods { (0, 0) } else { (self.period_ms - into, periods - used) }
    }
}

/// Characters between a picture and the lines at its right.
pub(crate) const BETWEEN: usize = 4;

/// A picture with lines at its right; under it where that would be too wide.
pub(crate) fn beside(picture: &str, lines: &[String]) -> String {
    const WIDTH: usize = 100;
    let length = |text: &str| text.chars().count();
    let board: Vec<&str> = picture.lines().collect();
    let (left, right) =
        (board.iter().map(|line| length(line)).max().unwrap_or(0), lines.iter().map(|line| length(line)).max().unwrap_or(0));
    if lines.is_empty() {
        return picture.to_owned();
    }
    if left + BETWEEN + right > WIDTH {
        return format!("{picture}\n{}", lines.join("\n"));
    }
    let row = |row: usize| match (board.get(row), lines.get(row)) {
        (Some(board), Some(line)) => format!("{board}{}    {line}", " ".repeat(left - length(board))),
        (Some(board), None) => (*board).to_owned(),
        (None, Some(line)) => format!("{}    {line}", " ".repeat(left)),
        (None, None) => String::new(),
    };
    (0..board.len().max(lines.len())).map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn clocks(seats: &[(u64, u32)], running: Option<u32>, until_ms: u64) -> Clocks {
        let span = |ms: u64| prost_types::Duration { seconds: (ms / 1000) as i64, nanos: (ms % 1000 * 1_000_000) as i32 };
        let at = |ms: u64| prost_types::Timestamp { seconds: (ms / 1000) as i64, nanos: (ms % 1000 * 1_000_000) as i32 };
        let seat = |(ms, periods): &(u64, u32)| v1::SeatTime { remaining: Some(span(*ms)), periods: *periods };
        let clock = v1::Clock {
            as_of: Some(at(50_000)),
            seats: seats.iter().map(seat).collect(),
            running_seat: running,
            deadline: running.map(|_| at(50_000 + until_ms)),
        };
        Clocks { clock, period_ms: 30_000, read: Instant::now() }
    }

    #[test]
    fn the_running_time_runs() {
        let marks = ["X".to_owned(), "red".to_owned()];
        let clocks = clocks(&[(299_000, 0), (9_500, 0)], Some(1), 9_500);
        let now = clocks.read;
        assert_eq!(clocks.lines(&marks, now), ["X    4:59", "red   9.5 <"]);
        assert_eq!(clocks.lines(&marks, now + Duration::from_millis(1_200))[1], "red   8.3 <");
        assert_eq!(clocks.lines(&marks, now + Duration::from_secs(60)), ["X    4:59", "red   0.0 <"]);
        assert_eq!(clocks.running(now + Duration::from_millis(500)), Some((1, Duration::from_secs(9))));
        assert_eq!(clocks.running(now + Duration::from_secs(60)), Some((1, Duration::ZERO)));
    }

    #[test]
    fn periods_go_by() {
        let marks = ["X".to_owned()];
        let clocks = clocks(&[(10_000, 2)], Some(0), 70_000);
        for (gone, shown) in [
            (0, "X  0:10 + 2 x 0:30 <"),
            (10_000, "X   0.0 + 2 x 0:30 <"),
            (10_001, "X  0:29 + 1 x 0:30 <"),
            (40_000, "X   0.0 + 1 x 0:30 <"),
            (40_001, "X  0:29 <"),
            (70_000, "X   0.0 <"),
            (80_000, "X   0.0 <"),
        ] {
            assert_eq!(clocks.lines(&marks, clocks.read + Duration::from_millis(gone)), [shown], "{gone}");
        }
    }

    #[test]
    fn lines_stand_beside_a_picture() {
        let lines = ["X 5:00".to_owned(), "O 4:00".to_owned()];
        assert_eq!(beside("2  . .\n1  .\n   a b", &lines), "2  . .    X 5:00\n1  .      O 4:00\n   a b");
        assert_eq!(beside("1  .", &lines), "1  .    X 5:00\n        O 4:00");
        assert_eq!(beside("1  .", &[]), "1  .");
        let wide = ".".repeat(99);
        assert_eq!(beside(&wide, &lines), format!("{wide}\nX 5:00\nO 4:00"));
    }
}
