//! SGF (FF\[4\]) of gomoku and renju: the main line of each game of a collection.
//!
//! Invariant: a game is taken as it was played or refused with its reason. Stones set up beforehand,
//! passes, and moves out of turn are not gomoku as it is played here.

use std::collections::BTreeMap;

use crate::record::{End, Expect, Parsed, Record, Token};

/// Deepest nesting of variations.
const DEPTH_MAX: usize = 1_000;

/// A node: its properties with their values, in order.
type Node = Vec<(String, Vec<String>)>;

/// The games of a file, or why it is no SGF.
pub fn read(text: &str) -> Result<Vec<Parsed>, String> {
    let games = Reader { rest: text.trim_start_matches('\u{feff}'), text }.collection()?;
    Ok(games.iter().enumerate().map(|(n, nodes)| Parsed::nth(n, record(nodes))).collect())
}

fn record(nodes: &[Node]) -> Result<Record, String> {
    let mut params = BTreeMap::new();
    let mut size = None;
    let mut moves = Vec::new();
    let mut end = End::Untold;
    for (name, values) in nodes.iter().flatten() {
        let value = values.first().map(String::as_str).unwrap_or_default();
        match name.as_str() {
            "GM" if value != "4" => return Err(format!("GM[{value}] is another game than gomoku (4)")),
            "SZ" => {
                let parsed: u32 = value.parse().map_err(|_| format!("SZ[{value}] is not a square board"))?;
                params.insert("size".to_owned(), parsed.to_string());
                size = Some(parsed);
            }
            "AB" | "AW" | "AE" => return Err(format!("{name} sets up stones; a game begins with an empty board here")),
            "PL" => return Err("PL changes whose turn it is; turns follow each other here".to_owned()),
            "B" | "W" => {
                if values.len() != 1 {
                    return Err(format!("move {}: {name} has {} values", moves.len() + 1, values.len()));
                }
                let due = if moves.len().is_multiple_of(2) { "B" } else { "W" };
                if name != due {
                    return Err(format!("move {}: {name} moves out of turn", moves.len() + 1));
                }
                let token = point(value).ok_or_else(|| format!("move {}: {name}[{value}] is not a cell", moves.len() + 1))?;
                moves.push(token);
            }
            "RE" => end = result(value),
            _ => {}
        }
    }
    if let Some(size) = size {
        on_board(&moves, size)?;
    }
    Ok(Record { ruleset: Some("gomoku".to_owned()), params, seats: Some(2), moves, expect: Expect { end, ..Expect::default() } })
}

/// `hh`: column and row from the top left, `a` to `z`, then `A` to `Z`. Some programs write `h8` instead.
fn point(value: &str) -> Option<Token> {
    let place = |letter: u8| match letter {
        b'a'..=b'z' => Some(u32::from(letter - b'a')),
        b'A'..=b'Z' => Some(u32::from(letter - b'A') + 26),
        _ => None,
    };
    match value.as_bytes() {
        [col, row] if row.is_ascii_alphabetic() => Some(Token::Cell(place(*row)?, place(*col)?)),
        [col, digits @ ..] if col.is_ascii_alphabetic() && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            Some(Token::Notation(value.to_ascii_lowercase()))
        }
        _ => None,
    }
}

fn on_board(moves: &[Token], size: u32) -> Result<(), String> {
    let off = |token: &Token| matches!(token, Token::Cell(row, col) if *row >= size || *col >= size);
    match moves.iter().position(off) {
        Some(n) => Err(format!("move {} is off the board (or a pass, which gomoku has not)", n + 1)),
        None => Ok(()),
    }
}

/// `B+…`, `W+…`, `0` or `Draw`. How it was won is not told in one way, so a win may have been resigned.
fn result(value: &str) -> End {
    match value.as_bytes() {
        [b'B', b'+', ..] => End::WonIfOver(0),
        [b'W', b'+', ..] => End::WonIfOver(1),
        b"0" | b"Draw" => End::DrawnIfOver,
        _ => End::Untold,
    }
}

/// Reads `collection = tree+`, `tree = "(" node+ tree* ")"`, `node = ";" property*`.
struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
}

