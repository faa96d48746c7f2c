//! One line of a book after the header.
//!
//! Invariant: an entry prints in one way, and what it prints parses back to the same entry
//! (`proto/book-format.md`, section 3). One append is one entry is one line.

use std::fmt;

use crate::board::{Cell, Content};
use crate::change::CellChange;
use crate::dice::{Face, Seed};
use crate::digest::parse_hex32;
use crate::header::Principal;
use crate::outcome::{CellRun, Outcome, Reason, Winners};
use crate::rules::Verdict;
use crate::seat::{Seat, SeatSet};
use crate::seq::Seq;
use crate::time::Time;
use crate::{limits, scan};

/// Who is behind an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The seat acted for; nobody at the table for what concerns the whole game.
    pub seat: Option<Seat>,
    /// Who sent the request.
    pub by: Principal,
}

/// An entry after the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 2.
    pub seq: Seq,
    /// When; players' clocks come from it, order never does.
    pub time: Time,
    /// Who.
    pub actor: Actor,
    /// What.
    pub body: Body,
    /// The seed, in the entry that closes the game.
    pub seed: Option<Seed>,
}

/// What an entry did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A move stands.
    Move(Move),
    /// Moves were taken back.
    Undo(Undo),
    /// A finished game can no longer be reopened.
    Close,
}

/// A move, as asked for and as it turned out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// What was asked, in the ruleset's notation.
    pub notation: String,
    /// Standing moves after it.
    pub ply: u32,
    /// Dice shown, in order.
    pub faces: Vec<Face>,
    /// What it changed on the board, in the order of a book.
    pub cells: Vec<CellChange>,
    /// What follows.
    pub verdict: Verdict,
}

/// Moves taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The move taken back, with everything after it.
    pub target: Seq,
    /// Standing moves after it.
    pub ply: u32,
    /// What it changed on the board, in the order of a book.
    pub cells: Vec<CellChange>,
    /// Who moves now.
    pub next: Seat,
}

/// Why a line does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct EntryError {
    /// Why.
    pub why: String,
}

impl Entry {
    /// How the entry ended the game, if it did.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.body {
            Body::Move(Move { verdict: Verdict::Finished(outcome), .. }) => Some(outcome),
            _ => None,
        }
    }

    /// Who moves after this entry; nobody if the game is over.
    pub const fn next_seat(&self) -> Option<Seat> {
        match &self.body {
            Body::Move(Move { verdict: Verdict::Next { seat, .. }, .. }) => Some(*seat),
            Body::Undo(undo) => Some(undo.next),
            _ => None,
        }
    }

    /// Whether nothing may follow this entry.
    pub const fn closes(&self) -> bool {
        self.seed.is_some()
    }
}

/// Cell changes in the order of a book: by (before, after), then by cell.
#[must_use]
pub fn in_book_order(mut cells: Vec<CellChange>) -> Vec<CellChange> {
    cells.sort_unstable_by_key(|change| (change.before, change.after, change.cell));
    cells
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.seq, self.time)?;
        match self.actor.seat {
            Some(seat) => write!(f, "{seat}:{} ", self.actor.by)?,
            None => write!(f, "-:{} ", self.actor.by)?,
        }
        match &self.body {
            Body::Move(made) => write_move(f, made)?,
            Body::Undo(undo) => {
                write!(f, "undo {} ply={}", undo.target, undo.ply)?;
                write_cells(f, &undo.cells)?;
                write!(f, " next={}", undo.next)?;
            }
            Body::Close => f.write_str("close")?,
        }
        match &self.seed {
            Some(seed) => write!(f, " seed={}", hex::encode(seed.reveal())),
            None => Ok(()),
        }
    }
}

