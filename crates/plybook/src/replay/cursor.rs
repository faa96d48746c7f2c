//! Where one stands in a book, and what each key does about it.
//!
//! Invariant: one stands at a step that is there, whatever is typed.

/// A key, as far as it means anything here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    Char(char),
}

/// What a key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Draw again.
    Show,
    /// Nothing changed.
    Nothing,
    /// Leave.
    Quit,
}

/// How far the up and down keys go.
const FAR: u32 = 10;
/// Digits of the greatest number of an entry.
const DIGITS_MAX: usize = 9;

/// Where one stands: steps count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    at: u32,
    last: u32,
    /// The number being typed after `g`.
    typed: Option<String>,
}

impl Cursor {
    /// At this step of so many, or the nearest that is there.
    pub(super) fn new(at: u32, last: u32) -> Cursor {
        let last = last.max(1);
        Cursor { at: at.clamp(1, last), last, typed: None }
    }

    /// The step.
    pub(super) const fn at(&self) -> u32 {
        self.at
    }

    /// The number being typed, if one is.
    pub(super) fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    /// Does what a key says.
    pub(super) fn press(&mut self, key: Key) -> Then {
        match self.typed.take() {
            Some(typed) => self.type_on(typed, key),
            None => self.go(key),
        }
    }

    fn go(&mut self, key: Key) -> Then {
        let to = match key {
            Key::Left => self.at.saturating_sub(1),
            Key::Right => self.at + 1,
            Key::Up => self.at.saturating_sub(FAR),
            Key::Down => self.at + FAR,
            Key::Home => 1,
            Key::End => self.last,
            Key::Char('g') => {
                self.typed = Some(String::new());
                return Then::Show;
            }
            Key::Char('q') | Key::Escape => return Then::Quit,
            Key::Enter | Key::Backspace | Key::Char(_) => return Then::Nothing,
        };
        self.stand(to)
    }

    fn type_on(&mut self, mut typed: String, key: Key) -> Then {
        match key {
            Key::Char(digit) if digit.is_ascii_digit() && typed.len() < DIGITS_MAX => typed.push(digit),
            Key::Backspace => drop(typed.pop()),
            Key::Enter => {
                // Without a number one stays.
                let to = typed.parse().unwrap_or(self.at);
                self.stand(to);
                return Then::Show;
            }
            Key::Escape => return Then::Show,
            // Whoever steps on has changed their mind.
            Key::Left | Key::Right | Key::Up | Key::Down | Key::Home | Key::End => {
                self.go(key);
                return Then::Show;
            }
            Key::Char(_) => {}
        }
        self.typed = Some(typed);
        Then::Show
    }

    fn stand(&mut self, to: u32) -> Then {
        let to = to.clamp(1, self.last);
        if std::mem::replace(&mut self.at, to) == to { Then::Nothing } else { Then::Show }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn keys(text: &str) -> Vec<Key> {
        let key = |c| match c {
            '<' => Key::Left,
            '>' => Key::Right,
            '^' => Key::Up,
            'v' => Key::Down,
            'H' => Key::Home,
            'E' => Key::End,
            '\n' => Key::Enter,
            '!' => Key::Escape,
            '~' => Key::Backspace,
            other => Key::Char(other),
        };
        text.chars().map(key).collect()
    }

    #[track_caller]
    fn check(pressed: &str, at: u32, last_says: Then) {
        let mut cursor = Cursor::new(5, 25);
        let said = keys(pressed).into_iter().map(|key| cursor.press(key)).last().unwrap();
        assert_eq!((cursor.at(), said), (at, last_says), "{pressed:?}");
    }

    #[test]
    fn keys_step_and_jump_and_never_leave_the_book() {
        check(">", 6, Then::Show);
        check("<<", 3, Then::Show);
        check("v", 15, Then::Show);
        check("vv", 25, Then::Show);
        check("vvv", 25, Then::Nothing);
        check("^", 1, Then::Show);
        check("^<", 1, Then::Nothing);
        check("E", 25, Then::Show);
        check("EH", 1, Then::Show);
        check("x", 5, Then::Nothing);
        check("q", 5, Then::Quit);
        check("!", 5, Then::Quit);
    }

    #[test]
    fn a_number_is_typed_after_g() {
        check("g12", 5, Then::Show);
        check("g12\n", 12, Then::Show);
        check("g999999999999\n", 25, Then::Show);
        check("g0\n", 1, Then::Show);
        check("g\n", 5, Then::Show);
        check("g129~\n", 12, Then::Show);
        check("gq1x9\n", 19, Then::Show);
        check("g12!", 5, Then::Show);
        check("g12!!", 5, Then::Quit);
        check("g12>", 6, Then::Show);
        check("g12>>", 7, Then::Show);
    }
}
