//! A game at any of its entries.
//!
//! Invariant: whatever entry is asked for, a bounded number of lines is followed: games are kept at
//! regular entries, and at the one last asked for. What the rules refuse is the book's fault, and its end.

use std::collections::HashMap;
use std::sync::Arc;

use plybook_core::entry::{Body, Entry};
use plybook_core::{Game, Header, Rules, Seed, Seq};
use plybook_rulesets::Registry;

use super::beside::Beside;
use super::pages::{Fault, Pages};

/// Fewest entries between two games that are kept.
const STEP: usize = 512;
/// Most games that are kept: of a long game on a large board each takes a megabyte or two.
const KEPT_MAX: usize = 64;

/// A game at any of its entries.
pub(super) struct Timeline {
    pages: Pages,
    beside: Beside,
    /// Nothing where this build lacks the rules.
    games: Option<Games>,
    /// Why there are no games.
    why_none: Option<String>,
    /// The undo that took a move back, by the move's entry.
    taken: HashMap<Seq, Seq>,
    /// How many moves stand after each entry, the header first.
    plies: Vec<u32>,
    seed: Option<Seed>,
}

struct Games {
    /// At entries 1, 1 + `step`, 1 + 2 `step` …
    kept: Vec<Game>,
    step: usize,
    last: Game,
}

impl Timeline {
    /// Follows a book to its end, or to the first entry that the rules refuse.
    pub(super) fn of(pages: Pages, beside: Beside) -> Timeline {
        let rules = Registry::standard().rules_of(&pages.header);
        let mut timeline = Timeline { pages, beside, games: None, why_none: None, taken: HashMap::new(), plies: vec![0], seed: None };
        match rules {
            Ok(rules) => timeline.follow(rules),
            Err(why) => timeline.why_none = Some(why.to_string()),
        }
        timeline
    }

    fn follow(&mut self, rules: Arc<dyn Rules>) {
        let step = STEP.max(self.pages.lines.len().div_ceil(KEPT_MAX));
        let mut game = Game::new(self.pages.header.clone(), rules);
        let mut kept = vec![game.clone()];
        for (at, link) in self.pages.lines.iter().enumerate() {
            let stood = game.standing().len();
            let undone = match self.pages.header.read_entry(&link.text) {
                Ok(Entry { body: Body::Undo(undo), .. }) => game.standing().get(undo.ply as usize..).unwrap_or_default().to_vec(),
                _ => Vec::new(),
            };
            match game.apply_line(&link.text, link.digest) {
                Ok(entry) => self.seed = entry.seed.or(self.seed.take()),
                Err(error) => {
                    let fault = Fault { seq: Some(error.seq), line: Some(link.text.clone()), why: error.why };
                    self.pages.fault = Some(fault);
                    self.pages.lines.truncate(at);
                    break;
                }
            }
            if game.standing().len() < stood {
                self.taken.extend(undone.into_iter().map(|seq| (seq, game.head().seq)));
            }
            self.plies.push(game.standing().len() as u32);
            if (at + 1).is_multiple_of(step) {
                kept.push(game.clone());
            }
        }
        let given = self.pages.header.given();
        if self.pages.fault.is_none() && (game.standing().len() as u32) < given {
            let why = format!("the game begins with {given} moves given to it, and this one is missing");
            self.pages.fault = Some(Fault { seq: Some(game.head().seq.next()), line: None, why });
        }
        self.games = Some(Games { kept, step, last: game });
    }

    /// The header.
    pub(super) fn header(&self) -> &Header {
        &self.pages.header
    }

    /// The last entry that is right.
    pub(super) fn last(&self) -> Seq {
        Seq(1 + self.pages.lines.len() as u32)
    }

    /// What is wrong after it.
    pub(super) fn fault(&self) -> Option<&Fault> {
        self.pages.fault.as_ref()
    }

    /// The requests that were refused while this entry was the head.
    pub(super) fn refused_at(&self, seq: Seq) -> &[String] {
        self.beside.at(seq)
    }

    /// Why no board can be shown.
    pub(super) fn why_no_game(&self) -> Option<&str> {
        self.why_none.as_deref()
    }

    /// The seed, once an entry has revealed it.
    pub(super) const fn seed(&self) -> Option<&Seed> {
        self.seed.as_ref()
    }

    /// The undo that took this entry's move back.
    pub(super) fn taken_back_by(&self, seq: Seq) -> Option<Seq> {
        self.taken.get(&seq).copied()
    }

    /// How many moves stand after this entry.
    pub(super) fn ply_at(&self, seq: Seq) -> u32 {
        self.plies.get((seq.0 as usize).saturating_sub(1)).copied().unwrap_or_default()
    }

    /// An entry after the header.
    pub(super) fn entry(&self, seq: Seq) -> Option<Entry> {
        let link = self.pages.lines.get((seq.0 as usize).checked_sub(2)?)?;
        self.pages.header.read_entry(&link.text).ok()
    }

    /// The game after an entry; nothing where this build lacks its rules.
    pub(super) fn game_at(&mut self, seq: Seq) -> Option<&Game> {
        let games = self.games.as_mut()?;
        let after = (seq.0 as usize).saturating_sub(1).min(self.pages.lines.len());
        let at = |game: &Game| game.head().seq.0 as usize - 1;
        let nearest = &games.kept[(after / games.step).min(games.kept.len() - 1)];
        if at(&games.last) > after || at(&games.last) < at(nearest) {
            games.last = nearest.clone();
        }
        for link in &self.pages.lines[at(&games.last)..after] {
            // Followed once before: it does not fail now.
            games.last.apply_line(&link.text, link.digest).ok()?;
        }
        Some(&games.last)
    }
}
