//! The screen and the keyboard while a book is looked through.
//!
//! Invariant: however it ends (a key, an error, a signal, a panic), the terminal is as it was before.

use std::io::{self, Write, stdout};
use std::sync::Once;

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use crossterm::terminal::{self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor as caret, execute, queue};
use futures::StreamExt as _;

use super::cursor::{Cursor, Key, Then};
use super::frame::Frame;
use super::timeline::Timeline;
use crate::drawing::Room;
use crate::exit::{Interrupted, Interrupts};

/// Where a terminal tells no size.
const SIZE: (u16, u16) = (80, 24);
/// The board gets at least so many lines.
const BOARD_LINES_MIN: usize = 6;
const HELP: &str = "left/right: one entry   up/down: ten   Home/End   g: to an entry   q: quit";

/// The terminal while it is ours.
struct Ours;

impl Ours {
    fn take() -> io::Result<Ours> {
        static HOOK: Once = Once::new();
        // A panic is told on the terminal as it was, or nobody would read it.
        HOOK.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                told(panic);
            }));
        });
        terminal::enable_raw_mode()?;
        let ours = Ours;
        execute!(stdout(), EnterAlternateScreen, caret::Hide)?;
        Ok(ours)
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        give_back();
    }
}

/// Each step is tried whatever became of the others, and there is nobody left to tell.
fn give_back() {
    let _ = execute!(stdout(), caret::Show, LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
}

/// Shows the book until its reader leaves.
pub(super) async fn show(timeline: &mut Timeline, mut cursor: Cursor) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let interrupted = || anyhow::Error::new(Interrupted("interrupted".to_owned()));
    let _ours = Ours::take()?;
    let mut events = EventStream::new();
    paint(timeline, &cursor)?;
    loop {
        let event = tokio::select! {
            () = interrupts.next() => return Err(interrupted()),
            event = events.next() => event,
        };
        let then = match event {
            // Nobody is at the terminal any more.
            None => Then::Quit,
            Some(event) => match event? {
                Event::Key(key) if is_interrupt(key) => return Err(interrupted()),
                Event::Key(key) if key.kind != KeyEventKind::Release => meant(key).map_or(Then::Nothing, |key| cursor.press(key)),
                Event::Resize(..) => Then::Show,
                _ => Then::Nothing,
            },
        };
        match then {
            Then::Quit => return Ok(()),
            Then::Nothing => {}
            Then::Show => paint(timeline, &cursor)?,
        }
    }
}

/// In raw mode Ctrl-C is a key.
fn is_interrupt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C'))
}

const fn meant(key: KeyEvent) -> Option<Key> {
    Some(match key.code {
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Char(c) => Key::Char(c),
        _ => return None,
    })
}

fn paint(timeline: &mut Timeline, cursor: &Cursor) -> io::Result<()> {
    let size = terminal::size().unwrap_or(SIZE);
    let (columns, lines) = if size.0 == 0 || size.1 == 0 { SIZE } else { size };
    let frame = Frame::of(timeline, cursor.at());
    let foot = cursor.typed().map_or_else(|| HELP.to_owned(), |typed| format!("go to entry: {typed}_"));
    let page = page(&frame, &foot, Room { columns: usize::from(columns), lines: usize::from(lines) });
    let mut out = stdout().lock();
    queue!(out, caret::MoveTo(0, 0))?;
    for (at, line) in page.iter().enumerate() {
        let end = if at + 1 == page.len() { "" } else { "\r\n" };
        write!(out, "{line}")?;
        queue!(out, Clear(ClearType::UntilNewLine))?;
        write!(out, "{end}")?;
    }
    queue!(out, Clear(ClearType::FromCursorDown))?;
    out.flush()
}

/// A frame as exactly as many lines as there is room for: the board takes what the words leave.
fn page(frame: &Frame, foot: &str, room: Room) -> Vec<String> {
    let wrapped = |lines: &[String]| lines.iter().flat_map(|line| wrap(line, room.columns)).collect::<Vec<_>>();
    let head = wrapped(&[std::slice::from_ref(&frame.title), &frame.news].concat());
    let mut tail = wrapped(&frame.details);
    let foot: String = foot.chars().take(room.columns).collect();
    let fixed = head.len() + 1;
    tail.truncate(room.lines.saturating_sub(fixed + BOARD_LINES_MIN));
    let board_lines = room.lines.saturating_sub(fixed + tail.len());
    let board = frame.picture(Room { lines: board_lines, ..room });
    let mut page = head;
    page.extend(board.lines().take(board_lines).map(|line| line.chars().take(room.columns).collect()));
    page.extend(tail);
    page.truncate(room.lines.saturating_sub(1));
    page.resize(room.lines.saturating_sub(1), String::new());
    page.push(foot);
    page
}

/// A line in as many as it takes, broken at spaces where there are any.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let used = lines.last().map_or(0, |line| line.chars().count());
            let wide = word.iter().collect::<String>().trim_end().chars().count();
            if used + wide <= columns {
                lines.last_mut().into_iter().for_each(|line| line.extend(word.iter()));
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let rest = word.split_off(columns);
            lines.last_mut().into_iter().for_each(|line| line.extend(word.iter()));
            lines.push(String::new());
            word = rest;
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::wrap;

    #[test]
    fn lines_are_broken_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 80), ["one two three"]);
        assert_eq!(wrap("abcdefghij kl", 4), ["abcd", "efgh", "ij", "kl"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("abc", 0), ["a", "b", "c"]);
    }
}
