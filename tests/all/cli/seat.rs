//! One keyboard of several at one table, which stays open for as long as a test likes.
//!
//! Invariant: a test waits for what is shown, never for time.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::{House, command, ended};

/// One terminal of several at one table, whose keyboard stays open.
pub(super) struct Seat {
    child: Child,
    keyboard: Option<ChildStdin>,
    out: BufReader<ChildStdout>,
    shown: String,
}

impl Seat {
    pub(super) fn open(house: &House, args: &[&str]) -> Seat {
        let url = house.node.url();
        let mut child = command(&[&["play", "--server", &url], args].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let (keyboard, out) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Seat { child, keyboard, out, shown: String::new() }
    }

    /// A new game, whose id is known.
    pub(super) fn first(house: &House, args: &[&str]) -> (Seat, String) {
        let mut seat = Seat::open(house, args);
        seat.shows("\n");
        let game = seat.shown.lines().next().unwrap().strip_prefix("Game ").unwrap().to_owned();
        (seat, game)
    }

    pub(super) fn types(&mut self, line: &str) -> &mut Seat {
        self.keyboard.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
        self
    }

    /// Reads on until this is shown.
    #[track_caller]
    pub(super) fn shows(&mut self, text: &str) -> &mut Seat {
        while !self.shown.contains(text) {
            assert_ne!(self.out.read_line(&mut self.shown).unwrap(), 0, "{text:?} is not shown: {}", self.shown);
        }
        self
    }

    /// All that it showed, once it ended well.
    #[track_caller]
    pub(super) fn ended(mut self) -> String {
        self.shows("The game is closed.");
        drop(self.keyboard.take());
        self.out.read_to_string(&mut self.shown).unwrap();
        ended(self.child).ok();
        self.shown
    }
}
