//! How a simulated world ends: people fall silent, time passes, and what is left is held against the books.
//!
//! Invariant: a game that only time or a bot can bring on ends by itself; where nothing is due any more, nothing is
//! in the queue.

use plybook_core::game::State;

use super::node::Node;
use super::script;
use super::witness::{Witness, picture};
use super::world::World;

/// So often time may pass without a new entry while somebody still hopes for one.
const ROUNDS_IN_VAIN: u32 = 200;

impl World<'_> {
    /// Nobody asks any more, nothing goes wrong any more.
    pub(super) async fn ends(&mut self) -> Result<(), String> {
        self.told.note(self.shelf.time().now(), "people fall silent");
        self.nodes.iter().for_each(|node| node.line.mends());
        self.wakes().await?;
        self.hopes().await?;
        self.closes_what_is_left().await?;
        self.hopes().await?;
        self.checks_all().await
    }

    /// Time passes until nobody hopes for it any more.
    async fn hopes(&mut self) -> Result<(), String> {
        let mut in_vain = 0;
        while self.games.iter().any(|game| game.witness.has_hope()) {
            let before: usize = self.games.iter().map(|game| game.witness.entries().len()).sum();
            let wait = self.until_next().await?;
            let more = self.random.below(1_500);
            self.passes(wait + 1 + more).await?;
            let after: usize = self.games.iter().map(|game| game.witness.entries().len()).sum();
            in_vain = if after > before { 0 } else { in_vain + 1 };
            if in_vain > ROUNDS_IN_VAIN {
                let stuck = self.games.iter().enumerate().find(|(_, game)| game.witness.has_hope());
                let stuck = stuck.map(|(number, game)| {
                    let head = game.witness.entries().last().map(|stored| stored.line.as_str());
                    format!(
                        "game {number} hopes for {:?} and {:?}, after {head:?}",
                        game.witness.game.due(),
                        game.witness.game.waits_for_bot()
                    )
                });
                return Err(format!("a game is stuck: {stuck:?}"));
            }
        }
        Ok(())
    }

    /// Milliseconds until the next deadline of all, or, where one has passed, until somebody looks at the queue again.
    async fn until_next(&self) -> Result<u64, String> {
        let now = self.shelf.time().now();
        let row = self.shelf.inner().next_due().await.map_err(|error| error.to_string())?;
        let deadlines = self.games.iter().filter_map(|game| game.witness.game.due()).map(|(deadline, _)| deadline);
        let next = deadlines.chain(row).filter(|at| *at >= now).min();
        Ok(next.map_or(1_000, |next| next.unix_ms() - now.unix_ms()))
    }

    /// The service of those at the tables ends what goes on.
    async fn closes_what_is_left(&mut self) -> Result<(), String> {
        for game in 0..self.games.len() {
            // A close may find the game reopened or over only on the way.
            while self.games[game].witness.game.state() != State::Closed {
                let request = script::ends(&self.games[game].witness.game);
                let number = self.games[game].ledger.asks(request, &mut self.random);
                let node = self.awake();
                let answer = self.puts(game, number, node).await;
                if let Some(Err(refusal)) = &answer {
                    return Err(format!("game {game} cannot be ended: {refusal:?}"));
                }
                self.hears(game, number, answer).await?;
                self.reads(game).await?;
            }
        }
        Ok(())
    }

    async fn checks_all(&mut self) -> Result<(), String> {
        let left = self.shelf.inner().next_due().await.map_err(|error| error.to_string())?;
        if let Some(left) = left {
            return Err(format!("every game is closed, and something is due at {left}"));
        }
        let cold = self.starts();
        for game in 0..self.games.len() {
            self.compares_in(game, &cold).await?;
            let played = &self.games[game];
            let checks = played.witness.misses_nothing(&played.ledger).and_then(|()| match self.random.once_in(50) {
                true => played.witness.verifies(),
                false => Ok(()),
            });
            checks.map_err(|why| format!("game {game}, {}: {why}", played.key.game))?;
        }
        cold.dies().await;
        Ok(())
    }

    /// Some game is on every node what its book says, and folds from its text once more.
    pub(super) async fn compares(&mut self) -> Result<(), String> {
        let game = self.random.below(self.games.len() as u64) as usize;
        self.reads(game).await?;
        let cold = self.starts();
        let compared = self.compares_in(game, &cold).await;
        cold.dies().await;
        compared
    }

    async fn compares_in(&mut self, game: usize, cold: &Node) -> Result<(), String> {
        let (key, head) = (self.games[game].key, self.games[game].witness.game.head());
        let told = picture(&self.games[game].witness.game);
        for node in self.nodes.iter().chain([cold]).filter(|node| !node.line.is_asleep() && !node.line.is_broken()) {
            let seen = node.games.with_head(key, |table| (table.game.head(), picture(&table.game))).await;
            let (seen_head, seen) = seen.map_err(|refusal| format!("game {game} cannot be read: {refusal:?}"))?;
            // A bot may have moved meanwhile.
            if seen_head == head && seen != told {
                return Err(format!("a node sees in game {game}\n{seen}\nand its book says\n{told}"));
            }
        }
        let played = &self.games[game];
        let again = Witness::of(self.shelf.inner(), key, played.witness.seed().clone()).await;
        let mut again = again.map_err(|why| format!("game {game}: {why}"))?;
        again.reads(self.shelf.inner(), &played.ledger).await.map_err(|why| format!("game {game}, once more: {why}"))?;
        if again.game.head() == head && picture(&again.game) != told {
            return Err(format!("game {game} folds to another game"));
        }
        Ok(())
    }
}