fn write_move(f: &mut fmt::Formatter<'_>, made: &Move) -> fmt::Result {
    write!(f, "move {} ply={}", made.notation, made.ply)?;
    for (i, face) in made.faces.iter().enumerate() {
        write!(f, "{}{face}", if i == 0 { " throw=" } else { "," })?;
    }
    write_cells(f, &made.cells)?;
    match &made.verdict {
        Verdict::Next { seat, skipped } => {
            if !skipped.is_empty() {
                write!(f, " skip={skipped}")?;
            }
            write!(f, " next={seat}")
        }
        Verdict::Finished(outcome) => {
            match outcome.winners {
                Winners::Seats(seats) => write!(f, " win={seats}")?,
                Winners::Draw => f.write_str(" draw=yes")?,
            }
            write!(f, " reason={}", outcome.reason)?;
            for (i, run) in outcome.lines.iter().enumerate() {
                write!(f, "{}{}+{}*{}", if i == 0 { " line=" } else { ";" }, run.first.0, run.step, run.count)?;
            }
            Ok(())
        }
    }
}

fn write_cells(f: &mut fmt::Formatter<'_>, cells: &[CellChange]) -> fmt::Result {
    let mut group = None;
    for change in cells {
        let this = (change.before, change.after);
        if group == Some(this) {
            write!(f, ",{}", change.cell.0)?;
        } else {
            let open = if group.is_none() { " cells=" } else { ";" };
            write!(f, "{open}{}>{}:{}", this.0.0, this.1.0, change.cell.0)?;
            group = Some(this);
        }
    }
    Ok(())
}

/// Reads a line of a book of format 1; of a book at hand, [`crate::Header::read_entry`] does.
pub fn read_format_1(line: &str) -> Result<Entry, EntryError> {
    let entry = read_entry(line).map_err(|why| EntryError { why })?;
    if entry.to_string() == line { Ok(entry) } else { Err(EntryError { why: "is not printed in the canonical way".to_owned() }) }
}

fn read_entry(line: &str) -> Result<Entry, scan::Why> {
    if line.len() > limits::LINE_BYTES_MAX {
        return Err(format!("is longer than {} bytes", limits::LINE_BYTES_MAX));
    }
    let mut tokens = line.split(' ');
    let mut token = |what: &str| tokens.next().ok_or_else(|| format!("the {what} is missing"));
    let seq = Seq(scan::number(token("number")?)?);
    if seq <= Seq::FIRST {
        return Err("entries after the header are numbered from 2".to_owned());
    }
    let time = token("time")?;
    let time = Time::parse(time).ok_or_else(|| format!("{time:?} is not a time"))?;
    let actor = read_actor(token("actor")?)?;
    let ask = token("request")?;
    let argument = if ask == "close" { "" } else { token("request's argument")? };
    let mut facts = Facts {
        pairs: tokens.map(|pair| pair.split_once('=').ok_or_else(|| format!("{pair:?} is not a fact"))).collect::<Result<_, _>>()?,
    };
    let body = match ask {
        "move" => Body::Move(read_move(argument, &mut facts)?),
        "undo" => Body::Undo(Undo {
            target: Seq(scan::number(argument)?),
            ply: scan::number(facts.need("ply")?)?,
            cells: facts.take("cells").map_or(Ok(Vec::new()), read_cells)?,
            next: scan::seat(facts.need("next")?)?,
        }),
        "close" => Body::Close,
        other => return Err(format!("{other:?} is no request")),
    };
    let seed =
        facts.take("seed").map(|text| parse_hex32(text).map(Seed::new).ok_or_else(|| format!("{text:?} is not a seed"))).transpose()?;
    match facts.pairs.first() {
        Some((key, _)) => Err(format!("the fact {key:?} does not belong here")),
        None => Ok(Entry { seq, time, actor, body, seed }),
    }
}

/// The facts not yet read, in their order on the line.
struct Facts<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Facts<'a> {
    fn take(&mut self, key: &str) -> Option<&'a str> {
        let at = self.pairs.iter().position(|(have, _)| *have == key)?;
        Some(self.pairs.remove(at).1)
    }

    fn need(&mut self, key: &str) -> Result<&'a str, scan::Why> {
        self.take(key).ok_or_else(|| format!("the fact {key:?} is missing"))
    }
}

