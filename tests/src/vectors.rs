//! Games that other engines played: what they held for legal, and how each game ended.
//!
//! A part is committed under `tests/vectors` in the form below; the environment variable
//! `PLYBOOK_VECTORS` may name a folder that holds more of them as JSON lines. Blocks are separated by
//! an empty line, and a block's lines stand in this order, each at most once:
//!
//! ```text
//! game <id>
//! deal <ruleset> <parameter>=<value> … seats=<n>
//! moves <move> …        row,col from the top left; a column from 0; pass; or faces of a throw
//! end win <seat> | end draw | open <seat to move>
//! board <row>/<row>/…   `.` or the owner's seat
//! legal <SHA-256 of the lines `ply:seat:moves\n`, moves sorted as text and joined by `;`>
//! score <seat 0>,<seat 1>,…
//! trace <seat>:<square> …   after each throw
//! value <n>             what the seat to move can reach at best
//! values <move>=<n> …   what each legal move reaches
//! best <move> …         the moves that reach the value
//! ```
//!
//! Invariant: nothing here plays; a vector is read and printed, and prints as it was read.

use std::fmt;
use std::path::{Path, PathBuf};

use plybook_core::ParamValue;

use crate::deal::Deal;

mod json;

pub use json::read_json_line;

/// How a game ended, or who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This seat won.
    Win(u8),
    /// Nobody won.
    Draw,
    /// The game goes on with this seat.
    Open(u8),
}

/// One game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Where it comes from.
    pub id: String,
    /// What is played.
    pub deal: Deal,
    /// What was played.
    pub moves: Vec<String>,
    /// How it ended.
    pub end: End,
    /// The board at the end.
    pub board: Option<String>,
    /// Digest of the legal moves before every ply.
    pub legal: Option<String>,
    /// Scores at the end.
    pub score: Vec<i64>,
    /// Seat and square after each throw.
    pub trace: Vec<(u8, i64)>,
    /// What the seat to move can reach at best.
    pub value: Option<i64>,
    /// What each legal move reaches.
    pub values: Vec<(String, i64)>,
    /// The moves that reach the value.
    pub best: Vec<String>,
}

impl Vector {
    /// A game of which nothing is known but what was played.
    pub const fn new(id: String, deal: Deal, moves: Vec<String>, end: End) -> Vector {
        Vector {
            id,
            deal,
            moves,
            end,
            board: None,
            legal: None,
            score: Vec::new(),
            trace: Vec::new(),
            value: None,
            values: Vec::new(),
            best: Vec::new(),
        }
    }
}

fn write_value(value: &ParamValue) -> String {
    match value {
        ParamValue::Int(n) => n.to_string(),
        ParamValue::Bool(flag) => flag.to_string(),
        ParamValue::Text(word) => word.clone(),
        ParamValue::IntList(list) => format!("[{}]", list.iter().map(i64::to_string).collect::<Vec<_>>().join(",")),
    }
}

fn read_value(text: &str) -> ParamValue {
    if let Some(list) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return ParamValue::IntList(list.split(',').filter(|n| !n.is_empty()).map(|n| n.parse().unwrap()).collect());
    }
    match (text, text.parse()) {
        ("true", _) => ParamValue::Bool(true),
        ("false", _) => ParamValue::Bool(false),
        (_, Ok(n)) => ParamValue::Int(n),
        _ => ParamValue::Text(text.to_owned()),
    }
}

fn joined<T>(items: &[T], separator: &str, write: impl Fn(&T) -> String) -> String {
    items.iter().map(write).collect::<Vec<_>>().join(separator)
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {}\ndeal {}", self.id, self.deal.ruleset)?;
        for (name, value) in &self.deal.given {
            write!(f, " {name}={}", write_value(value))?;
        }
        writeln!(f, " seats={}\nmoves {}", self.deal.seats, self.moves.join(" "))?;
        match self.end {
            End::Win(seat) => writeln!(f, "end win {seat}")?,
            End::Draw => writeln!(f, "end draw")?,
            End::Open(seat) => writeln!(f, "open {seat}")?,
        }
        let lists = [
            ("board", self.board.clone().unwrap_or_default()),
            ("legal", self.legal.clone().unwrap_or_default()),
            ("score", joined(&self.score, ",", i64::to_string)),
            ("trace", joined(&self.trace, " ", |(seat, square)| format!("{seat}:{square}"))),
            ("value", self.value.map_or_else(String::new, |value| value.to_string())),
            ("values", joined(&self.values, " ", |(action, value)| format!("{action}={value}"))),
            ("best", self.best.join(" ")),
        ];
        for (key, text) in lists.iter().filter(|(_, text)| !text.is_empty()) {
            writeln!(f, "{key} {text}")?;
        }
        Ok(())
    }
}

