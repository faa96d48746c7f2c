//! People at simulated tables ask: for the first time, once more, all at once.
//!
//! Invariant: whoever hears nothing asks again with the same id, on any node; whoever hears something hears the same
//! from then on.

use std::sync::atomic::Ordering;

use plybook_core::Rejection;
use plybook_core::entry::Entry;
use plybook_server::games::act::Acted;
use plybook_server::refusal::Refusal;
use plybook_store::RequestKey;

use super::faults::Fault;
use super::ledger::{Heard, hash_of};
use super::played::{foretold, heard};
use super::script;
use super::world::{Awaited, World};

/// What was foretold of an answer.
type Foretold = Result<Entry, Rejection>;

impl World<'_> {
    /// A game in which people still have something to say.
    fn lively_game(&mut self) -> usize {
        let lively: Vec<usize> = (0..self.games.len()).filter(|game| self.games[*game].asks_left > 0).collect();
        *self.random.pick(&lively)
    }

    /// A new request in a game; answers its number.
    fn comes_up_with(&mut self, game: usize) -> usize {
        let played = &mut self.games[game];
        played.asks_left = played.asks_left.saturating_sub(1);
        let request = script::next(&played.witness.game, &mut self.random);
        self.tally.asked.fetch_add(1, Ordering::Relaxed);
        played.ledger.asks(request, &mut self.random)
    }

    /// Somebody asks for something.
    pub(super) async fn asks(&mut self) -> Result<(), String> {
        let game = self.lively_game();
        let number = self.comes_up_with(game);
        let node = self.awake();
        let breaks = self.random.once_in(7);
        if breaks {
            let (call, fault) = match self.random.once_in(5) {
                true => (crate::injected::Call::Append, *self.random.pick(&[Fault::Dies, Fault::SleepsBefore, Fault::SleepsAfter])),
                false => Fault::of_a_request(&mut self.random),
            };
            self.nodes[node].line.breaks_next(call, fault);
        }
        self.reads(game).await?;
        let foretold = (!breaks && !self.nodes[node].line.is_broken()).then(|| self.foretell(game, number, node));
        let answer = self.puts(game, number, node).await;
        if let (Some(answer), Some(foretold)) = (&answer, &foretold) {
            self.compares_answer(game, answer, foretold)?;
        }
        self.hears(game, number, answer).await?;
        if !self.random.once_in(3) {
            self.calms_down().await?;
        }
        self.reads(game).await.map(drop)
    }

    /// Sends a request to a node; nothing where the node dies of it or stands still.
    pub(super) async fn puts(&mut self, game: usize, number: usize, node: usize) -> Option<Result<Acted, Refusal>> {
        let (key, asked) = (self.games[game].key, self.games[game].ledger.get(number).clone());
        let what =
            format!("node {node}, game {game}: {:?} wants {:?} at {}", asked.request.actor.seat, asked.request.ask, asked.request.expected);
        self.told.note(self.shelf.time().now(), what);
        let games = std::sync::Arc::clone(&self.nodes[node].games);
        let line = std::sync::Arc::clone(&self.nodes[node].line);
        let mut task = tokio::spawn(async move { games.act(key, asked.id, asked.request, None).await });
        tokio::select! {
            biased;
            answer = &mut task => match line.is_dead() {
                true => None,
                false => Some(answer.unwrap_or_else(|error| Err(Refusal::internal(error.to_string())))),
            },
            () = line.falls_asleep() => {
                let was_answered = self.games[game].ledger.is_answered(number);
                self.awaited.push(Awaited { node, game, number, was_answered, task });
                None
            }
        }
    }

    /// What was heard is noted; a node that died is replaced.
    pub(super) async fn hears(&mut self, game: usize, number: usize, answer: Option<Result<Acted, Refusal>>) -> Result<(), String> {
        let told = match &answer {
            None => "  hears nothing".to_owned(),
            Some(Ok(acted)) => format!("  hears of entry {}", acted.stored.seq),
            Some(Err(refusal)) => format!("  hears {refusal:?}"),
        };
        self.told.note(self.shelf.time().now(), told);
        let heard = answer.map_or(Ok(Heard::Nothing), heard)?;
        self.games[game].ledger.hears(number, heard)?;
        for node in 0..self.nodes.len() {
            if self.nodes[node].line.is_dead() {
                self.replaces(node).await;
            }
        }
        Ok(())
    }

    /// Those whose node has woken up hear something after all.
    pub(super) async fn hears_late(&mut self) -> Result<(), String> {
        for Awaited { node, game, number, was_answered, mut task } in std::mem::take(&mut self.awaited) {
            let line = std::sync::Arc::clone(&self.nodes[node].line);
            tokio::select! {
                biased;
                answer = &mut task => {
                    // Of two copies on their way at once, one may be refused before the other is accepted.
                    let crossed = !was_answered && self.games[game].ledger.is_answered(number);
                    let counts = |answer: &Result<Acted, Refusal>| !(crossed && matches!(answer, Err(Refusal::Rejected { .. })));
                    let answer = answer.ok().filter(|_| !line.is_dead()).filter(counts);
                    self.hears(game, number, answer).await?;
                }
                () = line.falls_asleep() => self.awaited.push(Awaited { node, game, number, was_answered, task }),
            }
        }
        Ok(())
    }

    /// Somebody asks for something once more, or uses an id for something else.
    pub(super) async fn asks_again(&mut self) -> Result<(), String> {
        let game = self.random.below(self.games.len() as u64) as usize;
        let asked = self.games[game].ledger.all();
        if asked.is_empty() {
            return Ok(());
        }
        let unheard: Vec<usize> = (0..asked.len()).filter(|number| asked[*number].answer == Heard::Nothing).collect();
        let number = match unheard.is_empty() || self.random.once_in(3) {
            true => self.random.below(asked.len() as u64) as usize,
            false => *self.random.pick(&unheard),
        };
        if self.random.once_in(8) {
            return self.uses_again(game, number).await;
        }
        let node = self.awake();
        self.tally.faults.note("request/Repeated");
        let answer = self.puts(game, number, node).await;
        self.hears(game, number, answer).await?;
        self.reads(game).await.map(drop)
    }

    /// Another request with an id that was answered with an entry: nothing comes of it.
    async fn uses_again(&mut self, game: usize, number: usize) -> Result<(), String> {
        let asked = self.games[game].ledger.get(number).clone();
        let other = script::next(&self.games[game].witness.game, &mut self.random);
        if !matches!(asked.answer, Heard::Entry(_)) || hash_of(&other) == asked.id.hash {
            return Ok(());
        }
        let node = self.awake();
        let (key, id) = (self.games[game].key, RequestKey { id: asked.id.id, hash: hash_of(&other) });
        if self.nodes[node].line.is_broken() {
            return Ok(());
        }
        self.tally.faults.note("request/IdReused");
        match self.nodes[node].games.act(key, id, other, None).await {
            Err(Refusal::RequestIdReused(_)) => Ok(()),
            other => Err(format!("an id was used twice: {:?}", other.map(|acted| acted.stored))),
        }
    }

    /// Several ask at once, on several nodes, some for the same.
    pub(super) async fn asks_at_once(&mut self) -> Result<(), String> {
        let game = self.lively_game();
        self.reads(game).await?;
        let mut numbers = Vec::new();
        for _ in 0..self.random.from_to(2, 4) {
            let again = !numbers.is_empty() && self.random.once_in(2);
            numbers.push(if again { *self.random.pick(&numbers) } else { self.comes_up_with(game) });
        }
        self.told.note(self.shelf.time().now(), format!("game {game}: {} at once", numbers.len()));
        self.tally.faults.note("request/AtOnce");
        for number in numbers {
            let node = self.awake();
            let (key, asked) = (self.games[game].key, self.games[game].ledger.get(number).clone());
            let what = format!("  node {node}: {:?} wants {:?} at {}", asked.request.actor.seat, asked.request.ask, asked.request.expected);
            self.told.note(self.shelf.time().now(), what);
            let games = std::sync::Arc::clone(&self.nodes[node].games);
            let task = tokio::spawn(async move { games.act(key, asked.id, asked.request, None).await });
            let was_answered = self.games[game].ledger.is_answered(number);
            self.awaited.push(Awaited { node, game, number, was_answered, task });
        }
        self.hears_late().await?;
        self.calms_down().await?;
        self.reads(game).await.map(drop)
    }

    fn foretell(&self, game: usize, number: usize, node: usize) -> Foretold {
        let witness = &self.games[game].witness;
        let outages = self.shelf.outages_told();
        foretold(&witness.game, &self.games[game].ledger.get(number).request, self.nodes[node].now(), &outages, witness.seed())
    }

    /// Where nobody came before it, the answer is the one that was foretold.
    fn compares_answer(&self, game: usize, answer: &Result<Acted, Refusal>, foretold: &Foretold) -> Result<(), String> {
        let after = self.games[game].witness.game.head().seq.next();
        match (answer, foretold) {
            (Ok(acted), Ok(entry)) if acted.stored.seq == entry.seq && acted.stored.line != entry.to_string() => {
                Err(format!("{:?} was answered, {:?} was foretold", acted.stored.line, entry.to_string()))
            }
            (Ok(acted), Err(why)) if acted.stored.seq == after => Err(format!("{:?} was answered, {why} was foretold", acted.stored.line)),
            (Err(Refusal::Rejected { rejection, head, .. }), Ok(entry)) if head.next() == entry.seq => {
                Err(format!("{rejection:?} was answered, {:?} was foretold", entry.to_string()))
            }
            (Err(Refusal::Rejected { rejection, head, .. }), Err(why)) if head.next() == after && rejection != why => {
                Err(format!("{rejection:?} was answered, {why:?} was foretold"))
            }
            _ => Ok(()),
        }
    }
}
