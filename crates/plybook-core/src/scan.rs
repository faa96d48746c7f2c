//! Reading the small pieces that headers and lines are made of.
//!
//! Invariant: each reader accepts exactly what the writer beside it prints.

use crate::seat::{Seat, SeatSet};

/// Why a piece of text does not parse.
pub(crate) type Why = String;

/// A number without sign and leading zero.
pub(crate) fn number<N: std::str::FromStr>(text: &str) -> Result<N, Why> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return Err(format!("{text:?} is not a number"));
    }
    text.parse().map_err(|_| format!("{text} is too large"))
}

/// A number that may be negative.
pub(crate) fn int(text: &str) -> Result<i64, Why> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let value: Option<i64> = plain.then(|| text.parse().ok()).flatten();
    match value {
        Some(value) if value.to_string() == text => Ok(value),
        _ => Err(format!("{text:?} is not an integer")),
    }
}

/// `[a-z][a-z0-9_]*`, 32 bytes at most.
pub(crate) fn name(text: &str) -> Result<&str, Why> {
    let fits = text.len() <= 32
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits { Ok(text) } else { Err(format!("{text:?} is not a name")) }
}

/// A seat's number.
pub(crate) fn seat(text: &str) -> Result<Seat, Why> {
    let seat: u8 = number(text)?;
    if seat >= crate::limits::SEATS_MAX { Err(format!("there is no seat {seat}")) } else { Ok(Seat(seat)) }
}

/// Seats, ascending: `0` or `0,2`.
pub(crate) fn seats(text: &str) -> Result<SeatSet, Why> {
    let set: SeatSet = text.split(',').map(seat).collect::<Result<Vec<_>, _>>()?.into_iter().collect();
    if set.to_string() == text { Ok(set) } else { Err(format!("{text:?} is not an ascending list of seats")) }
}

/// Whether a book may not hold this character, even in quotation marks.
pub(crate) fn is_control(c: char) -> bool {
    c.is_control() || c == '\u{2028}' || c == '\u{2029}'
}

/// Text in quotation marks.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Takes a quoted text off the front; answers it and what follows.
pub(crate) fn unquote(text: &str) -> Result<(String, &str), Why> {
    let Some(inside) = text.strip_prefix('"') else { return Err("a quotation mark is missing".to_owned()) };
    let mut value = String::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &inside[at + 1..])),
            '\\' => match chars.next() {
                Some((_, c @ ('"' | '\\'))) => value.push(c),
                _ => return Err("a backslash stands before neither \" nor \\".to_owned()),
            },
            c if is_control(c) => return Err("there is a control character".to_owned()),
            c => value.push(c),
        }
    }
    Err("the closing quotation mark is missing".to_owned())
}