impl Reader<'_> {
    fn collection(&mut self) -> Result<Vec<Vec<Node>>, String> {
        let mut games = Vec::new();
        self.blank();
        while !self.rest.is_empty() {
            let mut line = Vec::new();
            self.tree(Some(&mut line), 0)?;
            games.push(line);
            self.blank();
        }
        if games.is_empty() { Err(self.wrong("a game is expected: (;…)")) } else { Ok(games) }
    }

    /// Reads a tree. The main line goes on in the first subtree; others are read and left out.
    fn tree(&mut self, mut line: Option<&mut Vec<Node>>, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("variations are nested too deeply"));
        }
        self.take('(')?;
        self.blank();
        if !self.rest.starts_with(';') {
            return Err(self.wrong("a node is expected: ;"));
        }
        while self.rest.starts_with(';') {
            let node = self.node()?;
            if let Some(line) = line.as_deref_mut() {
                line.push(node);
            }
        }
        while self.rest.starts_with('(') {
            self.tree(line.take(), depth + 1)?;
            self.blank();
        }
        self.take(')')
    }

    fn node(&mut self) -> Result<Node, String> {
        self.take(';')?;
        let mut node = Node::new();
        loop {
            self.blank();
            let length = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
            if length == 0 {
                return Ok(node);
            }
            // Old files write `Black` for `B`: only the capitals count.
            let name: String = self.rest[..length].chars().filter(char::is_ascii_uppercase).collect();
            self.rest = &self.rest[length..];
            let mut values = Vec::new();
            self.blank();
            while self.rest.starts_with('[') {
                values.push(self.value()?);
                self.blank();
            }
            if values.is_empty() {
                return Err(self.wrong("a value is expected: [ ]"));
            }
            node.push((name, values));
        }
    }

    fn value(&mut self) -> Result<String, String> {
        self.take('[')?;
        let mut value = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                ']' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(value.trim().to_owned());
                }
                '\\' => match chars.next() {
                    Some((_, '\n' | '\r')) | None => {}
                    Some((_, escaped)) => value.push(escaped),
                },
                c => value.push(c),
            }
        }
        Err(self.wrong("a value does not end: ]"))
    }

    fn take(&mut self, c: char) -> Result<(), String> {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(self.wrong(&format!("{c:?} is expected"))),
        }
    }

    fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn wrong(&self, why: &str) -> String {
        let read = &self.text[..self.text.len() - self.rest.len()];
        let line = read.matches('\n').count() + 1;
        format!("line {line}: {why}")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn games(text: &str) -> Vec<Result<Record, String>> {
        read(text).unwrap().into_iter().map(|parsed| parsed.record).collect()
    }

    #[track_caller]
    fn refused(text: &str, because: &str) {
        let why = games(text).remove(0).expect_err("it is refused");
        assert!(why.contains(because), "{why}");
    }

    #[test]
    fn the_main_line_of_each_game_is_read() {
        let text = "\u{feff}(;FF[4]GM[4]SZ[15]PB[A \\] B]C[a\\\\;B[aa\\]]RE[B+R]\n;B[hh](;W[hi];B[ig](;W[aa])(;W[bb]))(;W[oo]))\n(;GM[4];B[h8];W[i9])";
        let games = games(text);
        let first = games[0].as_ref().unwrap();
        assert_eq!(first.moves, [Token::Cell(7, 7), Token::Cell(8, 7), Token::Cell(6, 8), Token::Cell(0, 0)]);
        assert_eq!((first.params["size"].as_str(), first.expect.end), ("15", End::WonIfOver(0)));
        let second = games[1].as_ref().unwrap();
        assert_eq!(second.moves, [Token::Notation("h8".into()), Token::Notation("i9".into())]);
        assert!(second.params.is_empty());
    }

    #[test]
    fn what_is_not_gomoku_is_refused() {
        refused("(;AB[hh][ii];W[aa])", "AB sets up stones");
        refused("(;GM[1];B[aa])", "GM[1] is another game");
        refused("(;B[aa];B[bb])", "move 2: B moves out of turn");
        refused("(;W[aa])", "move 1: W moves out of turn");
        refused("(;SZ[15];B[tt])", "move 1 is off the board (or a pass");
        refused("(;B[])", "B[] is not a cell");
        refused("(;SZ[15:19];B[aa])", "SZ[15:19] is not a square board");
        refused("(;PL[W];W[aa])", "PL changes");
    }

    #[test]
    fn what_is_not_sgf_is_refused_with_its_line() {
        for (text, because) in [
            ("", "line 1: a game is expected"),
            ("hello", "line 1: '(' is expected"),
            ("()", "a node is expected"),
            ("(;B[aa]", "')' is expected"),
            ("(;\nB[aa;W(bb)", "line 2: a value does not end"),
            ("(;B)", "a value is expected"),
            ("(;B[aa]))", "'(' is expected"),
        ] {
            let why = read(text).expect_err(text);
            assert!(why.contains(because), "{text}: {why}");
        }
        assert!(read(&"(;".repeat(5_000)).expect_err("deep").contains("too deeply"));
    }
}
