//! Creates the rematch of a game that is over.
//!
//! Invariant: a game has one rematch, whoever asks for it, how often and through whichever node: the id of the request
//! that creates it is made of the game's own. Ids of a kind that a caller could have foreseen and taken are no reason to
//! stop: it is the first of many that nobody else has taken, and what is taken stays so, for whoever looks.

use std::sync::Arc;

use plybook_core::game::State;
use plybook_core::header::{Header, Place, Principal, SeedFrom};
use plybook_core::{Game, Seat, Seq, Terms};
use plybook_store::{GameKey, RequestKey};
use uuid::Uuid;

use crate::games::create::Drawn;
use crate::games::pinning::Strategies;
use crate::games::{Games, Opened};
use crate::limits::REMATCH_IDS;
use crate::refusal::{Original, Refusal};
use crate::requests::canon::Canon;

impl Games {
    /// Creates the rematch, or finds it; as it was when it was created.
    pub async fn rematch(self: &Arc<Self>, of: GameKey, by: Principal, strategies: &Strategies) -> Result<Arc<Game>, Refusal> {
        let mut tried = 0;
        loop {
            let request = request(of, tried);
            let taken = match self.store.find_creation(of.tenant, request.id).await? {
                Some((game, hash)) if hash == request.hash => return self.first(GameKey { game, ..of }).await,
                Some((game, _)) => Original::Game(game),
                None => match self.create_rematch(of, request, &by, strategies).await {
                    // Since it was looked for.
                    Err(Refusal::RequestIdReused(original)) => original,
                    created => return created,
                },
            };
            tried += 1;
            if tried == REMATCH_IDS {
                return Err(Refusal::RequestIdReused(taken));
            }
        }
    }

    async fn create_rematch(
        &self,
        of: GameKey,
        request: RequestKey,
        by: &Principal,
        strategies: &Strategies,
    ) -> Result<Arc<Game>, Refusal> {
        let opened = self.over(of).await?;
        strategies.know(&opened.header.terms)?;
        let rules = Arc::clone(opened.rules()?);
        let created = self.clock.now();
        let (game, seed) = (self.ids.game(created)?, self.ids.seed()?);
        let old = opened.header.clone();
        let header = Header {
            game,
            created,
            by: by.clone(),
            commitment: seed.commitment(),
            seed_from: SeedFrom::Service,
            seats: moved_on(&old.seats),
            terms: Terms { bots: bots_moved_on(&old), ..old.terms.clone() },
            origin: None,
            rematch_of: Some(of.game),
            ..old
        };
        self.create_drawn(of.tenant, request, Drawn { header, rules, seed }).await
    }

    /// The game's header and rules, if it is over and one of the service's own.
    async fn over(&self, of: GameKey) -> Result<Arc<Opened>, Refusal> {
        let opened = self.opened(of).await?;
        if opened.foreign.is_some() {
            let head = self.store.last(of).await?.map_or(Seq::FIRST, |last| last.seq);
            return Err(Refusal::GameReadOnly { head });
        }
        match self.with_head(of, |table| (table.game.state(), table.game.head().seq)).await? {
            (State::Active, head) => Err(Refusal::GameNotOver { head }),
            (State::Finished | State::Closed, _) => Ok(opened),
        }
    }
}

fn request(of: GameKey, n: u32) -> RequestKey {
    let name = if n == 0 { "rematch".to_owned() } else { format!("rematch/{n}") };
    RequestKey { id: Uuid::new_v5(&of.game, name.as_bytes()), hash: Canon::of("Rematch").bytes(of.game.as_bytes()).hash() }
}

/// Players move on by a seat; marks stay.
fn moved_on(seats: &[Place]) -> Vec<Place> {
    let from = |seat: usize| seats[(seat + 1) % seats.len()].player.clone();
    seats.iter().enumerate().map(|(seat, place)| Place { mark: place.mark.clone(), player: from(seat) }).collect()
}

fn bots_moved_on(old: &Header) -> Vec<(Seat, plybook_core::bot::Bot)> {
    let seats = old.seat_count();
    let from = |seat: u8| Some((Seat(seat), old.terms.bot(Seat((seat + 1) % seats))?.clone()));
    (0..seats).filter_map(from).collect()
}