fn read_actor(text: &str) -> Result<Actor, scan::Why> {
    let (seat, by) = text.split_once(':').ok_or_else(|| format!("{text:?} is not an actor"))?;
    let seat = if seat == "-" { None } else { Some(scan::seat(seat)?) };
    let by = Principal::parse(by).ok_or_else(|| format!("{by:?} is not a principal"))?;
    Ok(Actor { seat, by })
}

fn read_move(notation: &str, facts: &mut Facts<'_>) -> Result<Move, scan::Why> {
    if notation.is_empty() || notation.len() > limits::NOTATION_BYTES_MAX || notation.chars().any(scan::is_control) {
        return Err(format!("a notation has 1 to {} bytes", limits::NOTATION_BYTES_MAX));
    }
    let ply = scan::number(facts.need("ply")?)?;
    let faces = facts.take("throw").map_or(Ok(Vec::new()), |text| text.split(',').map(scan::number).collect())?;
    let cells = facts.take("cells").map_or(Ok(Vec::new()), read_cells)?;
    let verdict = match facts.take("next") {
        Some(next) => Verdict::Next { seat: scan::seat(next)?, skipped: facts.take("skip").map_or(Ok(SeatSet::EMPTY), scan::seats)? },
        None => Verdict::Finished(read_outcome(facts)?),
    };
    Ok(Move { notation: notation.to_owned(), ply, faces, cells, verdict })
}

fn read_outcome(facts: &mut Facts<'_>) -> Result<Outcome, scan::Why> {
    let winners = match (facts.take("win"), facts.take("draw")) {
        (Some(seats), None) => Winners::Seats(scan::seats(seats)?),
        (None, Some("yes")) => Winners::Draw,
        _ => return Err("a move has one of next, win and draw=yes".to_owned()),
    };
    let reason = facts.need("reason")?;
    let reason = Reason::parse(reason).ok_or_else(|| format!("{reason:?} is not a reason"))?;
    let lines = facts.take("line").map_or(Ok(Vec::new()), |text| text.split(';').map(read_run).collect())?;
    Ok(Outcome { winners, reason, lines })
}

fn read_run(text: &str) -> Result<CellRun, scan::Why> {
    let parts = text.split_once('+').and_then(|(first, rest)| rest.split_once('*').map(|(step, count)| (first, step, count)));
    let (first, step, count) = parts.ok_or_else(|| format!("{text:?} is not a run of cells"))?;
    let run = CellRun { first: Cell(scan::number(first)?), step: scan::number(step)?, count: scan::number(count)? };
    let sides = u32::from(limits::SIDE_MAX);
    let fits =
        (1..=sides).contains(&run.count) && run.step <= 2 * sides && run.first.0 <= sides * sides && (run.step == 0) == (run.count == 1);
    if fits { Ok(run) } else { Err(format!("{text:?} is not a run of cells")) }
}

fn read_cells(text: &str) -> Result<Vec<CellChange>, scan::Why> {
    let mut cells: Vec<CellChange> = Vec::new();
    for group in text.split(';') {
        let parts = group.split_once(':').and_then(|(change, list)| change.split_once('>').map(|(before, after)| (before, after, list)));
        let (before, after, list) = parts.ok_or_else(|| format!("{group:?} is not a group of cells"))?;
        let (before, after) = (Content(scan::number(before)?), Content(scan::number(after)?));
        if before == after {
            return Err(format!("{group:?} changes nothing"));
        }
        for cell in list.split(',') {
            cells.push(CellChange { cell: Cell(scan::number(cell)?), before, after });
        }
    }
    let mut seen: Vec<Cell> = cells.iter().map(|change| change.cell).collect();
    seen.sort_unstable();
    if seen.windows(2).any(|pair| pair[0] == pair[1]) || in_book_order(cells.clone()) != cells {
        return Err("cells are not in order".to_owned());
    }
    Ok(cells)
}
