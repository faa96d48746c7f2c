//! The contract's messages, checked for shape.
//!
//! Invariant: what passes here fits its limits and says everything that it must; whether it makes
//! sense is the game's to say. Two copies of a request have the same [`RequestKey`].

pub mod advice;
pub mod canon;
pub mod fork;
pub mod joining;
pub mod life;
pub mod page;
pub mod plan;
pub mod seat_token;
pub mod terms;

use std::time::Duration;

use plybook_core::action::Column;
use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Request};
use plybook_core::{Action, Cell, Seat, Seq};
use plybook_proto::v1;
use plybook_store::{GameKey, RequestKey};
use uuid::Uuid;

use crate::auth::Caller;
use crate::limits;
use crate::refusal::Refusal;
use canon::Canon;

/// A request to one game.
pub struct Asked {
    /// Which game.
    pub key: GameKey,
    /// Which request.
    pub id: RequestKey,
    /// What.
    pub request: Request,
}

/// The shape of a MakeMove.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn make_move(caller: &Caller, message: &v1::MakeMoveRequest) -> Result<Asked, Refusal> {
    let id = request_id(&message.request_id)?;
    let key = caller.game(game_id(&message.game_id)?);
    let expected = expected_seq(message.expected_seq)?;
    let seat = required_seat(message.seat)?;
    let shape = message.action.as_ref().and_then(|action| action.shape.as_ref());
    let shape = shape.ok_or_else(|| Refusal::field("action", "is required"))?;
    let ask = ask(shape);
    let canon = Canon::of("MakeMove").number(expected.0.into()).number(seat.0.into());
    let hash = action(shape, canon);
    let actor = Actor { seat: Some(seat), by: caller.principal.clone() };
    Ok(Asked { key, id: RequestKey { id, hash: hash.hash() }, request: Request { actor, expected, ask } })
}

/// The shape of an Undo.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn undo(caller: &Caller, message: &v1::UndoRequest) -> Result<Asked, Refusal> {
    let id = request_id(&message.request_id)?;
    let key = caller.game(game_id(&message.game_id)?);
    let expected = expected_seq(message.expected_seq)?;
    let seat = required_seat(message.seat)?;
    let target = message.target_seq.map(seq);
    let canon = Canon::of("Undo").number(expected.0.into()).number(seat.0.into());
    let hash = canon.number(target.map_or(0, |target| 1 + u64::from(target.0))).hash();
    let actor = Actor { seat: Some(seat), by: caller.principal.clone() };
    Ok(Asked { key, id: RequestKey { id, hash }, request: Request { actor, expected, ask: Ask::Undo(target) } })
}

/// The shape of a CloseGame.
#[tracing::instrument(name = "check", target = "plybook_step", skip_all)]
pub fn close(caller: &Caller, message: &v1::CloseGameRequest) -> Result<Asked, Refusal> {
    let id = request_id(&message.request_id)?;
    let key = caller.game(game_id(&message.game_id)?);
    let expected = expected_seq(message.expected_seq)?;
    let hash = Canon::of("CloseGame").number(expected.0.into()).hash();
    let actor = Actor { seat: None, by: caller.principal.clone() };
    Ok(Asked { key, id: RequestKey { id, hash }, request: Request { actor, expected, ask: Ask::Close } })
}

fn ask(shape: &v1::action::Shape) -> Ask {
    use v1::action::Shape;
    match shape {
        Shape::Place(place) => Ask::Move(Action::Place(Cell(place.cell))),
        Shape::Drop(drop) => Ask::Move(Action::Drop(Column(drop.column))),
        Shape::Pop(pop) => Ask::Move(Action::Pop(Column(pop.column))),
        Shape::Roll(_) => Ask::Move(Action::Roll),
        Shape::Notation(text) => Ask::MoveText(text.clone()),
    }
}

fn action(shape: &v1::action::Shape, canon: Canon) -> Canon {
    use v1::action::Shape;
    match shape {
        Shape::Place(place) => canon.text("place").number(place.cell.into()),
        Shape::Drop(drop) => canon.text("drop").number(drop.column.into()),
        Shape::Pop(pop) => canon.text("pop").number(pop.column.into()),
        Shape::Roll(_) => canon.text("roll"),
        Shape::Notation(text) => canon.text("notation").text(text),
    }
}

/// A game's id.
pub fn game_id(text: &str) -> Result<Uuid, Refusal> {
    if text.is_empty() {
        return Err(Refusal::field("game_id", "is required"));
    }
    Uuid::try_parse(text).map_err(|_| Refusal::field("game_id", "is not a UUID"))
}

/// A request's id.
pub fn request_id(text: &str) -> Result<Uuid, Refusal> {
    match Uuid::try_parse(text) {
        Ok(id) if !id.is_nil() => Ok(id),
        _ => Err(Refusal::InvalidRequestId),
    }
}

/// A number of an entry; one beyond every entry where it is too large to be one.
pub fn seq(number: u64) -> Seq {
    Seq(u32::try_from(number).unwrap_or(u32::MAX))
}

fn expected_seq(number: Option<u64>) -> Result<Seq, Refusal> {
    let why = "is required: the number of the last entry that you decided on, 1 before the first move";
    let number = number.ok_or_else(|| Refusal::field("expected_seq", why))?;
    u32::try_from(number).map(Seq).map_err(|_| Refusal::field("expected_seq", format!("no game has an entry {number}")))
}

