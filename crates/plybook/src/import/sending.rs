//! One plan carried out against the servers.
//!
//! Invariant: every request carries the id of its place in the plan, so carrying the plan out again
//! finds what is there and adds what is missing.

use plybook_client::{Client, Error};
use plybook_proto::v1;
use plybook_proto::v1::ErrorReason;

use super::acting;
use super::ids::GameIds;
use super::plan::{Plan, Step};

/// A game that stands in the server as in the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The game.
    pub(crate) game_id: String,
    /// Entries of its book.
    pub(crate) entries: u64,
    /// Whether it stood there before anything was sent.
    pub(crate) before: bool,
}

/// Why a plan was not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The server said no, or its game differs.
    Refused {
        /// The game, if it was created.
        game_id: Option<String>,
        /// Why.
        why: String,
    },
    /// No server answered.
    Unavailable(String),
}

/// Carries out a plan and holds the result against the record.
pub(crate) async fn send(client: &Client, plan: &Plan, ids: GameIds) -> Result<Sent, Unsent> {
    let create = v1::CreateGameRequest { request_id: ids.create(), ..plan.create.clone() };
    let game = client.create_game(create).await.map_err(|error| unsent(error, None, "it cannot be created"))?;
    let game_id = game.game_id;
    let head = client.game(&game_id, None).await.map_err(|error| unsent(error, Some(&game_id), "it cannot be read"))?.seq;
    for (n, step) in plan.steps.iter().enumerate() {
        let event = take(client, &game_id, step, n, ids.step(n)).await;
        let event = event.map_err(|error| unsent(error, Some(&game_id), &format!("step {}", n + 1)))?;
        let seq = event.map_or(0, |event| event.seq);
        if seq != n as u64 + 2 {
            let why = format!("step {} became entry {seq}, not {}", n + 1, n + 2);
            return Err(Unsent::Refused { game_id: Some(game_id), why });
        }
    }
    let game = client.game(&game_id, None).await.map_err(|error| unsent(error, Some(&game_id), "it cannot be read"))?;
    let entries = plan.steps.len() as u64 + 1;
    let stands = if game.seq == entries {
        plan.after.check(&game)
    } else {
        Err(format!("its book has {} entries, the record {entries}: somebody else appended to it", game.seq))
    };
    match stands {
        Ok(()) => {
            // Nothing tells a book of one entry that was just created from one that was there.
            let before = entries > 1 && head == entries;
            Ok(Sent { game_id, entries, before })
        }
        Err(why) => Err(Unsent::Refused { game_id: Some(game_id), why }),
    }
}

async fn take(client: &Client, game_id: &str, step: &Step, n: usize, request_id: String) -> Result<Option<Box<v1::Event>>, Error> {
    let game_id = game_id.to_owned();
    let expected_seq = Some(n as u64 + 1);
    match step {
        Step::Move { seat, notation } => {
            let action = Some(v1::Action { shape: Some(v1::action::Shape::Notation(notation.clone())) });
            let request = v1::MakeMoveRequest {
                request_id,
                game_id,
                expected_seq,
                seat: Some(*seat),
                action,
                with_position: false,
                with_receipt: false,
            };
            Ok(client.make_move(request).await?.event)
        }
        Step::Undo { seat, target } => {
            let request = v1::UndoRequest {
                request_id,
                game_id,
                expected_seq,
                seat: *seat,
                target_seq: Some(*target),
                with_position: false,
                with_receipt: false,
            };
            Ok(client.undo(request).await?.event)
        }
        Step::Act { seat, asked } => {
            acting::act(client, game_id, seat.map(|seat| u32::from(seat.0)), *asked, (request_id, expected_seq)).await
        }
        Step::Close => Ok(client.close_game(v1::CloseGameRequest { request_id, game_id, expected_seq, with_receipt: false }).await?.event),
    }
}

pub(super) fn unsent(error: Error, game_id: Option<&str>, what: &str) -> Unsent {
    match error {
        Error::Unavailable(unavailable) => Unsent::Unavailable(unavailable.to_string()),
        Error::Refused(refused) => {
            let mut why = format!("{what}: {}", crate::words::refusal(&refused, &[]).trim_start_matches("Refused: ").replace('\n', " "));
            if refused.is(ErrorReason::RequestIdReused) {
                why.push_str("; it was imported before under other rules or options: give this import a name of its own with --batch");
            }
            Unsent::Refused { game_id: game_id.map(str::to_owned), why }
        }
    }
}
