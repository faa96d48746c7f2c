//! Lines from standard input, without holding up anything else.
//!
//! Invariant: waiting for a line may be dropped without losing one. The thread that reads ends with
//! the process: a read from a terminal cannot be called off.

use std::io;

use tokio::sync::mpsc;

/// Standard input, line by line.
#[derive(Debug)]
pub(crate) struct Keyboard {
    lines: mpsc::Receiver<io::Result<String>>,
    ended: bool,
}

impl Keyboard {
    /// The process's own.
    pub(crate) fn new() -> Keyboard {
        let (send, lines) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in io::stdin().lines() {
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

    /// The next line; nothing at the end of the input.
    pub(crate) async fn line(&mut self) -> io::Result<Option<String>> {
        match self.lines.recv().await {
            Some(line) => line.map(Some),
            None => {
                self.ended = true;
                Ok(None)
            }
        }
    }
}