fn required_seat(number: Option<u32>) -> Result<Seat, Refusal> {
    seat_numbered(number.ok_or_else(|| Refusal::field("seat", "is required: seats are numbered from 0"))?)
}

fn seat_numbered(number: u32) -> Result<Seat, Refusal> {
    u8::try_from(number).map(Seat).map_err(|_| Refusal::field("seat", format!("there is no seat {number}")))
}

/// The interval of heartbeats, held between its limits.
pub fn heartbeat(wanted: Option<&prost_types::Duration>) -> Result<Duration, Refusal> {
    let (least, most, default) = limits::HEARTBEAT_SECONDS;
    let Some(wanted) = wanted else { return Ok(Duration::from_secs(default)) };
    let wanted = Duration::try_from(*wanted).map_err(|_| Refusal::field("heartbeat_interval", "is negative"))?;
    Ok(wanted.clamp(Duration::from_secs(least), Duration::from_secs(most)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use plybook_proto::v1::action::Shape;
    use plybook_proto::v1::{self, Action};

    use super::{close, make_move, undo};
    use crate::auth::Caller;

    const ID: &str = "01900000-0000-7000-8000-000000000001";

    fn hex(hash: [u8; 32]) -> String {
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// A stored hash must be found again by every later release: these never change.
    #[test]
    fn hashes_of_requests_are_pinned() {
        let caller = Caller::anonymous().unwrap();
        let moved = |shape: Shape| {
            let action = Some(Action { shape: Some(shape) });
            let (request_id, game_id) = (ID.to_owned(), ID.to_owned());
            let message = v1::MakeMoveRequest {
                request_id,
                game_id,
                expected_seq: Some(7),
                seat: Some(1),
                action,
                with_position: true,
                with_receipt: true,
            };
            hex(make_move(&caller, &message).unwrap().id.hash)
        };
        let undone = |target_seq: Option<u64>| {
            let (request_id, game_id) = (ID.to_owned(), ID.to_owned());
            let message = v1::UndoRequest {
                request_id,
                game_id,
                expected_seq: Some(7),
                seat: Some(1),
                target_seq,
                with_position: true,
                with_receipt: true,
            };
            hex(undo(&caller, &message).unwrap().id.hash)
        };
        let closed = v1::CloseGameRequest { request_id: ID.to_owned(), game_id: ID.to_owned(), expected_seq: Some(7), with_receipt: true };
        let hashes = [
            moved(Shape::Place(v1::Place { cell: 5 })),
            moved(Shape::Drop(v1::Drop { column: 5 })),
            moved(Shape::Pop(v1::Pop { column: 5 })),
            moved(Shape::Roll(v1::Roll {})),
            moved(Shape::Notation("b2".to_owned())),
            undone(None),
            undone(Some(0)),
            undone(Some(6)),
            hex(close(&caller, &closed).unwrap().id.hash),
        ];
        let pinned = [
            "9afef8f80aeead5e",
            "befcad14603d1a4a",
            "8fb63f869c9a6ea4",
            "5fc950ff5f2c37b9",
            "41dcc64e2424fa1c",
            "3e80fdb5f9a5fead",
            "c1d4bea526c0ef95",
            "04596ad3813eda57",
            "2fae9629145e6635",
        ];
        assert_eq!(hashes, pinned);
    }
    #[test]
    fn the_hash_of_a_creation_is_pinned() {
        use v1::param_value::Value;
        let caller = Caller::anonymous().unwrap();
        let list = Value::IntList(v1::IntList { values: vec![-1, 2] });
        let values = [("a", Value::IntValue(-3)), ("b", Value::BoolValue(true)), ("c", Value::StringValue("w".to_owned())), ("d", list)];
        let params = values.map(|(name, value)| (name.to_owned(), v1::ParamValue { value: Some(value) })).into();
        let plain = v1::CreateGameRequest {
            request_id: ID.to_owned(),
            ruleset: Some(v1::RulesetSpec { id: "mnk".to_owned(), ..Default::default() }),
            seats: vec![v1::Seat::default(); 2],
            ..Default::default()
        };
        let whole = v1::CreateGameRequest {
            request_id: ID.to_owned(),
            ruleset: Some(v1::RulesetSpec { id: "mnk".to_owned(), version: 1, params }),
            seats: vec![v1::Seat { player_id: "ann".to_owned(), ..Default::default() }; 1],
            undo_policy: Some(v1::UndoPolicy { by: v1::UndoBy::Free.into(), over_throw: true, after_end: false }),
            seed: vec![7; 32],
            with_receipt: true,
            ..Default::default()
        };
        let asking = v1::CreateGameRequest {
            joint_entropy: Some(v1::JointEntropy {
                step_time: Some(prost_types::Duration { seconds: 60, nanos: 0 }),
                if_absent: v1::IfAbsent::Forfeit.into(),
            }),
            receipt_policy: v1::ReceiptPolicy::Always.into(),
            ..whole.clone()
        };
        let hashes = [plain, whole, asking].map(|message| hex(super::plan::create(&caller, message).unwrap().request.hash));
        assert_eq!(hashes, ["917325aa4070531f", "e7d1ff38d63fb8a7", "fad109ddab160e44"]);
    }
}
