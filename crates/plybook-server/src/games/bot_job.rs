//! Bots move: the jobs that see to it.
//!
//! A bot's turn begins with the entry that leaves it to move. A quick bot answers on the node that has appended it, in a
//! second append, while the caller's answer is on its way; a slow one is left to the queue, and so is every turn whose node goes
//! away. A job goes on for as long as bots are to move: a game of bots alone is played to its end by it.
//!
//! Invariants: whatever becomes of a job, its game goes on: a claim that it has is settled, put off or let go, also where it
//! had not begun; and a turn that nobody has claimed has a row, which comes when this node does not manage.

use std::sync::Arc;
use std::time::Duration;

use plybook_core::{Game, Seq};
use plybook_store::{Claimed, GameKey};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::games::Games;
use crate::games::bot_turn::Turned;
use crate::games::reminder::{Turn, is_quick};
use crate::games::turns::Call;
use crate::limits::{BOT_JOBS_MAX, BOT_RETRY};
use crate::refusal::Refusal;
use crate::upkeep::Chore;

/// How a job left its game.
enum Left {
    /// No bot is to move, or not this node's.
    Done,
    /// The node goes away.
    Interrupted,
}

impl Games {
    /// Plays for bots, until the node goes away; then lets every game go. Called once.
    pub async fn play_bots(self: Arc<Self>) {
        let Some(mut calls) = self.turns.take() else { return };
        let mut jobs = JoinSet::new();
        loop {
            let call = tokio::select! {
                biased;
                () = self.draining.cancelled(), if !calls.is_closed() => {
                    // What has come by now may have a claim, which its job lets go.
                    calls.close();
                    continue;
                }
                Some(_) = jobs.join_next(), if !jobs.is_empty() => continue,
                call = calls.recv() => call,
            };
            match call {
                Some(Call::Begin(key)) => drop(jobs.spawn(Arc::clone(&self).job(key))),
                Some(Call::Follow(key)) => drop(jobs.spawn(Arc::clone(&self).follow_for_bot(key))),
                None => break,
            }
        }
        while jobs.join_next().await.is_some() {}
    }

    /// How many games have a job of bots here.
    pub fn bot_jobs(&self) -> usize {
        self.turns.len()
    }

    /// A row of the queue says that a bot is to move; no where there is no room for one more.
    pub fn take_bot_turn(&self, claimed: Claimed) -> bool {
        self.turns.call(claimed.key.game, Some(claimed))
    }

    /// A bot's time is nearly over.
    pub fn rescue(&self, key: GameKey) {
        self.turns.call(key, None);
    }

    /// Another node has appended an entry.
    pub fn heard(&self, key: GameKey, seq: Seq) {
        self.turns.heard(key, seq);
    }

    /// A game is at a turn that has just begun.
    pub(super) fn call_bot(&self, key: GameKey, game: &Game) {
        let bot = Turn::of(game).and_then(|turn| turn.bot(&game.header().terms));
        if bot.is_some_and(is_quick) && !self.turns.call(key, None) {
            tracing::warn!(game = %key.game, most = BOT_JOBS_MAX, "so many bots are at work that a turn is left to the queue");
        }
    }

    /// Whoever thinks about an earlier turn is stopped by that.
    async fn follow_for_bot(self: Arc<Self>, key: GameKey) {
        if let Err(refusal) = self.with_head(key, |_| ()).await {
            tracing::debug!(game = %key.game, ?refusal, "a game that a bot thinks about cannot be followed");
        }
    }

