//! What is shown of one step: the board after an entry, and who did what, when.
//!
//! Invariant: a frame comes from the book alone, and is the same on a terminal and in a pipe; only
//! the room for its board differs.

use plybook_core::Seq;
use plybook_core::entry::{Body, Entry};
use plybook_proto::v1;
use plybook_server::games::Beside;
use plybook_server::replies;

use super::pages::Fault;
use super::throw;
use super::timeline::Timeline;
use super::told;
use crate::drawing::{self, Clocks, Look, Notation, Room};

/// One step of a book.
#[derive(Debug)]
pub(super) struct Frame {
    /// Which entry of which game.
    pub(super) title: String,
    /// What happened, and what stands after it.
    pub(super) news: Vec<String>,
    /// The board after it.
    board: Board,
    /// Who, when, and what proves it.
    pub(super) details: Vec<String>,
    /// What is wrong here, if anything is.
    pub(super) wrong: Option<String>,
}

#[derive(Debug)]
enum Board {
    /// This build lacks the rules, and why.
    None(String),
    Drawn {
        position: Box<v1::Position>,
        notation: Notation,
        marks: Vec<String>,
        bright: Vec<u32>,
        clocks: Vec<String>,
    },
}

impl Frame {
    /// The frame of a step: of an entry, or of what is wrong after the last right one.
    pub(super) fn of(timeline: &mut Timeline, step: u32) -> Frame {
        let seq = Seq(step).min(timeline.last());
        let fault = timeline.fault().filter(|_| step > timeline.last().0).cloned();
        let entry = timeline.entry(seq);
        let marks: Vec<String> = timeline.header().seats.iter().map(|place| place.mark.clone()).collect();
        let (mut clocks, mut beside) = (None, Beside::default());
        let (board, turn) = match timeline.game_at(seq) {
            Some(game) => {
                let shown = replies::game::whole(game, None);
                clocks = told::clocks(&shown, &marks);
                if let Some(Body::Incident(incident)) = entry.as_ref().map(|entry| &entry.body) {
                    beside = Beside::after(game, incident.act);
                }
                let stands = told::stands(game, &shown, &marks);
                (board(shown, entry.as_ref(), &marks), stands)
            }
            None => (Board::None(timeline.why_no_game().unwrap_or_default().to_owned()), Vec::new()),
        };
        let title = title(timeline, step);
        if let Some(fault) = fault {
            let why = format!("{}: {}", place(&fault), fault.why);
            let details = fault.line.map(|line| format!("it reads: {}", told::plain(&line)));
            let news = vec![format!("WRONG: {why}. The board is the one before it; nothing after it is shown.")];
            return Frame { title, news, board, details: details.into_iter().collect(), wrong: Some(why) };
        }
        let Some(entry) = entry else {
            let news = vec!["The game was created.".to_owned()].into_iter().chain(turn).collect();
            let header = told::header(timeline.header()).into_iter().chain(clocks);
            let details = header.chain(timeline.refused_at(seq).to_vec()).collect();
            return Frame { title, news, board, details, wrong: None };
        };
        let news = std::iter::once(told::entry(timeline, &entry, &beside, &marks)).chain(turn).collect();
        let mut details = vec![told::who(timeline.header(), &entry)];
        details.extend(timeline.taken_back_by(seq).map(|undo| format!("taken back by entry {undo}")));
        let seed = timeline.seed().cloned();
        let throw = timeline.game_at(seq).and_then(|game| throw::told(&entry, game, seed.as_ref()));
        let wrong = throw.as_ref().filter(|throw| throw.wrong).map(|throw| format!("entry {seq}: {}", throw.text));
        details.extend(throw.map(|throw| throw.text));
        details.extend(told::more(timeline.header(), &entry));
        details.extend(clocks);
        details.extend_from_slice(timeline.refused_at(seq));
        Frame { title, news, board, details, wrong }
    }

    /// The board in this room.
    pub(super) fn picture(&self, room: Room) -> String {
        match &self.board {
            Board::None(why) => format!("(no board: {why})"),
            Board::Drawn { position, notation, marks, bright, clocks } => {
                let wide = clocks.iter().map(|line| line.chars().count() + drawing::BETWEEN).max().unwrap_or(0);
                let columns = room.columns.saturating_sub(wide);
                let board = drawing::draw_within(position, Look { marks, notation: *notation, bright }, Room { columns, ..room });
                drawing::beside(&board, clocks)
            }
        }
    }

    /// All of it as text.
    pub(super) fn print(&self) -> String {
        let board = self.picture(Room::default());
        let parts = [vec![self.title.clone()], self.news.clone(), vec![board], self.details.clone()];
        parts.concat().join("\n")
    }
}

fn title(timeline: &Timeline, step: u32) -> String {
    let (header, last) = (timeline.header(), timeline.last());
    let which = if step > last.0 { format!("After entry {last}") } else { format!("Entry {step} of {last}") };
    format!("{which}, game {} of {}", header.game, header.ruleset)
}

/// Where a fault is, in words.
pub(super) fn place(fault: &Fault) -> String {
    fault.seq.map_or_else(|| "the end of the file".to_owned(), |seq| format!("entry {seq}"))
}

fn board(whole: v1::Game, entry: Option<&Entry>, marks: &[String]) -> Board {
    let clocks = Clocks::of(&whole).map_or_else(Vec::new, |clocks| clocks.still(marks));
    let notation = Notation::of(&whole, &[]);
    let bright = match &whole.outcome {
        Some(outcome) => outcome.cells.clone(),
        None => entry.map_or_else(Vec::new, changed),
    };
    Board::Drawn { position: Box::new(whole.position.unwrap_or_default()), notation, marks: marks.to_vec(), bright, clocks }
}

/// Where something was put; after an undo, where something was taken from.
fn changed(entry: &Entry) -> Vec<u32> {
    match &entry.body {
        Body::Move(made) | Body::Given(made) => {
            made.cells.iter().filter(|change| change.after.0 != 0).map(|change| change.cell.0).collect()
        }
        Body::Undo(undo) => undo.cells.iter().map(|change| change.cell.0).collect(),
        _ => Vec::new(),
    }
}