/// Reads one block.
fn read(block: &str) -> Vector {
    let words = |text: &str| text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<String>>();
    let pair = |text: &str, mark: char| text.split_once(mark).map(|(a, b)| (a.to_owned(), b.parse::<i64>().unwrap())).unwrap();
    let mut vector = Vector::new(String::new(), Deal::of(""), Vec::new(), End::Draw);
    for line in block.lines() {
        let (key, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?} is not a line of a vector"));
        match key {
            "game" => rest.clone_into(&mut vector.id),
            "deal" => vector.deal = read_deal(rest),
            "moves" => vector.moves = words(rest),
            "end" if rest == "draw" => vector.end = End::Draw,
            "end" => vector.end = End::Win(rest.strip_prefix("win ").unwrap().parse().unwrap()),
            "open" => vector.end = End::Open(rest.parse().unwrap()),
            "board" => vector.board = Some(rest.to_owned()),
            "legal" => vector.legal = Some(rest.to_owned()),
            "score" => vector.score = rest.split(',').map(|n| n.parse().unwrap()).collect(),
            "trace" => {
                let steps = words(rest);
                vector.trace = steps.iter().map(|step| pair(step, ':')).map(|(seat, square)| (seat.parse().unwrap(), square)).collect();
            }
            "value" => vector.value = Some(rest.parse().unwrap()),
            "values" => vector.values = words(rest).iter().map(|word| pair(word, '=')).collect(),
            "best" => vector.best = words(rest),
            _ => panic!("{line:?} is not a line of a vector"),
        }
    }
    vector
}

fn read_deal(text: &str) -> Deal {
    let mut words = text.split(' ');
    let mut deal = Deal::of(words.next().unwrap());
    for (name, value) in words.map(|word| word.split_once('=').unwrap()) {
        deal = if name == "seats" { deal.seats(value.parse().unwrap()) } else { deal.with(name, read_value(value)) };
    }
    deal
}

/// A file of vectors, by its name.
#[derive(Debug)]
pub struct Source {
    /// Folder and file without extension.
    pub name: String,
    /// Its games.
    pub vectors: Vec<Vector>,
}

/// Where the committed vectors are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors")
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|have| have == extension));
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// The vectors of the repository.
pub fn committed() -> Vec<Source> {
    let files = files(&folder().join("games"), "txt");
    let source = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let vectors: Vec<Vector> = text.split("\n\n").map(|block| read(block.trim_end())).collect();
        assert_eq!(print(&vectors), text, "{} is printed in one way", path.display());
        Source { name: stem(path), vectors }
    };
    files.iter().map(source).collect()
}

/// Everything that the folder of `PLYBOOK_VECTORS` holds; nothing where the variable is not set.
pub fn given() -> Vec<Source> {
    let Some(folder) = given_folder() else { return Vec::new() };
    let groups = ["openspiel", "variants", "solver"].into_iter();
    let paths = groups.flat_map(|group| files(&folder.join(group), "jsonl").into_iter().map(move |path| (group, path)));
    paths.map(|(group, path)| given_source(group, &path)).collect()
}

/// Test sets of Connect Four that the folder of `PLYBOOK_VECTORS` holds, where it does: they are not
/// ours to commit a part of.
pub fn given_sets() -> Vec<Source> {
    let path = given_folder().map(|folder| folder.join("real").join("c4_pons-6x7x4.jsonl"));
    path.filter(|path| path.exists()).iter().map(|path| given_source("real", path)).collect()
}

fn given_folder() -> Option<PathBuf> {
    std::env::var_os("PLYBOOK_VECTORS").map(PathBuf::from)
}

fn given_source(group: &str, path: &Path) -> Source {
    let name = format!("{group}-{}", stem(path));
    let text = std::fs::read_to_string(path).unwrap();
    let vectors = text.lines().enumerate().map(|(at, line)| read_json_line(&name, at, line)).collect();
    Source { name, vectors }
}

/// The text of a file of vectors.
pub fn print(vectors: &[Vector]) -> String {
    joined(vectors, "\n", Vector::to_string)
}
