//! ListStrategies: how this node can choose moves.

use plybook_bots::strategy::Card;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::page;
use crate::service::Service;

const QUESTION: &str = "strategies";

pub(super) fn answer(service: &Service, request: Request<v1::ListStrategiesRequest>) -> Result<v1::ListStrategiesResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let size = page::size(message.page_size, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)? as usize;
    let after = page::at(QUESTION, &message.page_token)?;
    // Versions in the order of numbers, as the registry has them.
    let place = |card: &Card| [card.name.as_bytes(), &[0], &card.version.to_be_bytes()].concat();
    caller.may(Rpc::ListStrategies)?;
    let bots = service.thinking.bots();
    let mut rest = bots.cards().skip_while(|card| after.as_ref().is_some_and(|after| place(card) <= *after));
    let page: Vec<Card> = rest.by_ref().take(size).collect();
    let next_page_token = match (page.last(), rest.next()) {
        (Some(last), Some(_)) => page::token(QUESTION, &place(last)),
        _ => String::new(),
    };
    let is_default = |card: &Card| bots.find(card.name, None).is_ok_and(|newest| newest.card().version == card.version);
    let strategies = page.iter().map(|card| replies::advice::strategy(card, is_default(card))).collect();
    Ok(v1::ListStrategiesResponse { strategies, next_page_token })
}
