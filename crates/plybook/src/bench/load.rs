//! Callers that ask again as soon as they are answered, for a while.
//!
//! Invariant: what is counted was answered, and lies between the first question and the last answer.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::task::JoinSet;

use super::slice::Slice;

/// Beyond the end of a slice: a call that takes longer is a fault, and not a figure.
const LAST_ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// It was done, so many units of it, and the time that it took is counted.
    Did(u64),
    /// The same where another time is counted than the one until the answer.
    Took(u64, Duration),
    /// It was tried in vain, as was to be expected.
    InVain,
    /// Nothing is left to ask.
    Spent,
}

/// Somebody who asks.
pub(super) trait Caller: Send + 'static {
    fn ask(&mut self) -> impl Future<Output = anyhow::Result<Asked>> + Send;
}

/// Lets every caller ask until the time is over; the callers come back.
pub(super) async fn run<C: Caller>(callers: Vec<C>, lasts: Duration) -> anyhow::Result<(Vec<C>, Slice)> {
    let began = Instant::now();
    let until = began + lasts;
    let mut asking = JoinSet::new();
    for (place, caller) in callers.into_iter().enumerate() {
        asking.spawn(asks(place, caller, until));
    }
    let all = async {
        let (mut back, mut slice) = (Vec::new(), Slice::default());
        while let Some(ended) = asking.join_next().await {
            let (place, caller, one) = ended.context("a caller broke down")??;
            back.push((place, caller));
            slice.add(one);
        }
        anyhow::Ok((back, slice))
    };
    let (mut back, mut slice) = tokio::time::timeout(lasts + LAST_ANSWER_WITHIN, all).await.context("a call was not answered")??;
    slice.lasted = began.elapsed();
    back.sort_by_key(|(place, _)| *place);
    Ok((back.into_iter().map(|(_, caller)| caller).collect(), slice))
}

async fn asks<C: Caller>(place: usize, mut caller: C, until: Instant) -> anyhow::Result<(usize, C, Slice)> {
    let mut slice = Slice::default();
    let mut now = Instant::now();
    // At least once: a slice may be shorter than a call.
    loop {
        let asked = caller.ask().await?;
        let answered = Instant::now();
        match asked {
            Asked::Did(units) => slice.count(units, answered - now),
            Asked::Took(units, took) => slice.count(units, took),
            Asked::InVain => slice.in_vain += 1,
            Asked::Spent => break,
        }
        now = answered;
        if now >= until {
            break;
        }
    }
    Ok((place, caller, slice))
}
