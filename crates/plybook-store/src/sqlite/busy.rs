//! A file that somebody else holds for a moment.
//!
//! SQLite's own waiting is not enough while a file is opened: where waiting could be a deadlock, as when
//! several make a new file and each turns its log on, it answers "busy" at once and leaves it to the caller
//! to begin anew.
//!
//! Invariant: only a busy file is tried again, and only until its time is over; any other error is told at once.

use std::time::{Duration, Instant};

/// Between two attempts: a file is held for as long as a few writes to the disk take.
const PAUSE: Duration = Duration::from_millis(5);

/// For how long a busy file is tried again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    began: Instant,
    time: Duration,
}

impl Patience {
    /// From now on, for this long.
    pub(super) fn of(time: Duration) -> Patience {
        Patience { began: Instant::now(), time }
    }

    /// Tries at least once, and for the last time when the time is over.
    pub(super) async fn until_done<T, F>(self, attempt: impl Fn() -> F) -> Result<T, sqlx::Error>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        loop {
            let last = self.began.elapsed() >= self.time;
            match attempt().await {
                Err(error) if is_busy(&error) && !last => tokio::time::sleep(PAUSE).await,
                done => return done,
            }
        }
    }
}

/// Whether it is only that others hold the file, or were faster: busy, locked, and a race for the log that was lost too often.
fn is_busy(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<u32>().ok());
    // The low byte of an extended code is the plain one.
    matches!(code.map(|code| code & 0xff), Some(5 | 6 | 15))
}
