//! ListGames: games of the caller's tenant, newest first, or by when they are due.
//!
//! Invariant: a page looks at a bounded number of games, whatever it finds: what it looked at last is where the next
//! one goes on.

use plybook_core::{Time, Uuid};
use plybook_proto::v1;
use plybook_store::GameKey;
use plybook_store::due::DueSoon;
use tonic::Request;

use crate::auth::{Caller, Rpc, authenticate};
use crate::limits::{PAGE_DEADLINES_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::page;
use crate::service::Service;
use crate::service::listing::Wanted;

pub(super) async fn answer(service: &Service, request: Request<v1::ListGamesRequest>) -> Result<v1::ListGamesResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let wanted = Wanted::of(&message)?;
    let most = if wanted.deadlines || wanted.due_before.is_some() { PAGE_DEADLINES_MAX } else { PAGE_ITEMS_MAX };
    let size = page::size(message.page_size, PAGE_ITEMS_DEFAULT, most)?;
    let question = format!("games {} {wanted:?}", caller.tenant.0);
    let at = page::at(&question, &message.page_token)?;
    caller.may(Rpc::ListGames)?;
    let listing = Listing { service, caller: &caller, wanted: &wanted, size: size as usize };
    let (games, next) = match wanted.due_before {
        _ if wanted.contradicts_itself() => (Vec::new(), None),
        Some(before) => listing.by_deadline(before, at.as_deref()).await?,
        None => listing.by_id(at.as_deref()).await?,
    };
    let next_page_token = next.map_or_else(String::new, |at| page::token(&question, &at));
    Ok(v1::ListGamesResponse { games, next_page_token })
}

/// A page in the making.
struct Listing<'a> {
    service: &'a Service,
    caller: &'a Caller,
    wanted: &'a Wanted,
    size: usize,
}

/// The games of a page, and where the next one goes on.
type Page = (Vec<v1::Game>, Option<Vec<u8>>);

impl Listing<'_> {
    /// Newest first. Who is to move is not in the store's index, so of that more is looked at than a page has.
    async fn by_id(&self, at: Option<&[u8]>) -> Result<Page, Refusal> {
        let before = at.map(|at| Uuid::from_slice(at).map_err(|_| page::foreign())).transpose()?;
        let most = if self.wanted.to_move.is_some() { PAGE_ITEMS_MAX as usize } else { self.size };
        let store = self.service.games.store();
        let summaries = store.list(self.caller.tenant, &self.wanted.filter(), before, most as u32 + 1).await?;
        let mut games = Vec::new();
        for (looked, summary) in summaries.iter().take(most).enumerate() {
            let key = self.caller.game(summary.game);
            let game = match self.service.listed(key, summary, self.wanted.deadlines).await {
                Err(Refusal::BookCorrupt { first_bad, why }) => {
                    // One broken book must not hide the others.
                    tracing::error!(game = %summary.game, %first_bad, %why, "a book is corrupt");
                    Some(replies::game::unreadable(summary)).filter(|_| self.wanted.to_move.is_none())
                }
                listed => Some(listed?).filter(|game| self.wanted.fits(game)),
            };
            games.extend(game);
            if games.len() == self.size || looked + 1 == most {
                let more = summaries.len() > looked + 1;
                return Ok((games, more.then(|| summary.game.as_bytes().to_vec())));
            }
        }
        Ok((games, None))
    }

    /// In the order of the queue, whose times are never later than the true ones.
    async fn by_deadline(&self, before: Time, at: Option<&[u8]>) -> Result<Page, Refusal> {
        let after = at.map(|at| place(at).ok_or_else(page::foreign)).transpose()?;
        let store = self.service.games.store();
        let rows = store.list_due(self.caller.tenant, before, after, self.size as u32 + 1).await?;
        let mut games = Vec::new();
        for row in rows.iter().take(self.size) {
            let key: GameKey = self.caller.game(row.game);
            match self.service.due_before(key, before).await {
                Err(Refusal::BookCorrupt { first_bad, why }) => tracing::error!(game = %row.game, %first_bad, %why, "a book is corrupt"),
                game => games.extend(game?.filter(|game| self.wanted.fits(game))),
            }
        }
        let last = rows.get(self.size.wrapping_sub(1)).filter(|_| rows.len() > self.size);
        Ok((games, last.map(|row| [row.at.unix_ms().to_be_bytes().as_slice(), row.game.as_bytes()].concat())))
    }
}

fn place(at: &[u8]) -> Option<DueSoon> {
    let (ms, game) = at.split_first_chunk::<8>()?;
    Some(DueSoon { at: Time::from_unix_ms(u64::from_be_bytes(*ms)), game: Uuid::from_slice(game).ok()? })
}
