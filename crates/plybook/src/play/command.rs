//! What a line at the keyboard means.
//!
//! Invariant: a line that is no command is a move; the server reads it, not we.

use std::num::NonZero;

/// A line read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A move in the ruleset's notation.
    Move(String),
    /// To take back so many plies; without a number, the last move of the seat that plays here.
    Undo(Option<NonZero<usize>>),
    /// To list what may be played.
    Legal,
    /// To draw the board again.
    Board,
    /// To close a finished game.
    Close,
    /// To give the game up.
    Resign,
    /// To break the game off, early in it.
    Abort,
    /// To offer a draw.
    Draw,
    /// To agree to what is offered.
    Accept,
    /// Not to agree to it, or to take back one's own offer.
    Decline,
    /// To be told what could be played.
    Hint,
    /// To play another game of those who played this one.
    Rematch,
    /// To tell the commands.
    Help,
    /// To leave.
    Quit,
    /// A blank line or a comment.
    Nothing,
}

/// The commands for people.
pub(crate) const HELP: &str = "\
A move is written as the board names its cells: b2, 4, 4^ (pop out), roll.
undo      take the last move back; undo 3 takes three back; against bots, one's own moves with what they answered;
          where the game wants everybody's consent, the others are asked
legal     list what may be played
hint      what a strong player would do, and who threatens to win where
board     draw the board again
draw      offer a draw
accept    agree to what is offered: a draw, or that moves are taken back
decline   do not agree; of one's own offer, take it back
resign    give the game up
abort     break the game off without a result, early in it
rematch   once the game is over, play another, with the seats changed
close     close a finished game for good, or end one that seats did not join in time
quit      leave; the game stays as it is";

impl Command {
    /// Whether it may be done on another's turn. What may not waits for one's own.
    pub(crate) const fn any_time(&self) -> bool {
        !matches!(self, Command::Move(_) | Command::Undo(_) | Command::Legal | Command::Hint)
    }

    /// Reads a line.
    pub(crate) fn read(line: &str) -> Command {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match (word.to_ascii_lowercase().as_str(), rest.trim()) {
            ("", _) => Command::Nothing,
            (comment, _) if comment.starts_with('#') => Command::Nothing,
            ("undo", "") => Command::Undo(None),
            ("undo", plies) => plies.parse().map_or_else(|_| Command::Move(line.to_owned()), |plies| Command::Undo(Some(plies))),
            ("legal" | "moves", "") => Command::Legal,
            ("board", "") => Command::Board,
            ("close", "") => Command::Close,
            ("resign", "") => Command::Resign,
            ("abort", "") => Command::Abort,
            ("draw", "") => Command::Draw,
            ("accept" | "agree", "") => Command::Accept,
            ("decline" | "withdraw", "") => Command::Decline,
            ("hint", "") => Command::Hint,
            ("rematch", "") => Command::Rematch,
            ("help" | "?", "") => Command::Help,
            ("quit" | "exit" | "q", "") => Command::Quit,
            (_, "") => Command::Move(word.to_owned()),
            _ => Command::Move(line.to_owned()),
        }
    }
}

/// Words in lines of a terminal's width.
pub(crate) fn in_lines(words: &[String]) -> String {
    const WIDTH: usize = 78;
    let mut lines = vec![String::new()];
    for word in words {
        let full = lines.last().is_some_and(|line| !line.is_empty() && line.len() + 1 + word.len() > WIDTH);
        if full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn lines_are_commands_or_moves() {
        let moves = |text: &str| Command::Move(text.to_owned());
        let table = [
            (" b2 ", moves("b2")),
            ("4^", moves("4^")),
            ("B2", moves("B2")),
            ("roll", moves("roll")),
            ("undo", Command::Undo(None)),
            ("UNDO 3", Command::Undo(NonZero::new(3))),
            ("undo it", moves("undo it")),
            ("legal", Command::Legal),
            ("?", Command::Help),
            ("quit", Command::Quit),
            ("close", Command::Close),
            ("Resign", Command::Resign),
            ("draw", Command::Draw),
            ("draw 4", moves("draw 4")),
            ("accept", Command::Accept),
            ("withdraw", Command::Decline),
            ("abort", Command::Abort),
            ("hint", Command::Hint),
            ("rematch", Command::Rematch),
            ("", Command::Nothing),
            ("# the corner", Command::Nothing),
        ];
        for (line, command) in table {
            assert_eq!(Command::read(line), command, "{line:?}");
        }
    }

    #[test]
    fn long_lists_are_broken() {
        let words: Vec<String> = (0..40).map(|n| format!("a{n}")).collect();
        let lines = in_lines(&words);
        assert!(lines.lines().all(|line| line.len() <= 78) && lines.lines().count() == 2, "{lines}");
        assert_eq!(lines.split_whitespace().count(), 40);
        assert_eq!(in_lines(&[]), "");
    }
}
