//! Where a throw takes a token, and what becomes of the turn.
//!
//! Invariant: a throw beyond the last square never leaves the track, and a third highest throw in a
//! row is judged before it is moved.

use plybook_core::dice::Throw;

use super::jumps::Jumps;

/// What a throw beyond the last square does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// The token stays where it is: the last square wants an exact throw.
    Stay,
    /// The token turns round on the last square and goes back the rest.
    Bounce,
    /// The token has reached the last square.
    Reach,
}

/// What a throw of every die's highest face earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// Nothing.
    Never,
    /// Another throw, always.
    Always,
    /// Another throw; a third in a row is not played and ends the turn.
    ThirdEndsTurn,
    /// Another throw; a third in a row takes the token back to where the turn began and ends it.
    ThirdVoidsTurn,
}

/// A token in the course of its seat's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    /// Where it stands.
    pub(super) square: u16,
    /// Highest throws in a row so far; where their number means nothing, 1 for any. Not 0 exactly
    /// while the seat has another throw.
    pub(super) streak: u8,
    /// Where the turn began, kept only while that matters; otherwise 0.
    pub(super) began: u16,
}

impl Turn {
    /// Before the first throw.
    pub(super) const fn at(square: u16) -> Turn {
        Turn { square, streak: 0, began: 0 }
    }
}

/// Everything that decides where a token goes.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// The last square.
    pub(super) last: u16,
    /// Where tokens begin.
    pub(super) start: u16,
    /// Snakes and ladders.
    pub(super) jumps: Jumps,
    /// The dice.
    pub(super) throw: Throw,
    /// What a throw beyond the last square does.
    pub(super) finish: Finish,
    /// What a highest throw earns.
    pub(super) extra: Extra,
}

impl Course {
    /// The smallest sum of the dice.
    pub(super) fn least(&self) -> u16 {
        u16::from(self.throw.dice)
    }

    /// The greatest sum of the dice: every die shows its highest face.
    pub(super) fn greatest(&self) -> u16 {
        u16::from(self.throw.dice) * u16::from(self.throw.sides)
    }

    /// The turn after a throw of `total`. Its streak is 0 when the turn is over, as it is on the
    /// last square.
    pub(super) fn after(&self, turn: Turn, total: u16) -> Turn {
        if total < self.greatest() || self.extra == Extra::Never {
            return Turn::at(self.land(turn.square, total));
        }
        match self.extra {
            Extra::ThirdEndsTurn if turn.streak == 2 => return Turn::at(turn.square),
            Extra::ThirdVoidsTurn if turn.streak == 2 => return Turn::at(turn.began),
            _ => {}
        }
        let square = self.land(turn.square, total);
        if square == self.last {
            return Turn::at(square);
        }
        let streak = if self.extra == Extra::Always { 1 } else { turn.streak + 1 };
        let began = match self.extra {
            Extra::ThirdVoidsTurn if turn.streak == 0 => turn.square,
            _ => turn.began,
        };
        Turn { square, streak, began }
    }

    fn land(&self, from: u16, total: u16) -> u16 {
        let reached = from + total;
        if reached <= self.last {
            return self.jumps.end(reached);
        }
        match self.finish {
            // Not an arrival: a jump that starts here is not taken.
            Finish::Stay => from,
            Finish::Bounce => self.jumps.end(self.last - (reached - self.last)),
            Finish::Reach => self.last,
        }
    }
}
