//! Where the person at this keyboard sits.
//!
//! Invariant: a place is told in words that another command understands, whatever the marks are.

use plybook_proto::v1;

use crate::words;

/// One seat, or all that are people's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The seat; none where every person plays here.
    pub(crate) seat: Option<u32>,
    /// Whether it is called by its mark.
    by_mark: bool,
}

impl Place {
    /// The seat with this number.
    pub(crate) const fn numbered(seat: u32) -> Place {
        Place { seat: Some(seat), by_mark: false }
    }

    /// The seat with this number, which is called by its mark.
    pub(crate) const fn marked(seat: u32) -> Place {
        Place { seat: Some(seat), by_mark: true }
    }

    /// The seat with this mark.
    pub(crate) fn named(mark: &str, marks: &[String]) -> Result<Place, String> {
        let seat = marks.iter().position(|known| known == mark).or_else(|| {
            let mut alike = marks.iter().enumerate().filter(|(_, known)| known.eq_ignore_ascii_case(mark)).map(|(seat, _)| seat);
            alike.next().filter(|_| alike.next().is_none())
        });
        let seat = seat.ok_or_else(|| format!("--as: nobody at the table has the mark {mark:?}; there are {}", marks.join(", ")))?;
        Ok(Place::marked(seat as u32))
    }

    /// The flag with which another command has it, with a space before it.
    pub(crate) fn flag(&self, marks: &[String]) -> String {
        let Some(seat) = self.seat else { return String::new() };
        let mark = words::seat_name(seat, marks);
        let plain = !mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if self.by_mark && plain { format!(" --as {mark}") } else { format!(" --seat {seat}") }
    }

    /// Whether a seat is played here, as far as it is a person's.
    pub(crate) fn has(&self, seat: u32) -> bool {
        self.seat.is_none_or(|here| here == seat)
    }

    /// Another seat, called in the same way.
    pub(crate) const fn of(&self, seat: u32) -> Place {
        Place { seat: Some(seat), by_mark: self.by_mark }
    }

    /// Where whoever sat here sits in the rematch: players move on by a seat, and bots too.
    pub(crate) fn in_rematch(&self, rematch: &v1::Game) -> Place {
        let seats = rematch.seats.len() as u32;
        Place { seat: self.seat.map(|seat| (seat + seats.saturating_sub(1)) % seats.max(1)), ..*self }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn places_are_named_and_told() {
        let marks = ["X".to_owned(), "O".to_owned(), "the red".to_owned()];
        assert_eq!(Place::named("O", &marks).unwrap().flag(&marks), " --as O");
        assert_eq!(Place::named("o", &marks).unwrap().seat, Some(1));
        assert_eq!(Place::named("the red", &marks).unwrap().flag(&marks), " --seat 2");
        assert_eq!(Place::numbered(1).flag(&marks), " --seat 1");
        assert_eq!(Place::default().flag(&marks), "");
        assert!(Place::named("Z", &marks).unwrap_err().contains("there are X, O, the red"));
    }

    #[test]
    fn players_move_on_by_a_seat() {
        let rematch = |seats| v1::Game { seats: vec![v1::Seat::default(); seats], ..v1::Game::default() };
        assert_eq!(Place::marked(0).in_rematch(&rematch(2)), Place::marked(1));
        assert_eq!(Place::numbered(0).in_rematch(&rematch(3)), Place::numbered(2));
        assert_eq!(Place::numbered(2).in_rematch(&rematch(3)), Place::numbered(1));
        assert_eq!(Place::default().in_rematch(&rematch(3)), Place::default());
    }
}
