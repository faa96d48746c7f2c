//! Standard output as commands write to it.
//!
//! Invariant: a reader who goes away is an error to return, never a panic.

use std::io::{self, IsTerminal, Write};

/// Standard output.
#[derive(Debug)]
pub(crate) struct Screen {
    terminal: bool,
}

impl Screen {
    /// The process's own.
    pub(crate) fn new() -> Screen {
        Screen { terminal: io::stdout().is_terminal() }
    }

    /// One or several lines.
    pub(crate) fn say(&self, text: impl AsRef<str>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()
    }

    /// The beginning of a line that the person at the terminal finishes.
    pub(crate) fn prompt(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        write!(out, "{text}")?;
        out.flush()
    }

    /// A picture in the place of the one before; below it where that cannot be.
    pub(crate) fn frame(&self, text: &str) -> io::Result<()> {
        if self.terminal { self.say(format!("\x1b[2J\x1b[H{text}")) } else { self.say(format!("{text}\n")) }
    }
}
