//! What came of an import, game by game.
//!
//! Invariant: one line a record, in the order of the files, whatever order the games were played in.

use std::io::Write;
use std::path::Path;

use plybook_core::Outcome;
use serde::Serialize;

use super::evidence::Kept;
use super::plan::Plan;
use super::sending::{Sent, Unsent};

/// What came of one record.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Line {
    /// The file.
    pub(crate) file: String,
    /// The record's name in it.
    pub(crate) id: String,
    /// The game, if one was created.
    pub(crate) game_id: Option<String>,
    /// Moves sent.
    pub(crate) moves: usize,
    /// Entries of the game's book.
    pub(crate) entries: u64,
    /// Digest of the last position.
    pub(crate) position_digest: Option<String>,
    /// How it ended.
    pub(crate) outcome: Option<Ended>,
    /// What came of it.
    pub(crate) verdict: Verdict,
    /// Why it was refused.
    pub(crate) reason: Option<String>,
    /// What is wrong with a book that was kept all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) doubt: Option<String>,
    /// What of a book the game has not that plays it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) without: Option<String>,
    /// Whether the game was there before this run; not written, so that reports of repeated imports
    /// are the same.
    #[serde(skip)]
    pub(crate) before: bool,
}

/// How a game ended.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Ended {
    /// The winning seats; none for a draw.
    pub(crate) winners: Vec<u8>,
    /// The ruleset's word.
    pub(crate) reason: String,
}

impl Ended {
    fn of(outcome: &Outcome) -> Ended {
        let winners = outcome.winning_seats().iter().map(|seat| seat.0).collect();
        Ended { winners, reason: outcome.reason.as_str().to_owned() }
    }
}

/// What came of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It stands in the server as in the record.
    Imported,
    /// It does not hold, or the server said no.
    Refused,
    /// No server answered: run the import again.
    Unavailable,
}

impl Line {
    /// Where the record stands: its file, and its name there unless that is the file's own, as of a book.
    pub(crate) fn place(&self) -> String {
        let own = Path::new(&self.file).file_name().is_some_and(|name| name.to_string_lossy() == self.id);
        if own { self.file.clone() } else { format!("{}: {}", self.file, self.id) }
    }

    /// Of a record that was refused before anything was sent.
    pub(crate) fn unread(file: &str, id: &str, why: String) -> Line {
        Line {
            file: file.to_owned(),
            id: id.to_owned(),
            game_id: None,
            moves: 0,
            entries: 0,
            position_digest: None,
            outcome: None,
            verdict: Verdict::Refused,
            reason: Some(why),
            doubt: None,
            without: None,
            before: false,
        }
    }

    /// Of a record that was sent.
    pub(crate) fn sent(file: &str, id: &str, plan: &Plan, sent: Result<Sent, Unsent>) -> Line {
        let before = sent.as_ref().is_ok_and(|sent| sent.before);
        let (game_id, entries, verdict, reason) = match sent {
            Ok(sent) => (Some(sent.game_id), sent.entries, Verdict::Imported, None),
            Err(Unsent::Refused { game_id, why }) => (game_id, 0, Verdict::Refused, Some(why)),
            Err(Unsent::Unavailable(why)) => (None, 0, Verdict::Unavailable, Some(why)),
        };
        let outcome = plan.after.outcome.as_ref().map(Ended::of);
        let done = verdict == Verdict::Imported;
        Line {
            file: file.to_owned(),
            id: id.to_owned(),
            game_id,
            moves: if done { plan.moves() } else { 0 },
            entries,
            position_digest: Some(plan.after.position_digest.to_string()).filter(|_| done),
            outcome: outcome.filter(|_| done),
            verdict,
            reason,
            doubt: None,
            without: plan.without.clone().filter(|_| done),
            before,
        }
    }

    /// Of a book that was sent as it is.
    pub(crate) fn kept(file: &str, id: &str, kept: Result<Kept, Unsent>) -> Line {
        let (game_id, verdict, why) = match kept {
            Ok(Kept { game_id, moves, entries, position_digest, outcome, doubt, before }) => {
                let (game_id, outcome, unread) = (Some(game_id), outcome.as_ref().map(Ended::of), Line::unread(file, id, String::new()));
                let verdict = Verdict::Imported;
                return Line { game_id, moves, entries, position_digest, outcome, verdict, reason: None, doubt, before, ..unread };
            }
            Err(Unsent::Refused { game_id, why }) => (game_id, Verdict::Refused, why),
            Err(Unsent::Unavailable(why)) => (None, Verdict::Unavailable, why),
        };
        Line { game_id, verdict, ..Line::unread(file, id, why) }
    }
}

/// Writes one JSON object a line.
pub(crate) fn write(path: &Path, lines: &[Line]) -> anyhow::Result<()> {
    let mut text = Vec::new();
    for line in lines {
        serde_json::to_writer(&mut text, line)?;
        text.push(b'\n');
    }
    let mut file = std::fs::File::create(path)?;
    Ok(file.write_all(&text)?)
}
