//! The clock by which entries are dated and seats are late: the database's, as well as it could be measured.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plybook_server::clock::{Clock as _, SteeredClock};
use plybook_tests::injected::{Call, Fault, Handled, sqlite};

/// By how many milliseconds the clock is ahead of this machine's, at least and at most: asked until nothing
/// came between the two.
fn ahead(clock: &SteeredClock) -> (i64, i64) {
    let system = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64;
    loop {
        let (before, shown, after) = (system(), clock.now().unix_ms() as i64, system());
        if after - before <= 20 {
            return (shown - after - 1, shown - before + 1);
        }
    }
}

/// A database that is so busy that its answer is seconds old says less than what was measured before: a seat
/// must not be late by that.
#[tokio::test]
async fn an_answer_that_took_too_long_moves_no_clock() {
    let folder = tempfile::tempdir().unwrap();
    let store = Handled::new(sqlite(folder.path()).await);
    let clock = SteeredClock::default();
    clock.steer(&store).await.unwrap();
    let measured = ahead(&clock);
    store.breaks(Call::Ready, Fault::SlowAfter(Duration::from_secs(3)));
    clock.steer(&store).await.unwrap();
    let (least, most) = ahead(&clock);
    assert!(least <= measured.1 && most >= measured.0, "{measured:?}, then {:?}", (least, most));
}

/// The first answer is believed however late it is: there is nothing better.
#[tokio::test]
async fn the_first_answer_moves_the_clock() {
    let folder = tempfile::tempdir().unwrap();
    let store = Handled::new(sqlite(folder.path()).await);
    store.breaks(Call::Ready, Fault::SlowAfter(Duration::from_secs(3)));
    let clock = SteeredClock::default();
    let unsteered = ahead(&clock);
    clock.steer(&store).await.unwrap();
    // The answer was given at the beginning of the trip, and is taken to stand in its middle.
    let (_, most) = ahead(&clock);
    assert!(most < unsteered.0 - 1_000, "{unsteered:?}, then at most {most}");
}
