//! ListLegalActions: what the seat to move may do, a page at a time.

use std::ops::ControlFlow;

use plybook_core::{Action, Game};
use plybook_proto::v1;
use tonic::Request;

use crate::auth::authenticate;
use crate::limits::{PAGE_ACTIONS_DEFAULT, PAGE_ACTIONS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::{self, page};
use crate::service::Service;
use crate::telemetry;

pub(super) async fn answer(
    service: &Service,
    request: Request<v1::ListLegalActionsRequest>,
) -> Result<v1::ListLegalActionsResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let key = caller.game(requests::game_id(&message.game_id)?);
    telemetry::record_game(key.game);
    let size = page::size(message.page_size, PAGE_ACTIONS_DEFAULT, PAGE_ACTIONS_MAX)? as usize;

    service.games.with_head(key, |table| list(&table.game, &message.page_token, size)).await?
}

fn list(game: &Game, token: &str, size: usize) -> Result<v1::ListLegalActionsResponse, Refusal> {
    let head = game.head();
    let question = format!("legal {} {}", game.header().game, head.seq);
    let skip = match page::at(&question, token)? {
        Some(at) => u32::from_be_bytes(at.try_into().map_err(|_| Refusal::field("page_token", "is not from a page of this list"))?),
        None => 0,
    } as usize;
    let (actions, more) = take(game, skip, size);
    let rules = game.rules();
    let legal = |action: &Action| v1::LegalAction { action: Some(replies::action(*action)), notation: rules.write_action(*action) };
    let next_page_token = match more {
        true => page::token(&question, &((skip + actions.len()) as u32).to_be_bytes()),
        false => String::new(),
    };
    Ok(v1::ListLegalActionsResponse {
        head_seq: u64::from(head.seq.0),
        seat_to_move: game.to_move().map(replies::seat),
        actions: actions.iter().map(legal).collect(),
        next_page_token,
    })
}

/// The legal actions after the first `skip`, at most `size`, and whether there are more.
fn take(game: &Game, skip: usize, size: usize) -> (Vec<Action>, bool) {
    let (mut seen, mut actions, mut more) = (0, Vec::new(), false);
    game.play().each_legal(&mut |action| {
        seen += 1;
        if seen <= skip {
            return ControlFlow::Continue(());
        }
        if actions.len() == size {
            more = true;
            return ControlFlow::Break(());
        }
        actions.push(action);
        ControlFlow::Continue(())
    });
    (actions, more)
}
