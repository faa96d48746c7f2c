//! One turn of a bot: it is looked at, thought about, and moved.
//!
//! Invariants: a bot's move is decided like anybody's, on the head that it thought about, so an answer to an old position is
//! refused like a caller's. Where a bot is at fault or its time is nearly over, the fallback that the header pins moves in its
//! place; where that one is at fault too, nobody moves.

use std::sync::Arc;

use plybook_bots::{Budget, Chance, Choice, View};
use plybook_core::bot::Bot;
use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Hand, Request};
use plybook_core::header::Principal;
use plybook_core::{Action, Game, Rejection, Seed, Seq, Time};
use plybook_store::{Claimed, GameKey};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::games::own_request::OwnRequest;
use crate::games::reminder::{self, Turn, is_quick};
use crate::games::unfit::Unfit;
use crate::games::{Games, Table};
use crate::refusal::Refusal;
use crate::thinking::{Draws, Question, Unthought};
use crate::upkeep::Chore;

/// A bot's turn, as a node has found it.
pub(super) struct Look {
    game: Arc<Game>,
    pub(super) turn: Turn,
    pub(super) head: Seq,
    seed: Seed,
    /// When the fallback moves instead.
    rescue: Option<Time>,
    pub(super) late: bool,
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

    pub(super) fn bot(&self, hand: Hand) -> Result<&Bot, Refusal> {
        let turn = Turn { hand, ..self.turn };
        turn.bot(&self.game.header().terms).ok_or_else(|| Refusal::internal("a game waits for a bot that it has not"))
    }
}

/// What came of a turn.
pub(super) enum Turned {
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

impl Games {
    pub(super) async fn look(&self, key: GameKey, fresh: bool) -> Result<Option<Look>, Unfit> {
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
    pub(super) async fn turn(&self, key: GameKey, look: &Look, claim: Option<&Claimed>) -> Result<Turned, Refusal> {
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
        let chore = match hand {
            Hand::Bot => Chore::BotMoved,
            Hand::Fallback => Chore::FallbackMoved,
        };
        let turned = self.move_for(key, look, hand, choice.action).await?;
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

    async fn move_for(&self, key: GameKey, look: &Look, hand: Hand, action: Action) -> Result<Turned, Refusal> {
        let by = match hand {
            Hand::Bot => Principal::bot(),
            Hand::Fallback => Principal::fallback(),
        };
        let request = Request { actor: Actor { seat: Some(look.turn.seat), by }, expected: look.head, ask: Ask::Move(action) };
        let id = |taken| OwnRequest::Move(hand).key(key, look.head, taken);
        let mut acted = self.act_to_the_end(key, id(false), &request, None).await;
        if let Err(Refusal::RequestIdReused(_)) = acted {
            acted = self.act_to_the_end(key, id(true), &request, None).await;
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
