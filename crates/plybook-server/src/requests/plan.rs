//! The shape of a CreateGame.

use std::collections::BTreeMap;

use plybook_core::header::{Place, UndoBy, UndoPolicy, check_place, check_undo};
use plybook_core::limits::SEATS_MAX;
use plybook_core::{ParamValue, Seed};
use plybook_proto::v1::{self, param_value::Value};
use plybook_store::RequestKey;

use crate::auth::Caller;
use crate::games::create::Plan;
use crate::limits;
use crate::refusal::{Refusal, echo};
use crate::requests::{canon::Canon, joining, request_id, terms};

/// Marks where the caller names none: the first that are free.
const MARKS: [&str; SEATS_MAX as usize] = ["X", "O", "A", "B", "C", "D", "E", "F"];

/// The shape of a CreateGame.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn create(caller: &Caller, message: v1::CreateGameRequest) -> Result<Plan, Refusal> {
    let id = request_id(&message.request_id)?;
    let ruleset = message.ruleset.ok_or_else(|| Refusal::field("ruleset", "is required"))?;
    if ruleset.id.is_empty() {
        return Err(Refusal::field("ruleset.id", "is required"));
    }
    if ruleset.params.len() > limits::PARAMS_MAX {
        return Err(Refusal::Limit { limit: "params", most: limits::PARAMS_MAX as u64 });
    }
    let params = ruleset.params.into_iter().map(param).collect::<Result<BTreeMap<_, _>, _>>()?;
    let (asked_seats, asked_undo) = (message.seats.clone(), message.undo_policy.unwrap_or_default());
    let seats = seats(message.seats)?;
    let bots = terms::bots(&asked_seats, message.terms.as_ref())?;
    let undo = undo(asked_undo)?;
    let seed = seed(&message.seed)?;
    let entropy = joining::entropy(message.joint_entropy.as_ref())?;
    let receipts = joining::receipts(message.receipt_policy)?;
    let asked_terms = terms::terms(message.terms.as_ref())?;
    let version = (ruleset.version != 0).then_some(ruleset.version);
    let canon = canon(&ruleset.id, ruleset.version, &params, &asked_seats, asked_undo, &message.seed);
    let canon = policies(canon, message.joint_entropy.as_ref(), message.receipt_policy);
    let hash = terms::canon(canon, &asked_seats, message.terms.as_ref()).hash();
    let request = RequestKey { id, hash };
    Ok(Plan {
        tenant: caller.tenant,
        by: caller.principal.clone(),
        request,
        ruleset: ruleset.id,
        version,
        params,
        seats,
        undo,
        entropy,
        receipts,
        bots,
        terms: asked_terms,
        seed,
    })
}

/// What came into the contract later is hashed only where it is asked for, so that earlier requests stay what they were.
pub(super) fn policies(mut canon: Canon, joint: Option<&v1::JointEntropy>, receipts: i32) -> Canon {
    if let Some(joint) = joint {
        let seconds = joint.step_time.map_or(0, |time| time.seconds);
        canon = canon.text("joint_entropy").signed(seconds).signed(joint.if_absent.into());
    }
    if receipts != 0 {
        canon = canon.text("receipt_policy").signed(receipts.into());
    }
    canon
}

/// Everything is taken as the caller gave it, so that other defaults in a later release make no other
/// request of the same one.
fn canon(
    ruleset: &str,
    version: u32,
    params: &BTreeMap<String, ParamValue>,
    seats: &[v1::Seat],
    undo: v1::UndoPolicy,
    seed: &[u8],
) -> Canon {
    let mut canon = Canon::of("CreateGame").text(ruleset).number(version.into()).number(params.len() as u64);
    for (name, value) in params {
        canon = canon.text(name);
        canon = match value {
            ParamValue::Int(n) => canon.text("int").signed(*n),
            ParamValue::Bool(flag) => canon.text("bool").flag(*flag),
            ParamValue::Text(word) => canon.text("text").text(word),
            ParamValue::IntList(list) => list.iter().fold(canon.text("int_list").number(list.len() as u64), |canon, n| canon.signed(*n)),
        };
    }
    canon = canon.number(seats.len() as u64);
    for seat in seats {
        canon = canon.text(&seat.mark).text(&seat.player_id);
    }
    let by = match undo.by() {
        v1::UndoBy::Unspecified => "unspecified",
        v1::UndoBy::None => "none",
        v1::UndoBy::OwnLastMove => "own_last_move",
        v1::UndoBy::Free => "free",
        v1::UndoBy::Agreement => "agreement",
    };
    canon.text(by).flag(undo.over_throw).flag(undo.after_end).bytes(seed)
}

fn param((name, value): (String, v1::ParamValue)) -> Result<(String, ParamValue), Refusal> {
    let value = match value.value {
        Some(Value::IntValue(n)) => ParamValue::Int(n),
        Some(Value::BoolValue(flag)) => ParamValue::Bool(flag),
        Some(Value::StringValue(word)) => ParamValue::Text(word),
        Some(Value::IntList(list)) => ParamValue::IntList(list.values),
        None => return Err(Refusal::field(format!("ruleset.params.{}", echo(&name)), "has no value")),
    };
    Ok((name, value))
}

fn seats(given: Vec<v1::Seat>) -> Result<Vec<Place>, Refusal> {
    if given.is_empty() {
        return Err(Refusal::field("seats", "at least one is required"));
    }
    if given.len() > usize::from(SEATS_MAX) {
        return Err(Refusal::Limit { limit: "seats", most: u64::from(SEATS_MAX) });
    }
    let taken: Vec<String> = given.iter().map(|seat| seat.mark.clone()).collect();
    let mut free = MARKS.iter().filter(|mark| taken.iter().all(|taken| taken != *mark));
    let mut seats: Vec<Place> = Vec::new();
    for (seat, given) in given.into_iter().enumerate() {
        let mark = match given.mark.is_empty() {
            true => free.next().map_or_else(String::new, |mark| (*mark).to_owned()),
            false => given.mark,
        };
        if mark.chars().chain(given.player_id.chars()).any(misleads) {
            return Err(Refusal::field(format!("seats[{seat}]"), "a mark or player has invisible characters that turn or hide text"));
        }
        let place = Place { mark, player: given.player_id };
        check_place(&place, &seats).map_err(|why| Refusal::field(format!("seats[{seat}]"), why))?;
        seats.push(place);
    }
    Ok(seats)
}

/// Characters that are invisible and turn the text after them, or hide where it ends.
const fn misleads(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

fn undo(policy: v1::UndoPolicy) -> Result<UndoPolicy, Refusal> {
    let by = match v1::UndoBy::try_from(policy.by) {
        Ok(v1::UndoBy::Unspecified | v1::UndoBy::OwnLastMove) => UndoBy::OwnLastMove,
        Ok(v1::UndoBy::None) => UndoBy::None,
        Ok(v1::UndoBy::Free) => UndoBy::Free,
        Ok(v1::UndoBy::Agreement) => UndoBy::Agreement,
        Err(_) => return Err(Refusal::field("undo_policy.by", format!("{} is not one of its values", policy.by))),
    };
    let policy = UndoPolicy { by, over_throw: policy.over_throw, after_end: policy.after_end };
    check_undo(policy).map_err(|why| Refusal::field("undo_policy", why))?;
    Ok(policy)
}

fn seed(bytes: &[u8]) -> Result<Option<Seed>, Refusal> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let seed: [u8; 32] = bytes.try_into().map_err(|_| Refusal::field("seed", "has 32 bytes"))?;
    Ok(Some(Seed::new(seed)))
}
