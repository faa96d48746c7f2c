//! Bots move.
//!
//! A bot's turn begins with the entry that leaves it to move. A quick bot answers on the node that has appended it, in a
//! second append, while the caller's answer is on its way; a slow one is left to the queue, and so is every turn whose node goes
//! away. A job goes on for as long as bots are to move: a game of bots alone is played to its end by it.
//!
//! Invariants: a bot's move is decided like anybody's, on the head that it thought about, so an answer to an old position is
//! refused like a caller's and thought about anew. Where a bot is at fault or its time is nearly over, the
//! fallback that the header pins moves in its place; where that one is at fault too, nobody moves, and the row comes again.

use std::sync::Arc;

use plybook_bots::{Budget, Chance, Choice, View};
use plybook_core::bot::Bot;
use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Hand, Request};
use plybook_core::header::Principal;
use plybook_core::{Action, Game, Rejection, Seed, Seq, Time};
use plybook_store::{Arms, Claimed, GameKey};
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::games::reminder::{self, Turn, is_quick};
use crate::games::turns::Call;
use crate::games::unfit::Unfit;
use crate::games::{Games, Table, settling};
use crate::limits::BOT_JOBS_MAX;
use crate::refusal::Refusal;
use crate::thinking::{Draws, Question, Unthought};
use crate::upkeep::Chore;

/// A bot's turn, as a node has found it.
struct Look {
    game: Arc<Game>,
    turn: Turn,
    head: Seq,
    seed: Seed,
    /// When the fallback moves instead.
    rescue: Option<Time>,
    late: bool,
}

impl Look {
    fn of(table: &Table, now: Time) -> Result<Option<Look>, Refusal> {
        let game = &table.game;
        let Some(turn) = Turn::of(game) else { return Ok(None) };
        let rescue = reminder::rescue_at(game);
        let late = rescue.is_some_and(|rescue| rescue <= now);
        let (head, seed) = (game.head().seq, table.own_seed()?);
        Ok(Some(Look { game: Arc::new(game.shortened()), turn, head, seed, rescue, late }))
    }

    fn bot(&self, hand: Hand) -> Result<&Bot, Refusal> {
        let turn = Turn { hand, ..self.turn };
        turn.bot(&self.game.header().terms).ok_or_else(|| Refusal::internal("a game waits for a bot that it has not"))
    }
}

/// What came of a turn.
enum Turned {
    Moved,
    /// The game had moved on.
    Discarded,
    /// Its time is nearly over.
    Late,
    /// The bot was at fault.
    Fault(String),
    /// Nothing can be appended to the game any more but its end.
    Full,
    /// The node goes away.
    Interrupted,
}

/// How a job left its game.
enum Left {
    /// No bot is to move, or not this node's.
    Done {
        /// Whether a bot has moved meanwhile, so that its entry has seen to the row.
        moved: bool,
    },
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
                () = self.draining.cancelled() => break,
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

    /// Something is due, perhaps sooner than whoever looks at the queue here knows.
    pub(super) fn rings_at(&self, arms: &Arms) {
        arms.each().for_each(|(_, at)| self.alarm.rings_at(at));
    }

    /// Whoever thinks about an earlier turn is stopped by that.
    async fn follow_for_bot(self: Arc<Self>, key: GameKey) {
        if let Err(refusal) = self.with_head(key, |_| ()).await {
            tracing::debug!(game = %key.game, ?refusal, "a game that a bot thinks about cannot be followed");
        }
    }

    async fn job(self: Arc<Self>, key: GameKey) {
        loop {
            let claim = self.turns.looks(key);
            let games = Arc::clone(&self);
            // In a task of its own: one that panics leaves a game that others can go on with.
            let left = match tokio::spawn(async move { games.play(key, claim).await }).await {
                Ok(left) => left,
                Err(error) => {
                    self.forget(key).await;
                    Err(Refusal::internal(format!("a bot's turn panicked: {error}")))
                }
            };
            match (left, claim) {
                (Ok(Left::Done { moved }), Some(claim)) => self.played(&claim, moved).await,
                (Ok(Left::Interrupted), Some(claim)) => self.let_go(&claim).await,
                (Ok(_), None) => {}
                (Err(refusal), Some(claim)) => self.put_off(&claim, &refusal).await,
                (Err(refusal), None) => tracing::warn!(game = %key.game, ?refusal, "a bot's turn is left to the queue"),
            }
            if !self.turns.goes_on(key) {
                return;
            }
        }
    }

