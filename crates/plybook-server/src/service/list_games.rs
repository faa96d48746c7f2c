//! ListGames: games of the caller's tenant, newest first.

use plybook_proto::v1;
use plybook_store::{Filter, State};
use tonic::Request;
use uuid::Uuid;

use crate::auth::authenticate;
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::page;
use crate::service::Service;

pub(super) async fn answer(service: &Service, request: Request<v1::ListGamesRequest>) -> Result<v1::ListGamesResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let size = page::size(message.page_size, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)?;
    let filter = filter(&message)?;
    let question = format!("games {} {filter:?}", caller.tenant.0);
    let before = match page::at(&question, &message.page_token)? {
        Some(at) => Some(Uuid::from_slice(&at).map_err(|_| page::foreign())?),
        None => None,
    };
    let mut summaries = service.games.store().list(caller.tenant, &filter, before, size + 1).await?;
    let more = summaries.len() > size as usize;
    summaries.truncate(size as usize);
    let next_page_token = match summaries.last() {
        Some(last) if more => page::token(&question, last.game.as_bytes()),
        _ => String::new(),
    };
    let mut games = Vec::with_capacity(summaries.len());
    for summary in &summaries {
        games.push(match replies::game::listed(summary) {
            Err(Refusal::BookCorrupt { first_bad, why }) => {
                // One broken book must not hide the others.
                tracing::error!(game = %summary.game, %first_bad, %why, "a book is corrupt");
                replies::game::unreadable(summary)
            }
            listed => listed?,
        });
    }
    Ok(v1::ListGamesResponse { games, next_page_token })
}

fn filter(message: &v1::ListGamesRequest) -> Result<Filter, Refusal> {
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let state = match v1::GameState::try_from(message.state) {
        Ok(v1::GameState::Unspecified) => None,
        Ok(v1::GameState::Active) => Some(State::Active),
        Ok(v1::GameState::Finished) => Some(State::Finished),
        Ok(v1::GameState::Closed) => Some(State::Closed),
        Err(_) => return Err(Refusal::field("state", format!("{} is not one of its values", message.state))),
    };
    let within = |field: &str, text: &str| match text.len() <= plybook_core::limits::PLAYER_BYTES_MAX && !text.contains('\0') {
        true => Ok(()),
        false => Err(Refusal::field(field, "is longer than any can be, or holds a NUL")),
    };
    within("player_id", &message.player_id)?;
    within("ruleset_id", &message.ruleset_id)?;
    Ok(Filter { player: given(&message.player_id), ruleset: given(&message.ruleset_id), state })
}
