//! Which format a file has.
//!
//! Invariant: the extension decides where it is one of ours; the content only where it is not.

use std::path::Path;

use clap::ValueEnum;

/// A format of recorded games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A book of Plybook: one game with everything.
    Ply,
    /// Connect Four: digits, columns from 1, one game a line.
    C4,
    /// Othello: cells without separators, one game a line.
    Othello,
    /// Gomoku: cells with separators, one game a line.
    Gomoku,
    /// SGF of gomoku or renju.
    Sgf,
    /// One JSON object a line.
    Jsonl,
}

impl Format {
    /// The format of a file, if it can be told.
    pub(crate) fn of(path: &Path, text: &str) -> Option<Format> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        Format::from_str(extension, true).ok().or_else(|| Format::of_content(text))
    }

    fn of_content(text: &str) -> Option<Format> {
        let line = text.trim_start_matches('\u{feff}').lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let mut words = line.split_whitespace();
        let (first, second) = (words.next()?, words.next());
        let cell = |word: &str| {
            word.len() <= 4 && word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.ends_with(|c: char| c.is_ascii_digit())
        };
        match line {
            _ if line.starts_with("plybook ") => Some(Format::Ply),
            _ if line.starts_with('(') => Some(Format::Sgf),
            _ if line.starts_with('{') => Some(Format::Jsonl),
            _ if first.bytes().all(|b| b.is_ascii_digit()) => Some(Format::C4),
            _ if cell(first.trim_end_matches(',')) && second.is_some() => Some(Format::Gomoku),
            _ if first.len() > 4
                && first.starts_with(|c: char| c.is_ascii_alphabetic())
                && first.ends_with(|c: char| c.is_ascii_digit()) =>
            {
                Some(Format::Othello)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn extension_first_then_content() {
        let table = [
            ("game.ply", "", Some(Format::Ply)),
            ("games.JSONL", "", Some(Format::Jsonl)),
            ("game.sgf", "", Some(Format::Sgf)),
            ("games.othello", "", Some(Format::Othello)),
            ("games.txt", "plybook 1\n", Some(Format::Ply)),
            ("games.txt", "\n (;GM[4])", Some(Format::Sgf)),
            ("games", "{\"moves\":[]}", Some(Format::Jsonl)),
            ("games", "# pons\n4455 2\n", Some(Format::C4)),
            ("games", "f5d6c3d3", Some(Format::Othello)),
            ("games", "h8 g7 k9", Some(Format::Gomoku)),
            ("games", "h8, g7, k9", Some(Format::Gomoku)),
            ("games", "hello", None),
            ("games", "", None),
        ];
        for (name, text, format) in table {
            assert_eq!(Format::of(Path::new(name), text), format, "{name} {text:?}");
        }
    }
}