    /// Plays while it is this node's to: a quick bot's turn, and whichever turn was claimed.
    async fn play(&self, key: GameKey, claim: Option<Claimed>) -> Result<Left, Refusal> {
        let (mut claim, mut fresh, mut moved, mut discarded) = (claim, claim.is_some(), false, None);
        loop {
            if self.draining.is_cancelled() {
                return Ok(Left::Interrupted);
            }
            let look = match self.fitting(key, || self.look(key, fresh)).await {
                Ok(Some(look)) => look,
                // No game that is here, or none that is played here.
                Ok(None) | Err(Refusal::GameNotFound | Refusal::GameReadOnly { .. }) => return Ok(Left::Done { moved }),
                Err(refusal) => return Err(refusal),
            };
            if claim.is_none() && !look.late && !is_quick(look.bot(look.turn.hand)?) {
                return Ok(Left::Done { moved });
            }
            match self.turn(key, &look, claim.as_ref()).await? {
                // Its append has armed what is next.
                Turned::Moved => (claim, fresh, moved) = (None, false, true),
                Turned::Discarded => {
                    self.upkeep.add(Chore::Discarded);
                    if discarded.replace(look.head) == Some(look.head) {
                        return Err(Refusal::internal("a bot's move is refused on the head that there is"));
                    }
                    fresh = true;
                }
                Turned::Full => return Ok(Left::Done { moved }),
                Turned::Interrupted => return Ok(Left::Interrupted),
                Turned::Late => return Err(Refusal::internal("a fallback has no time limit")),
                Turned::Fault(why) => return Err(Refusal::internal(format!("the fallback is at fault: {why}"))),
            }
        }
    }

    async fn look(&self, key: GameKey, fresh: bool) -> Result<Option<Look>, Unfit> {
        let shared = self.table_to_act_on(key).await?;
        let mut table = shared.lock().await;
        if fresh {
            self.follow_up(key, &shared, &mut table).await?;
        }
        let now = self.clock.now();
        self.settle(key, &shared, &mut table, now).await?;
        Ok(Look::of(&table, now)?)
    }

    /// The bot moves, or, where it does not, the fallback.
    async fn turn(&self, key: GameKey, look: &Look, claim: Option<&Claimed>) -> Result<Turned, Refusal> {
        let game = key.game;
        let mut late = look.late;
        if look.turn.hand == Hand::Bot && !late {
            match self.try_hand(key, look, Hand::Bot, claim).await? {
                Turned::Late => late = true,
                Turned::Fault(why) => {
                    self.upkeep.add(Chore::BotFault);
                    tracing::error!(%game, head = %look.head, seat = %look.turn.seat, bot = %look.bot(Hand::Bot)?, why, "a bot is at fault");
                }
                turned => return Ok(turned),
            }
        }
        if late {
            self.upkeep.add(Chore::BotLate);
            tracing::info!(%game, head = %look.head, seat = %look.turn.seat, "a bot's time is nearly over");
        }
        let turned = self.try_hand(key, look, Hand::Fallback, claim).await?;
        if let Turned::Fault(why) = &turned {
            self.upkeep.add(Chore::BotFault);
            tracing::error!(%game, head = %look.head, seat = %look.turn.seat, bot = %look.bot(Hand::Fallback)?, why, "a fallback is at fault");
        }
        Ok(turned)
    }

