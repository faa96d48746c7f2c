//! What of a refused request is remembered.
//!
//! Invariant: every request to a game comes by here once it is refused, whether or not its caller still
//! waits; it costs the caller no look into the store, and no more than these lines.

use plybook_core::entry::Actor;
use plybook_core::game::{Ask, Request};
use plybook_core::{Action, Rules};
use plybook_store::refused::{ASKED_BYTES_MAX, DETAIL_BYTES_MAX, Refused};
use plybook_store::{GameKey, RequestKey};

use crate::games::Games;
use crate::refusal::{Refusal, cut_to};
use crate::status::Verdict;

impl Games {
    /// Notes a request that the game or its policy refused; nothing else.
    pub(super) async fn note_refused(&self, key: GameKey, id: RequestKey, request: &Request, refusal: &Refusal) {
        let Some(verdict) = Verdict::of(refusal) else { return };
        let opened = self.opened.get(&key).await;
        let Actor { seat, by } = &request.actor;
        self.refusals.note(Refused {
            key,
            at: self.clock.now(),
            principal: by.to_string(),
            seat: seat.map(|seat| seat.0),
            asked: cut_to(&asked(&request.ask, opened.as_ref().and_then(|opened| opened.rules.as_deref().ok())), ASKED_BYTES_MAX),
            request_id: id.id,
            expected: request.expected,
            head: verdict.head,
            reason: verdict.reason.to_owned(),
            detail: cut_to(&verdict.detail, DETAIL_BYTES_MAX),
        });
    }
}

/// What was asked, in a few words.
fn asked(ask: &Ask, rules: Option<&dyn Rules>) -> String {
    match ask {
        Ask::Move(action) => named(*action, rules).unwrap_or_else(|| shape(*action)),
        Ask::MoveText(text) => format!("move {text}"),
        Ask::Undo(Some(seq)) => format!("undo {seq}"),
        Ask::Undo(None) => "undo".to_owned(),
        Ask::Act(act) => act.to_string(),
        Ask::Close => "close".to_owned(),
        // A nonce is its seat's to show: a refused one is told to nobody.
        Ask::Commit(_) => "commit".to_owned(),
        Ask::Reveal(_) => "reveal".to_owned(),
    }
}

/// In the ruleset's notation, if the action has a name in it.
fn named(action: Action, rules: Option<&dyn Rules>) -> Option<String> {
    let rules = rules?;
    let notation = rules.write_action(action);
    (rules.read_action(&notation) == Some(action)).then(|| format!("move {notation}"))
}

/// As it was sent.
fn shape(action: Action) -> String {
    let name = action.shape().name();
    match action {
        Action::Place(cell) => format!("{name} {}", cell.0),
        Action::Drop(column) | Action::Pop(column) => format!("{name} {}", column.0),
        Action::Roll => name.to_owned(),
    }
}
