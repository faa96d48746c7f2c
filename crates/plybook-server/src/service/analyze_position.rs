//! AnalyzePosition: what every legal action is worth, and who threatens what.

use plybook_bots::{Analysis, View, analyse};
use plybook_core::Seat;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::limits::{ADVICE_ACTIONS_DEFAULT, ADVICE_ACTIONS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::{self, advice};
use crate::service::Service;
use crate::service::advising::Asked;

pub(super) async fn answer(
    service: &Service,
    request: Request<v1::AnalyzePositionRequest>,
) -> Result<v1::AnalyzePositionResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let game = requests::game_id(&message.game_id)?;
    let most = advice::most_actions(message.max_actions, ADVICE_ACTIONS_DEFAULT, ADVICE_ACTIONS_MAX)?;
    let budget = advice::analysis_budget(message.nodes, service.limits.advice_nodes_max)?;
    let key = caller.may_see(Rpc::AnalyzePosition, game)?;
    let asked = Asked::of(service, key, message.at_seq).await?;
    let place = service.thinking.place_for_advice().await?;
    let look = service.thinking.think(place, asked.question(budget), move |view, meter, chance| {
        let analysis = analyse(view, meter, chance)?;
        Ok(told(view, analysis, most))
    });
    let found = look.await?;
    Ok(v1::AnalyzePositionResponse { head_seq: asked.head_seq(), seat_to_move: replies::seat(asked.seat), ..found })
}

/// What was found, as much as was asked for.
fn told(view: &View<'_>, mut found: Analysis, most: usize) -> v1::AnalyzePositionResponse {
    let left_out = found.actions.len().saturating_sub(most) as u32;
    found.actions.truncate(most);
    let actions: Vec<_> = found.actions.iter().map(|(action, _)| *action).collect();
    let cells = replies::advice::cells(view, &actions);
    let scored = |((action, score), cells)| {
        let exact = found.is_exact(score);
        let score = replies::advice::score(score.meaning(found.counted, exact), exact);
        replies::advice::scored(view.rules(), action, score, cells)
    };
    let actions = found.actions.iter().copied().zip(cells).map(scored).collect();
    let threats = (0..).map(Seat).zip(&found.threats).map(|(seat, threats)| {
        let threats = &threats[..threats.len().min(most)];
        replies::advice::threats(view, seat, threats)
    });
    let (exact, nodes) = (found.complete, found.nodes);
    v1::AnalyzePositionResponse { actions, left_out, exact, threats: threats.collect(), nodes, ..v1::AnalyzePositionResponse::default() }
}
