//! SuggestMove: what a strategy would play.

use std::sync::Arc;

use plybook_bots::{Bots, Strategy, View};
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::{self, advice};
use crate::service::Service;
use crate::service::advising::Asked;

/// Who chooses where nobody is named: the first that plays the game.
const UNNAMED: [&str; 2] = ["perfect", "minimax"];

pub(super) async fn answer(service: &Service, request: Request<v1::SuggestMoveRequest>) -> Result<v1::SuggestMoveResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let game = requests::game_id(&message.game_id)?;
    let bots = service.thinking.bots();
    let named = message.strategy.as_ref().map(|spec| advice::strategy(bots, spec)).transpose()?;
    // Before the game is looked for: a limit belongs to the shape of a request.
    let most = service.limits.advice_nodes_max;
    advice::within(message.nodes, most, named.as_ref().map(|strategy| strategy.card()).as_ref())?;
    let key = caller.may_see(Rpc::SuggestMove, game)?;
    let asked = Asked::of(service, key, message.at_seq).await?;
    let strategy = playing(bots, named, &asked.view())?;
    let card = strategy.card();
    let budget = advice::budget(message.nodes, most, &card)?;
    let place = service.thinking.place_for_advice().await?;
    let choose = service.thinking.think(place, asked.question(budget), move |view, meter, chance| {
        let choice = strategy.choose(view, meter, chance)?;
        let cells = replies::advice::cells(view, &[choice.action]);
        let score = replies::advice::score(choice.score.meaning(choice.counted, choice.exact), choice.exact);
        let cells = cells.into_iter().next().unwrap_or_default();
        Ok((replies::advice::scored(view.rules(), choice.action, score, cells), choice.nodes))
    });
    let (suggestion, nodes) = choose.await?;
    Ok(v1::SuggestMoveResponse {
        head_seq: asked.head_seq(),
        seat_to_move: replies::seat(asked.seat),
        suggestion: Some(suggestion),
        strategy: Some(v1::StrategySpec { id: card.name.to_owned(), version: card.version }),
        nodes,
    })
}

/// The strategy that was named, or one that plays this game.
fn playing(bots: &Bots, named: Option<Arc<dyn Strategy>>, view: &View<'_>) -> Result<Arc<dyn Strategy>, Refusal> {
    if let Some(strategy) = named {
        let plays = strategy.plays(view);
        let does_not = || Refusal::field("strategy.id", format!("{} does not play this game", strategy.card().id()));
        return plays.then(|| Arc::clone(&strategy)).ok_or_else(does_not);
    }
    let mut there = UNNAMED.iter().filter_map(|name| bots.find(name, None).ok());
    let fits = there.find(|strategy| strategy.plays(view)).map(Arc::clone);
    fits.ok_or_else(|| Refusal::field("strategy", "is required: none of this node's own plays this game"))
}
