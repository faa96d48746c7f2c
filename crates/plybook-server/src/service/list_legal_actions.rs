//! ListLegalActions: what the seat to move may do, a page at a time.
//!
//! Invariant: a page costs what it shows, however many pages came before: a token says how many
//! candidates were passed, legal or not.

use std::ops::ControlFlow;

use plybook_core::{Action, Game};
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
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
    let game = requests::game_id(&message.game_id)?;
    telemetry::record_game(game);
    let size = page::size(message.page_size, PAGE_ACTIONS_DEFAULT, PAGE_ACTIONS_MAX)? as usize;
    let key = caller.may_see(Rpc::ListLegalActions, game)?;

    // Trying a page of candidates may take long: not under the game's lock, nor on a runtime's thread.
    let game = service.games.with_head(key, |table| table.game.clone()).await?;
    let listed = tokio::task::spawn_blocking(move || list(&game, &message.page_token, size)).await;
    listed.map_err(|error| Refusal::internal(format!("listing actions panicked: {error}")))?
}

fn list(game: &Game, token: &str, size: usize) -> Result<v1::ListLegalActionsResponse, Refusal> {
    let head = game.head();
    let question = format!("legal {} {}", game.header().game, head.seq);
    let passed = match page::at(&question, token)? {
        Some(at) => u32::from_be_bytes(at.try_into().map_err(|_| page::foreign())?),
        None => 0,
    };
    let (actions, next) = take(game, passed, size);
    let rules = game.rules();
    let legal = |action: &Action| v1::LegalAction { action: Some(replies::action(*action)), notation: rules.write_action(*action) };
    Ok(v1::ListLegalActionsResponse {
        head_seq: u64::from(head.seq.0),
        seat_to_move: game.to_move().map(replies::seat),
        actions: actions.iter().map(legal).collect(),
        next_page_token: next.map_or_else(String::new, |next| page::token(&question, &next.to_be_bytes())),
    })
}

/// The legal ones of the candidates after the first `passed`, at most `size`, and how many candidates
/// stand before the next legal one.
fn take(game: &Game, passed: u32, size: usize) -> (Vec<Action>, Option<u32>) {
    let (Some(seat), play) = (game.to_move(), game.play()) else { return (Vec::new(), None) };
    let (mut offered, mut actions, mut next) = (0, Vec::new(), None);
    play.rules().candidates(play.position(), seat, &mut |action| {
        let place = offered;
        offered += 1;
        // What an earlier page tried is not tried again.
        if place < passed || !play.is_legal(action) {
            return ControlFlow::Continue(());
        }
        if actions.len() == size {
            next = Some(place);
            return ControlFlow::Break(());
        }
        actions.push(action);
        ControlFlow::Continue(())
    });
    (actions, next)
}
