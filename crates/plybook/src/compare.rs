//! `plybook compare`: where two games part, with both boards.
//!
//! Invariant: a book is a file or a game of the server, and both are compared here, by the same comparison as the
//! server's. Equal books end with exit code 0, different ones with 1.

use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use plybook_core::compare::{BookPart, Divergence, MovePart, compare};
use plybook_core::entry::{Act, Body};
use plybook_core::{Book, Entry, Game, Header, Rules, Seq, Uuid};
use plybook_proto::v1;
use plybook_rulesets::Registry;
use plybook_server::games::Beside;
use plybook_server::replies;
use serde_json::{Value, json};

use crate::drawing::{self, Look, Notation};
use crate::exit::usage;
use crate::link::Link;
use crate::screen::Screen;
use crate::words;

/// Flags of `plybook compare`.
#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    link: Link,
    /// A .ply file, or the id of a game of the server.
    left: String,
    /// The other.
    right: String,
    /// One JSON object instead of words and boards.
    #[arg(long)]
    json: bool,
}

/// A book, and what it is called here.
struct Named {
    name: String,
    book: Book,
}

/// Compares, and tells.
pub(crate) async fn run(args: CompareArgs) -> anyhow::Result<()> {
    let (left, right) = (read(&args.link, &args.left).await?, read(&args.link, &args.right).await?);
    let found = compare(&left.book, &right.book)?;
    let told = if args.json { as_json(&found).to_string() } else { in_words([&left, &right], &found) };
    Screen::new().say(told)?;
    if found.book.is_some() {
        bail!("the books differ");
    }
    Ok(())
}

async fn read(link: &Link, name: &str) -> anyhow::Result<Named> {
    let text = if Path::new(name).is_file() {
        let bytes = std::fs::read(name).with_context(|| format!("{name} cannot be read"))?;
        String::from_utf8(bytes).map_err(|_| usage(format!("{name} is not UTF-8")))?
    } else if Uuid::try_parse(name).is_ok() {
        let file = link.client()?.book(name).await?;
        String::from_utf8(file).context("the server sent a book that is not UTF-8")?
    } else {
        return Err(usage(format!("{name} is neither a file nor the id of a game")));
    };
    let book = Book::parse(&text).map_err(|error| usage(format!("{name} is no book: {error}")))?;
    Ok(Named { name: name.to_owned(), book })
}

fn as_json(found: &Divergence) -> Value {
    let number = |seq: Option<Seq>| seq.map(|seq| seq.0);
    let book = found.book.as_ref();
    let moves = found.moves.map(|part| json!({ "ply": part.ply, "left_seq": number(part.at[0]), "right_seq": number(part.at[1]) }));
    json!({
        "equal": found.book.is_none(),
        "common_entries": found.common,
        "first_different_seq": book.map(|part| part.seq.0),
        "left_line": book.and_then(|part| part.lines[0].as_deref()),
        "right_line": book.and_then(|part| part.lines[1].as_deref()),
        "first_different_move": moves,
    })
}

fn in_words(sides: [&Named; 2], found: &Divergence) -> String {
    let Some(part) = &found.book else { return format!("The books are equal: {} entries.", found.common) };
    let mut told = vec![entries(sides, part)];
    match found.moves {
        Some(moves) => told.extend(boards_of_moves(sides, moves)),
        None => {
            told.push("The same moves stand in both.".to_owned());
            if part.seq > Seq::FIRST {
                let at = |side: usize| part.lines[side].as_ref().map(|_| part.seq);
                told.extend((0..2).map(|side| board(sides[side], at(side))));
            }
        }
    }
    told.join("\n\n")
}

/// The entries that differ. Headers are many lines, of which those are shown that differ.
fn entries(sides: [&Named; 2], part: &BookPart) -> String {
    let common = match part.seq.0 - 1 {
        0 => "The headers differ".to_owned(),
        common => {
            format!("The books have {common} {} in common and part at entry {}", if common == 1 { "entry" } else { "entries" }, part.seq)
        }
    };
    let lines = |side: usize| {
        let (this, other) = (part.lines[side].as_deref(), part.lines[1 - side].as_deref().unwrap_or_default());
        let Some(this) = this else { return "  (it ends before)".to_owned() };
        let other: Vec<&str> = other.lines().collect();
        this.lines().filter(|line| !other.contains(line)).map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
    };
    format!("{common}:\n{}:\n{}\n{}:\n{}", sides[0].name, lines(0), sides[1].name, lines(1))
}

