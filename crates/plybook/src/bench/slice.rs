//! What one slice of time brought.
//!
//! Invariant: a percentile is a time that was measured, not one between two.

use std::time::Duration;

/// Calls of one slice.
#[derive(Clone, Debug, Default)]
pub(super) struct Slice {
    /// From the first question to the last answer.
    pub(super) lasted: Duration,
    /// Moves, entries, calls: whatever is counted.
    pub(super) units: u64,
    /// Calls that were refused, as was to be expected.
    pub(super) in_vain: u64,
    /// Bytes of the write-ahead log, where they are known.
    pub(super) wal_bytes: Option<u64>,
    /// Bytes that the books grew by, where they are known.
    pub(super) book_bytes: Option<u64>,
    /// Figures of the workload's own, by name.
    pub(super) more: Vec<(&'static str, f64)>,
    /// What each answer took.
    pub(super) took: Vec<Duration>,
}

impl Slice {
    /// One unit for each of these.
    pub(super) fn of<'a>(lasted: Duration, took: impl Iterator<Item = &'a Duration>) -> Slice {
        let took: Vec<Duration> = took.copied().collect();
        Slice { lasted, units: took.len() as u64, took, ..Slice::default() }
    }

    /// Counts an answer.
    pub(super) fn count(&mut self, units: u64, took: Duration) {
        self.units += units;
        self.took.push(took);
    }

    /// Counts what somebody else counted at the same time.
    pub(super) fn add(&mut self, other: Slice) {
        self.units += other.units;
        self.in_vain += other.in_vain;
        self.took.extend(other.took);
    }

    /// Units a second.
    pub(super) fn rate(&self) -> f64 {
        self.units as f64 / self.lasted.as_secs_f64().max(1e-9)
    }

    /// Milliseconds that so many of a hundred answers took at most; nothing where there was no answer.
    pub(super) fn percentile_ms(&self, percent: usize) -> Option<f64> {
        let mut took = self.took.clone();
        let at = (took.len() * percent).div_ceil(100).saturating_sub(1);
        let (_, found, _) = (at < took.len()).then(|| took.select_nth_unstable(at))?;
        Some(found.as_secs_f64() * 1_000.0)
    }

    /// The figures of a workload whose times run from an answer until a follower has the entry.
    pub(super) fn after_answer(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let names = [("after_answer_p50_ms", 50), ("after_answer_p99_ms", 99)];
        names.into_iter().filter_map(|(name, percent)| Some((name, self.percentile_ms(percent)?)))
    }

    /// A figure of the workload's own.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        self.more.iter().find(|(is, _)| *is == name).map(|(_, figure)| *figure)
    }
}

/// The middle one; between the two middle ones where they are even. Nothing of nothing.
pub(super) fn median(figures: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    let middle = figures.len() / 2;
    let upper = *figures.get(middle)?;
    if figures.len() % 2 == 1 { Some(upper) } else { Some((figures.get(middle - 1)? + upper) / 2.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_times() {
        let mut slice = Slice { lasted: Duration::from_secs(2), ..Slice::default() };
        assert_eq!(slice.percentile_ms(50), None);
        for ms in (1..=100).rev() {
            slice.count(3, Duration::from_millis(ms));
        }
        assert_eq!([1, 50, 99, 100].map(|percent| slice.percentile_ms(percent)), [1.0, 50.0, 99.0, 100.0].map(Some));
        assert!((slice.rate() - 150.0).abs() < 1e-9);
    }

    #[test]
    fn medians_of_few() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0]), Some(5.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
    }
}
