//! Creates a game that goes on from an entry of another.
//!
//! Invariant: one forking request makes one game, with a seed of its own; it is there with all the moves that
//! it begins with, or not at all. So many are at work at once, whether or not their callers still wait.

use std::sync::Arc;

use plybook_core::game::{Fork, ForkError, Forked, fork};
use plybook_core::header::{Entropy, Principal, Receipts, UndoBy};
use plybook_core::standing::StandingMoves;
use plybook_core::{Game, Header, Origin, Seed, Seq};
use plybook_store::{Create, GameKey, NewGame, RequestKey};
use tracing::Instrument as _;

use crate::games::create::check_entropy;
use crate::games::{Games, Opened, reminder};
use crate::limits::PAGE_ENTRIES;
use crate::refusal::{Original, Refusal};

/// What somebody wants to fork, checked for shape.
#[derive(Debug)]
pub struct ForkPlan {
    /// The game to go on from.
    pub of: GameKey,
    /// The entry.
    pub at: Seq,
    /// Who asks.
    pub by: Principal,
    /// The request.
    pub request: RequestKey,
    /// Where the new game's dice come from.
    pub entropy: Entropy,
    /// Which of its answers carry a receipt.
    pub receipts: Receipts,
}

impl Games {
    /// Creates the game, or finds the one that this request created before; after the moves given to it.
    pub async fn fork(self: &Arc<Self>, plan: ForkPlan) -> Result<Arc<Game>, Refusal> {
        let (tenant, request) = (plan.of.tenant, plan.request);
        match self.store.find_creation(tenant, request.id).await? {
            Some((game, hash)) if hash == request.hash => return self.begun(GameKey { tenant, game }).await,
            Some((game, _)) => return Err(Refusal::RequestIdReused(Original::Game(game))),
            None => {}
        }
        let turn = Arc::clone(&self.forks).acquire_owned().await.map_err(|error| Refusal::internal(error.to_string()))?;
        let games = Arc::clone(self);
        // In a task of its own: what a caller leaves behind keeps its turn.
        let work = async move {
            let forked = games.fork_in_turn(plan).await;
            drop(turn);
            forked
        };
        let forked = tokio::spawn(work.in_current_span()).await;
        forked.map_err(|error| Refusal::internal(format!("a fork panicked: {error}")))?
    }

    async fn fork_in_turn(&self, plan: ForkPlan) -> Result<Arc<Game>, Refusal> {
        let (tenant, request) = (plan.of.tenant, plan.request);
        let (of, opened) = self.at(plan.of, plan.at).await?;
        let head = of.head().seq;
        of.check_forkable().map_err(|rejection| Refusal::Rejected { rejection, head, missed: Vec::new() })?;
        check_entropy(plan.entropy, &opened.header.ruleset, &opened.header.params)?;
        let moves = self.standing_at(plan.of, &of, &opened).await?;
        let (header, seed) = self.forked_header(plan, &opened.header, of.as_origin())?;
        let rules = Arc::clone(opened.rules()?);
        // A long game is a second's work.
        let forked = tokio::task::spawn_blocking(move || fork(header, rules, &moves)).await;
        let forked = forked.map_err(|error| Refusal::internal(format!("forking panicked: {error}")))?.map_err(|error| match error {
            ForkError::Limit { limit, most } => Refusal::Limit { limit, most },
            ForkError::Fold(error) => Refusal::internal(format!("a move that stands is refused in a fork: {error}")),
        })?;
        let Forked { game, given } = forked;
        let header = game.header();
        let new = NewGame {
            key: GameKey { tenant, game: header.game },
            request,
            digest: header.digest(),
            header: header.to_string(),
            seed,
            created: header.created,
            ruleset: header.ruleset.name.clone(),
            ruleset_version: header.ruleset.version,
            players: header.seats.iter().map(|place| place.player.clone()).collect(),
            given,
            arms: reminder::arms(&game, header.created, self.lease),
        };
        let arms = new.arms;
        match self.store_new(new).await? {
            Create::Created => {
                self.rings_at(&arms);
                Ok(Arc::new(game))
            }
            Create::Repeated(game) => self.begun(GameKey { tenant, game }).await,
            Create::Reused(game) => Err(Refusal::RequestIdReused(Original::Game(game))),
        }
    }

    fn forked_header(&self, plan: ForkPlan, of: &Header, origin: Origin) -> Result<(Header, Seed), Refusal> {
        let created = self.clock.now();
        let (game, seed) = (self.ids.game(created)?, self.ids.seed()?);
        let ForkPlan { by, entropy, receipts, .. } = plan;
        let fork = Fork { game, created, by, commitment: seed.commitment(), entropy, receipts };
        let mut header = fork.header(of, origin);
        // A fork has no bots: where there were some, persons have yet to agree on what one of them could take back.
        if !of.terms.bots.is_empty() && header.undo.by == UndoBy::OwnLastMove && header.seat_count() > 1 {
            header.undo.over_throw = false;
        }
        Ok((header, seed))
    }

    /// A forked game as it was created, so that every repeated answer is the first.
    async fn begun(&self, key: GameKey) -> Result<Arc<Game>, Refusal> {
        let given = self.opened(key).await?.header.given();
        Ok(self.at(key, Seq(Seq::FIRST.0 + given)).await?.0)
    }

    /// The moves that stand at this game's head, read from its lines, which must be those that it was folded from.
    async fn standing_at(&self, key: GameKey, game: &Game, opened: &Opened) -> Result<StandingMoves, Refusal> {
        let corrupt = |first_bad: Seq, why: String| Refusal::BookCorrupt { first_bad, why };
        let (head, mut standing) = (game.head(), StandingMoves::default());
        let (mut at, mut digest) = (Seq::FIRST, opened.header.digest());
        while at < head.seq {
            let entries = self.store.history(key, at, PAGE_ENTRIES.min(head.seq.0 - at.0)).await?;
            if entries.is_empty() {
                return Err(corrupt(at.next(), "it is missing".to_owned()));
            }
            for stored in entries {
                let read = opened.header.read_entry(&stored.line).map_err(|error| error.why);
                read.and_then(|entry| standing.follow(entry)).map_err(|why| corrupt(stored.seq, why))?;
                (at, digest) = (stored.seq, digest.chain(&stored.line));
            }
        }
        if digest != head.digest {
            return Err(corrupt(head.seq, format!("its digest is {digest}, not {}", head.digest)));
        }
        Ok(standing)
    }
}