    async fn try_hand(&self, key: GameKey, look: &Look, hand: Hand, claim: Option<&Claimed>) -> Result<Turned, Refusal> {
        let choice = match self.think(key, look, hand, claim).await? {
            Ok(choice) => choice,
            Err(turned) => return Ok(turned),
        };
        let (word, by, chore) = match hand {
            Hand::Bot => ("bot", Principal::bot(), Chore::BotMoved),
            Hand::Fallback => ("fallback", Principal::fallback(), Chore::FallbackMoved),
        };
        let turned = self.move_for(key, look, word, by, choice.action).await?;
        if matches!(turned, Turned::Moved) {
            self.upkeep.add(chore);
        }
        Ok(turned)
    }

    async fn think(&self, key: GameKey, look: &Look, hand: Hand, claim: Option<&Claimed>) -> Result<Result<Choice, Turned>, Refusal> {
        let (bot, view) = (look.bot(hand)?, View::of(&look.game));
        let strategy = match self.thinking.bots().find(&bot.strategy, Some(bot.version)) {
            Ok(strategy) => Arc::clone(strategy),
            Err(unknown) => return Ok(Err(Turned::Fault(unknown.to_string()))),
        };
        let Some(chance) = Chance::of_game(&look.seed, &view) else { return Ok(Err(Turned::Discarded)) };
        let stop = self.turns.thinks(key, look.turn, look.head);
        let question =
            Question { game: Arc::clone(&look.game), budget: Budget(bot.nodes), draws: Draws::Own(chance), cancel: stop.clone() };
        let thought = async {
            let place = if is_quick(bot) { self.thinking.quick_place().await? } else { self.thinking.place().await? };
            self.thinking.choose(place, strategy, question).await
        };
        let by = look.rescue.filter(|_| hand == Hand::Bot);
        let chosen = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Turned::Discarded),
            thought = thought => thought.map_err(without_choice),
            () = self.until(by) => Err(Turned::Late),
            () = self.hold_on(claim, &stop) => Err(Turned::Discarded),
        };
        Ok(chosen)
    }

    async fn until(&self, time: Option<Time>) {
        match time {
            Some(time) => sleep(reminder::until(self.clock.now(), time)).await,
            None => std::future::pending().await,
        }
    }

    /// Keeps a claim while a bot thinks. Never ends before that.
    async fn hold_on(&self, claim: Option<&Claimed>, stop: &CancellationToken) {
        if let Some(claim) = claim {
            loop {
                sleep(self.lease / 3).await;
                match self.store.hold_due(claim, self.lease).await {
                    Ok(true) => {}
                    Ok(false) => {
                        // Somebody has armed the game, or is at it too; the head decides.
                        self.upkeep.add(Chore::ClaimLost);
                        break;
                    }
                    Err(error) => tracing::debug!(game = %claim.key.game.game, %error, "a claim was not held"),
                }
            }
        }
        stop.cancelled().await;
    }

    async fn move_for(&self, key: GameKey, look: &Look, word: &str, by: Principal, action: Action) -> Result<Turned, Refusal> {
        let request = Request { actor: Actor { seat: Some(look.turn.seat), by }, expected: look.head, ask: Ask::Move(action) };
        let mut id = settling::request(key, word, look.head, false);
        let mut acted = self.act_to_the_end(key, id, &request).await;
        if let Err(Refusal::RequestIdReused(_)) = acted {
            id.id = Uuid::new_v4();
            acted = self.act_to_the_end(key, id, &request).await;
        }
        match acted {
            // Through another node, or at an earlier attempt of this one whose answer was lost.
            Ok(acted) if acted.repeated => Ok(Turned::Discarded),
            Ok(_) => Ok(Turned::Moved),
            Err(Refusal::Rejected { rejection, .. }) => Ok(match rejection {
                Rejection::Illegal(_) | Rejection::InvalidAction { .. } => Turned::Fault(format!("it chose {action:?}: {rejection}")),
                Rejection::Limit { .. } => Turned::Full,
                _ => Turned::Discarded,
            }),
            Err(refusal) => Err(refusal),
        }
    }
}

fn without_choice(why: Unthought) -> Turned {
    match why {
        Unthought::Stopped => Turned::Discarded,
        Unthought::Draining => Turned::Interrupted,
        Unthought::Nothing | Unthought::Panicked | Unthought::Busy { .. } => Turned::Fault(why.to_string()),
    }
}
