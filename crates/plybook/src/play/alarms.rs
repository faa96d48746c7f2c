//! When whoever is to move is told that time is short.
//!
//! Invariant: the prompt after an alarm tells the seconds that the alarm told.

use std::time::Duration;

/// Seconds left at which a seat is told so.
const SECONDS: [u64; 5] = [5, 10, 20, 30, 60];

/// How long until the next alarm, and the seconds that are left then.
pub(super) fn next(left: Duration) -> Option<(Duration, u64)> {
    let seconds = SECONDS.into_iter().rev().find(|seconds| Duration::from_secs(*seconds) < left)?;
    Some((left - Duration::from_secs(seconds), seconds))
}

/// The seconds that a prompt tells, to the nearest, once they are few.
pub(super) fn at_the_prompt(left: Duration) -> Option<u128> {
    let seconds = (left.as_millis() + 500) / 1000;
    Some(seconds).filter(|seconds| SECONDS.last().is_some_and(|most| *seconds <= u128::from(*most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_come_one_after_the_other() {
        let ms = Duration::from_millis;
        for (left, alarm) in [
            (90_000, Some((30_000, 60))),
            (60_001, Some((1, 60))),
            (60_000, Some((30_000, 30))),
            (12_000, Some((2_000, 10))),
            (5_001, Some((1, 5))),
            (5_000, None),
            (0, None),
        ] {
            assert_eq!(next(ms(left)), alarm.map(|(until, seconds)| (ms(until), seconds)), "{left}");
        }
    }

    #[test]
    fn a_prompt_agrees_with_the_alarm_before_it() {
        let ms = Duration::from_millis;
        for seconds in SECONDS {
            assert_eq!(at_the_prompt(ms(seconds * 1000 - 3)), Some(seconds.into()));
        }
        assert_eq!([61_000, 60_499, 2_900, 400, 0].map(|left| at_the_prompt(ms(left))), [None, Some(60), Some(3), Some(0), Some(0)]);
    }
}
