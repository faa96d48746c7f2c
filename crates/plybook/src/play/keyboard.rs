//! Lines from standard input, without holding up anything else.
//!
//! Invariant: waiting for a line may be dropped without losing one. The thread that reads ends with
//! the process: a read from a terminal cannot be called off.

use std::io::{self, BufRead as _};

use tokio::sync::mpsc;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line.
    Line(String),
    /// A line that is not UTF-8.
    NotText,
    /// No line follows.
    End,
}

/// Standard input, line by line.
#[derive(Debug)]
pub(crate) struct Keyboard {
    lines: mpsc::Receiver<io::Result<Vec<u8>>>,
    ended: bool,
}

impl Keyboard {
    /// The process's own.
    pub(crate) fn new() -> Keyboard {
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in io::stdin().lock().split(b'\n') {
                if send.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Keyboard { lines, ended: false }
    }

    /// Whether the input has ended.
    pub(crate) const fn ended(&self) -> bool {
        self.ended
    }

    /// The next line.
    pub(crate) async fn line(&mut self) -> io::Result<Typed> {
        let Some(line) = self.lines.recv().await else {
            self.ended = true;
            return Ok(Typed::End);
        };
        Ok(String::from_utf8(line?).map_or(Typed::NotText, Typed::Line))
    }
}