fn boards_of_moves(sides: [&Named; 2], part: MovePart) -> Vec<String> {
    let mut told = vec![format!("The games part at move {}.", part.ply)];
    told.extend((0..2).map(|side| board(sides[side], part.at[side])));
    told
}

/// What an entry did, and the board after it.
fn board(side: &Named, at: Option<Seq>) -> String {
    let Some(seq) = at else { return format!("{}: it ends before.", side.name) };
    let place = format!("{}, entry {seq}", side.name);
    let Some(link) = side.book.links().get(seq.0 as usize - 1) else { return place };
    let marks: Vec<String> = side.book.header().seats.iter().map(|seat| seat.mark.clone()).collect();
    let entry = side.book.header().read_entry(&link.text).ok();
    let game = after(&side.book, seq);
    let (did, bright) = entry.map_or_else(Default::default, |entry| did(side.book.header(), &entry, game.as_ref().ok(), &marks));
    match game {
        Ok(game) => format!("{place}{did}:\n{}", picture(&game, &marks, bright)),
        Err(why) => format!("{place}{did}. There is no board: {why}"),
    }
}

/// An entry in words, and the cells that it filled.
fn did(header: &Header, entry: &Entry, game: Option<&Game>, marks: &[String]) -> (String, Vec<u32>) {
    let who = entry.actor.seat.map_or_else(String::new, |seat| words::seat_name(u32::from(seat.0), marks));
    let told = match &entry.body {
        Body::Given(made) | Body::Move(made) => {
            let filled = made.cells.iter().filter(|change| change.before.is_nothing()).map(|change| change.cell.0);
            return (format!(", {who} played {}", made.notation), filled.collect());
        }
        Body::Commit(_) => format!(", {who} committed to a nonce"),
        Body::Reveal(_) => format!(", {who} revealed a nonce"),
        Body::Absent(absent) => format!(", seats {} did not join in time", absent.seats),
        Body::Undo(undo) if undo.agreed => format!(", {who} agreed to take back the move of entry {}", undo.target),
        Body::Undo(undo) => format!(", the move of entry {} was taken back", undo.target),
        Body::Incident(incident) => format!(", {}", happened(header, entry, incident.act, game, marks)),
        Body::Close => ", the game was closed".to_owned(),
    };
    (told, Vec::new())
}

/// What happened that is no move.
fn happened(header: &Header, entry: &Entry, act: Act, game: Option<&Game>, marks: &[String]) -> String {
    let body = Some(replies::incident::body(header, entry, act, &game.map_or_else(Beside::default, |game| Beside::after(game, act))));
    words::happened(&v1::Event { body, ..v1::Event::default() }, marks).unwrap_or_else(|| act.to_string())
}

fn after(book: &Book, seq: Seq) -> Result<Game, String> {
    let rules = Registry::standard().rules_of(book.header()).map_err(|error| error.to_string())?;
    let mut game = Game::new(book.header().clone(), rules);
    for link in book.lines().iter().take(seq.0 as usize - 1) {
        game.apply_line(&link.text, link.digest).map_err(|error| error.to_string())?;
    }
    Ok(game)
}

fn picture(game: &Game, marks: &[String], bright: Vec<u32>) -> String {
    let shown = replies::game::whole(game, None);
    let position = shown.position.clone().unwrap_or_default();
    let look = Look { marks, notation: Notation::of(&shown, &legal(game.rules())), bright: &bright };
    drawing::draw(&position, look)
}

/// Whether pieces are dropped is told by the shapes of the rules.
fn legal(rules: &dyn Rules) -> Vec<v1::LegalAction> {
    let drops = rules.shapes().iter().any(|shape| shape.name() == "drop");
    let action = replies::action(plybook_core::Action::Drop(plybook_core::action::Column(0)));
    if drops { vec![v1::LegalAction { action: Some(action), notation: String::new() }] } else { Vec::new() }
}
