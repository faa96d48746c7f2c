//! `.ply` books sent as they are, to be kept as evidence.
//!
//! Invariant: what is sent is the file, byte for byte. A book that does not hold in form or digests is refused
//! before it is sent; one that no rules accept is kept, and what is wrong with it is told.

use std::path::Path;

use plybook_client::Client;
use plybook_core::entry::Body;
use plybook_core::{Book, Game, Outcome};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use tokio::sync::Semaphore;

use super::plan::After;
use super::sending::{Unsent, unsent};

/// Files on their way at once. A server takes so many by default; more would be sent away and come again.
const AT_ONCE: usize = 2;

/// The way for books to a server.
pub(super) struct Uploads<'a> {
    client: &'a Client,
    free: Semaphore,
}

/// A book that is kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) game_id: String,
    pub(super) moves: usize,
    pub(super) entries: u64,
    /// Of the last position, where the rules of this build lead there.
    pub(super) position_digest: Option<String>,
    pub(super) outcome: Option<Outcome>,
    /// What is wrong with it, or why that is not known.
    pub(super) doubt: Option<String>,
    /// Whether the same file was kept before.
    pub(super) before: bool,
}

/// What a book shows to who reads it here.
struct Shown {
    moves: usize,
    after: Option<After>,
    outcome: Option<Outcome>,
}

impl<'a> Uploads<'a> {
    /// To the server of this client.
    pub(super) fn of(client: &'a Client) -> Uploads<'a> {
        Uploads { client, free: Semaphore::new(AT_ONCE) }
    }

    /// Has a file kept.
    pub(super) async fn keep(&self, path: &Path) -> Result<Kept, Unsent> {
        let refused = |why: String| Unsent::Refused { game_id: None, why };
        let _turn = self.free.acquire().await.map_err(|error| refused(error.to_string()))?;
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        let shown = Book::parse(&text).map(|book| shown(&book)).map_err(|error| refused(error.to_string()))?;
        let kept = self.client.import_book(text.into_bytes()).await.map_err(|error| unsent(error, None, "it is not kept"))?;
        Ok(Kept {
            doubt: doubt(kept.verification.as_ref()),
            game_id: kept.game_id,
            moves: shown.moves,
            entries: kept.entries,
            position_digest: shown.after.map(|after| after.position_digest.to_string()),
            outcome: shown.outcome,
            before: kept.repeated,
        })
    }
}

fn shown(book: &Book) -> Shown {
    let mut shown = Shown { moves: 0, after: None, outcome: None };
    let mut game = Registry::standard().rules_of(book.header()).ok().map(|rules| Game::new(book.header().clone(), rules));
    for link in book.lines() {
        let Ok(entry) = book.header().read_entry(&link.text) else { continue };
        shown.moves += usize::from(matches!(entry.body, Body::Move(_)));
        // Only an undo takes an end back: what else stands beside a finished game leaves it finished.
        shown.outcome = entry.outcome().cloned().or(shown.outcome.take().filter(|_| !matches!(entry.body, Body::Undo(_))));
        game = game.and_then(|mut game| game.apply_line(&link.text, link.digest).ok().map(|_| game));
    }
    shown.after = game.as_ref().map(After::of);
    shown
}

fn doubt(verification: Option<&v1::VerifyGameResponse>) -> Option<String> {
    match verification {
        None => Some("it was not checked: the server has not the rules that it names".to_owned()),
        Some(found) => {
            let seq = found.first_wrong_seq?;
            let then = if found.accepted.is_some() { "; the book is whole, so whoever wrote it accepted that" } else { "" };
            Some(format!("it does not verify: entry {seq}: {}{then}", found.why))
        }
    }
}
