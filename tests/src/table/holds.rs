//! What a test says is true at the table.
//!
//! Invariant: each says so of the head, fails with the board drawn where that helps, and changes nothing.

use plybook_core::game::State;
use plybook_core::{Seat, SeatSet};

use super::Table;

/// What is true at the table.
impl Table {
    /// The pieces, rows from the top separated by line ends or `/`; spaces around rows do not count.
    #[track_caller]
    pub fn board(self, rows: &str) -> Table {
        let rows: Vec<&str> = rows.split(['\n', '/']).map(str::trim).filter(|row| !row.is_empty()).collect();
        assert_eq!(self.drawn(), rows.join("\n"));
        self
    }

    /// The square of each seat's token on a track.
    #[track_caller]
    pub fn squares(self, squares: &[u32]) -> Table {
        assert_eq!(self.tokens(), squares);
        self
    }

    /// This seat is to move.
    #[track_caller]
    pub fn turn(self, seat: u8) -> Table {
        assert_eq!(self.game().to_move(), Some(Seat(seat)), "to move\n{}", self.drawn());
        self
    }

    /// So many moves stand.
    #[track_caller]
    pub fn ply(self, ply: u32) -> Table {
        assert_eq!(self.position().ply(), ply, "standing moves");
        self
    }

    /// These actions are legal and no others; the order does not count.
    #[track_caller]
    pub fn legal(self, notations: &str) -> Table {
        let mut want: Vec<&str> = notations.split_whitespace().collect();
        want.sort_unstable();
        let mut have: Vec<String> = self.game().play().legal().iter().map(|action| self.game().rules().write_action(*action)).collect();
        have.sort_unstable();
        assert_eq!(have, want, "legal actions");
        self
    }

    /// The scores are these.
    #[track_caller]
    pub fn scores(self, scores: &[i64]) -> Table {
        assert_eq!(self.game().rules().scores(self.position()), scores);
        self
    }

    /// Nobody has won, and somebody is to move.
    #[track_caller]
    pub fn goes_on(self) -> Table {
        assert_eq!(self.game().outcome(), None, "\n{}", self.drawn());
        self
    }

    /// This seat alone has won.
    #[track_caller]
    pub fn wins(self, seat: u8) -> Table {
        self.win_together(&[seat])
    }

    /// These seats have won together.
    #[track_caller]
    pub fn win_together(self, seats: &[u8]) -> Table {
        let winners = self.game().outcome().map(|outcome| outcome.winning_seats());
        assert_eq!(winners, Some(seats.iter().copied().map(Seat).collect::<SeatSet>()), "winners\n{}", self.drawn());
        self
    }

    /// Nobody has won, for this reason.
    #[track_caller]
    pub fn draws(self, reason: &str) -> Table {
        self.win_together(&[]).because(reason)
    }

    /// The game is over for this reason.
    #[track_caller]
    pub fn because(self, reason: &str) -> Table {
        assert_eq!(self.game().outcome().map(|outcome| outcome.reason.as_str()), Some(reason));
        self
    }

    /// These cells decided the game; the order does not count.
    #[track_caller]
    pub fn through(self, cells: &str) -> Table {
        let outcome = self.game().outcome().unwrap_or_else(|| panic!("the game goes on\n{}", self.drawn()));
        let mut have: Vec<String> =
            outcome.lines.iter().flat_map(|run| run.cells()).map(|cell| self.game().rules().cell_name(cell)).collect();
        let mut want: Vec<&str> = cells.split_whitespace().collect();
        have.sort_unstable();
        want.sort_unstable();
        assert_eq!(have, want, "deciding cells");
        self
    }

    /// Nothing is appended any more, and the book shows the seed.
    #[track_caller]
    pub fn closed(self) -> Table {
        assert_eq!(self.game().state(), State::Closed);
        self
    }
}
