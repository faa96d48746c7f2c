//! Plain text, one game a line: Connect Four digits, Othello transcripts, gomoku cells.
//!
//! Blank lines and lines that begin with `#` count for nothing.

use crate::record::{Parsed, Record, Token};

/// Connect Four: one digit a move, the column from 1. A second word (a solver's score) is not read.
pub fn connect_four(text: &str) -> Vec<Parsed> {
    each_line(text, "connect_four", |line| {
        let digits = line.split_whitespace().next().unwrap_or_default();
        let column = |c: char| match c.to_digit(10) {
            Some(0) | None => Err(format!("{c:?} is not a column from 1 to 9")),
            Some(digit) => Ok(Token::Column(digit - 1)),
        };
        digits.chars().map(column).collect()
    })
}

/// Othello: cells one after another, `f5d6c3`. Passes (`--`, `pa`, `ps`, `pass`) are not written by the rules either.
pub fn othello(text: &str) -> Vec<Parsed> {
    each_line(text, "othello", |line| {
        let letters: String = line.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase()).collect();
        let mut rest = letters.as_str();
        let mut moves = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = ["--", "pass", "pa", "ps"].iter().find_map(|pass| rest.strip_prefix(pass)) {
                rest = after;
                continue;
            }
            let end = cell_end(rest).ok_or_else(|| format!("after {} moves: {:?} is not a cell", moves.len(), head(rest)))?;
            moves.push(Token::Notation(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        Ok(moves)
    })
}

/// Gomoku: cells with something between them, `h8 g7 …`. The words of a swap opening are left out.
pub fn gomoku(text: &str) -> Vec<Parsed> {
    each_line(text, "gomoku", |line| {
        let words = line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|word| !word.is_empty());
        let cell = |word: &str| {
            let word = word.to_ascii_lowercase();
            let whole = cell_end(&word) == Some(word.len());
            if whole { Ok(Token::Notation(word)) } else { Err(format!("{word:?} is not a cell")) }
        };
        words.filter(|word| !is_swap_word(word)).map(cell).collect()
    })
}

/// `white`, `black` and `--` tell who chose which stones, and are no moves.
pub fn is_swap_word(word: &str) -> bool {
    ["white", "black", "--"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn each_line(text: &str, ruleset: &str, read: impl Fn(&str) -> Result<Vec<Token>, String>) -> Vec<Parsed> {
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let record = |line| Ok(Record { ruleset: Some(ruleset.to_owned()), moves: read(line)?, ..Record::default() });
    lines.map(|(n, line)| Parsed { id: format!("line {}", n + 1), record: record(line) }).collect()
}

/// Where the cell at the beginning ends: letters, then digits.
fn cell_end(text: &str) -> Option<usize> {
    let letters = text.bytes().take_while(u8::is_ascii_lowercase).count();
    let digits = text.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    (letters > 0 && digits > 0).then_some(letters + digits)
}

fn head(text: &str) -> String {
    text.chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn notations(parsed: &Parsed) -> Vec<String> {
        let moves = &parsed.record.as_ref().unwrap().moves;
        let text = |token: &Token| match token {
            Token::Notation(text) => text.clone(),
            other => panic!("{other:?} is no notation"),
        };
        moves.iter().map(text).collect()
    }

    #[test]
    fn connect_four_counts_columns_from_one() {
        let games = connect_four("# a game\n4453 -2\n\n08\n");
        assert_eq!(games[0].id, "line 2");
        assert_eq!(games[0].record.as_ref().unwrap().moves, [3, 3, 4, 2].map(Token::Column));
        assert_eq!(games[1].record, Err("'0' is not a column from 1 to 9".to_owned()));
        assert_eq!(games.len(), 2);
    }

    #[test]
    fn othello_reads_transcripts_without_separators() {
        let games = othello("F5d6 c3--d3\nf5pac4\nf5?6\nf");
        assert_eq!(notations(&games[0]), ["f5", "d6", "c3", "d3"]);
        assert_eq!(notations(&games[1]), ["f5", "c4"]);
        assert_eq!(games[2].record, Err("after 1 moves: \"?6\" is not a cell".to_owned()));
        assert!(games[3].record.is_err());
    }

    #[test]
    fn gomoku_leaves_swap_words_out() {
        let games = gomoku("h8 g7, k9 black f7 White -- a15\nh8 8h");
        assert_eq!(notations(&games[0]), ["h8", "g7", "k9", "f7", "a15"]);
        assert_eq!(games[1].record, Err("\"8h\" is not a cell".to_owned()));
    }
}
