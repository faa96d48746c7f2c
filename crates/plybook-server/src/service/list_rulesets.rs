//! ListRulesets: what this node can play.

use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::limits::{PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};
use crate::refusal::Refusal;
use crate::replies;
use crate::requests::page;
use crate::service::Service;

const QUESTION: &str = "rulesets";

pub(super) fn answer(service: &Service, request: Request<v1::ListRulesetsRequest>) -> Result<v1::ListRulesetsResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let size = page::size(message.page_size, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX)? as usize;
    let after = page::at(QUESTION, &message.page_token)?;
    caller.may(Rpc::ListRulesets)?;
    let place = |card: &plybook_core::Card| card.id().to_string().into_bytes();
    let mut rest = service.games.registry().cards().skip_while(|card| after.as_ref().is_some_and(|after| place(card) <= *after));
    let page: Vec<&plybook_core::Card> = rest.by_ref().take(size).collect();
    let next_page_token = match (page.last(), rest.next()) {
        (Some(last), Some(_)) => page::token(QUESTION, &place(last)),
        _ => String::new(),
    };
    let registry = service.games.registry();
    let is_default = |card: &plybook_core::Card| registry.card(card.name, None).is_ok_and(|default| default.version == card.version);
    let rulesets = page.into_iter().map(|card| replies::ruleset::card(card, is_default(card))).collect();
    Ok(v1::ListRulesetsResponse { rulesets, next_page_token })
}
