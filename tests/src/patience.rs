//! How long a test waits for what must come.
//!
//! Invariant: it is the cap of a wait for a condition and never a measure: on a machine that is busy
//! beyond all reason a test takes longer, and fails no sooner.

use std::time::{Duration, Instant};

/// Whoever has waited this long has waited in vain.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Longer than any test waits for anything.
pub const NEVER: Duration = Duration::from_secs(3_600);

/// Waits, asking again and again, until this holds.
pub async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let by = Instant::now() + PATIENCE;
    while !holds().await {
        assert!(Instant::now() < by, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Asks with more and more time, from this much on, until the answer comes before its time is over.
pub async fn in_more_and_more_time<T, E, F>(least: Duration, mut ask: impl FnMut(Duration) -> F) -> (Duration, T)
where
    E: std::fmt::Debug,
    F: Future<Output = Result<T, E>>,
{
    let mut time = least;
    loop {
        match ask(time).await {
            Ok(answer) => return (time, answer),
            Err(error) => assert!(time < PATIENCE, "even {time:?} were too short: {error:?}"),
        }
        time *= 2;
    }
}
