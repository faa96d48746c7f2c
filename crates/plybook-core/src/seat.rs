//! Seats at the table and small sets of them.
//!
//! Invariant: seats are numbered from 0 in turn order and never shift when somebody leaves.

use std::fmt;

/// A place at the table, from 0 in turn order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seat(pub u8);

impl Seat {
    /// Position in arrays that hold one value a seat.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The seat after this one among `seats`, around the table.
    pub const fn next(self, seats: u8) -> Seat {
        if self.0 + 1 >= seats { Seat(0) } else { Seat(self.0 + 1) }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of seats, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeatSet(u16);

impl SeatSet {
    /// No seat.
    pub const EMPTY: SeatSet = SeatSet(0);

    /// Just `seat`.
    pub const fn only(seat: Seat) -> SeatSet {
        SeatSet(1 << seat.0)
    }

    /// The seats 0 up to, not including, `seats`.
    pub const fn all(seats: u8) -> SeatSet {
        SeatSet(((1u32 << seats) - 1) as u16)
    }

    /// This set and `seat`.
    #[must_use]
    pub const fn with(self, seat: Seat) -> SeatSet {
        SeatSet(self.0 | 1 << seat.0)
    }

    /// This set less `seat`.
    #[must_use]
    pub const fn without(self, seat: Seat) -> SeatSet {
        SeatSet(self.0 & !(1 << seat.0))
    }

    /// Whether `seat` is in it.
    pub const fn contains(self, seat: Seat) -> bool {
        self.0 & (1 << seat.0) != 0
    }

    /// Whether nobody is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many seats are in it.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// The seats, ascending.
    pub fn iter(self) -> impl Iterator<Item = Seat> {
        (0..16).map(Seat).filter(move |seat| self.contains(*seat))
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> Self {
        seats.into_iter().fold(SeatSet::EMPTY, SeatSet::with)
    }
}

/// As in a book: `0` or `0,2`.
impl fmt::Display for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, seat) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            seat.fmt(f)?;
        }
        Ok(())
    }
}