    async fn job(self: Arc<Self>, key: GameKey) {
        let mut failures = 0;
        loop {
            let claim = self.turns.looks(key);
            let games = Arc::clone(&self);
            // In a task of its own: one that panics leaves a game that others can go on with.
            let (left, moved) = match tokio::spawn(async move { games.play(key, claim).await }).await {
                Ok(played) => played,
                Err(error) => {
                    self.forget(key).await;
                    (Err(Refusal::internal(format!("a bot's turn panicked: {error}"))), false)
                }
            };
            if moved || left.is_ok() {
                failures = 0;
            }
            if let (Some(claim), true) = (claim, moved) {
                self.played(&claim).await;
            }
            match (left, claim.filter(|_| !moved)) {
                (Ok(Left::Done), Some(claim)) => self.settled(&claim, None).await,
                (Ok(Left::Interrupted), Some(claim)) => self.let_go(&claim).await,
                (Ok(_), None) => {}
                (Err(refusal), Some(claim)) => self.put_off(&claim, &refusal).await,
                (Err(refusal), None) => {
                    self.try_again(key, &refusal, failures).await;
                    failures += 1;
                }
            }
            if !self.turns.goes_on(key) {
                return;
            }
        }
    }

    /// A turn that nobody has claimed failed: where that may pass soon, its job looks again before its row would come.
    async fn try_again(&self, key: GameKey, refusal: &Refusal, failures: u32) {
        let wait = pause(failures, self.lease).filter(|_| matches!(refusal, Refusal::StoreUnavailable));
        let Some(wait) = wait else {
            tracing::warn!(game = %key.game, ?refusal, "a bot's turn is left to the queue");
            return;
        };
        tracing::debug!(game = %key.game, ?wait, "a bot's turn comes again");
        tokio::select! {
            () = self.draining.cancelled() => {}
            () = sleep(wait) => drop(self.turns.call(key, None)),
        }
    }

    /// Plays while it is this node's to: a quick bot's turn, and whichever turn was claimed. Answers as well whether a bot
    /// has moved meanwhile, so that its entry has seen to the row.
    async fn play(&self, key: GameKey, claim: Option<Claimed>) -> (Result<Left, Refusal>, bool) {
        let mut moved = false;
        let left = self.play_on(key, claim, &mut moved).await;
        (left, moved)
    }

    async fn play_on(&self, key: GameKey, claim: Option<Claimed>, moved: &mut bool) -> Result<Left, Refusal> {
        let (mut claim, mut fresh, mut discarded) = (claim, claim.is_some(), None);
        loop {
            if self.draining.is_cancelled() {
                return Ok(Left::Interrupted);
            }
            let look = match self.fitting(key, || self.look(key, fresh)).await {
                Ok(Some(look)) => look,
                // No game that is here, or none that is played here.
                Ok(None) | Err(Refusal::GameNotFound | Refusal::GameReadOnly { .. }) => return Ok(Left::Done),
                Err(refusal) => return Err(refusal),
            };
            if claim.is_none() && !look.late && !is_quick(look.bot(look.turn.hand)?) {
                return Ok(Left::Done);
            }
            match self.turn(key, &look, claim.as_ref()).await? {
                // Its append has armed what is next.
                Turned::Moved => (claim, fresh, *moved) = (None, false, true),
                Turned::Discarded => {
                    self.upkeep.add(Chore::Discarded);
                    if discarded.replace(look.head) == Some(look.head) {
                        return Err(Refusal::internal("a bot's move is refused on the head that there is"));
                    }
                    fresh = true;
                }
                Turned::Full => return Ok(Left::Done),
                Turned::Interrupted => return Ok(Left::Interrupted),
                Turned::Late => return Err(Refusal::internal("a fallback has no time limit")),
                Turned::Fault(why) => return Err(Refusal::internal(format!("the fallback is at fault: {why}"))),
            }
        }
    }
}

/// After so many failures in a row before; nothing where the turn's row is due as soon.
fn pause(failures: u32, lease: Duration) -> Option<Duration> {
    let wait = BOT_RETRY.saturating_mul(1 << failures.min(16));
    // All of them together take less than twice the last one.
    (wait < lease / 2).then_some(wait)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::pause;

    #[test]
    fn a_turn_comes_again_later_and_later_until_its_row_is_due() {
        let lease = Duration::from_secs(10);
        let waits: Vec<Duration> = (0..).map_while(|failures| pause(failures, lease)).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_600, 3_200].map(Duration::from_millis));
        assert!(waits.iter().sum::<Duration>() < lease);
        assert_eq!((pause(0, Duration::ZERO), pause(u32::MAX, lease)), (None, None));
    }
}
