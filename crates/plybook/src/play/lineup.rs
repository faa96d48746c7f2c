//! Who sits where: people and bots at one table.
//!
//! Invariant: a person's seat is never given to a bot, and bots sit in the order in which they were named.

/// How many seats a table has, and which of the bots named, if any, sits in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lineup {
    /// By seat.
    pub(super) bots: Vec<Option<usize>>,
}

/// What is asked of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    /// The number of seats, if one is named.
    pub(super) seats: Option<u32>,
    /// How many players or marks are named.
    pub(super) named: u32,
    /// Fewest and most seats that the rules allow.
    pub(super) allowed: (u32, u32),
    /// The person's seat, if one is named.
    pub(super) seat: Option<u32>,
    /// How many bots are named.
    pub(super) bots: usize,
}

impl Lineup {
    /// Seats everybody: the bots in the last seats that are nobody else's.
    pub(super) fn of(wish: Wish) -> Result<Lineup, String> {
        let (least, most) = wish.allowed;
        let usual = 2.clamp(least, most.max(least));
        let seats = wish.seats.unwrap_or_else(|| {
            let people = if wish.named > 0 { wish.named.max(least) } else { usual };
            // One more than bots: whoever calls plays too, where there is a seat left.
            people.max((wish.bots as u32).saturating_add(1).min(most))
        });
        // A number out of reach is the server's to refuse, but not for us to allocate.
        let seats = seats.min(1000) as usize;
        let mut lineup = Lineup { bots: vec![None; seats] };
        if wish.bots == 0 {
            return Ok(lineup);
        }
        if wish.bots > seats {
            let table = if seats == 1 { "1 seat".to_owned() } else { format!("{seats} seats") };
            return Err(format!("--bot: the table has {table}, but {} bots are named", wish.bots));
        }
        let person = match wish.seat.map(|seat| seat as usize) {
            Some(seat) if wish.bots == seats && seat < seats => {
                return Err(format!("--seat: all {seats} seats are bots', so nobody else plays"));
            }
            _ if wish.bots == seats => None,
            named => Some(named.unwrap_or(0)),
        };
        let free: Vec<usize> = (0..seats).filter(|seat| Some(*seat) != person).collect();
        let first = free.len().saturating_sub(wish.bots);
        for (bot, seat) in free[first..].iter().enumerate() {
            lineup.bots[*seat] = Some(bot);
        }
        Ok(lineup)
    }

    /// The seats where people sit.
    pub(super) fn people(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.bots).filter(|(_, bot)| bot.is_none()).map(|(seat, _)| seat)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[track_caller]
    fn seats(seats: Option<u32>, seat: Option<u32>, bots: usize, allowed: (u32, u32), are: &str) {
        let lineup = Lineup::of(Wish { seats, named: 0, allowed, seat, bots });
        let shown =
            lineup.map(|lineup| lineup.bots.iter().map(|bot| bot.map_or('-', |bot| (b'a' + bot as u8) as char)).collect::<String>());
        assert_eq!(shown.as_deref(), Ok(are));
    }

    #[test]
    fn bots_take_the_seats_that_are_left() {
        seats(None, None, 0, (2, 8), "--");
        seats(None, None, 0, (3, 8), "---");
        seats(None, None, 1, (2, 8), "-a");
        seats(None, Some(1), 1, (2, 8), "a-");
        seats(None, None, 2, (2, 8), "-ab");
        seats(None, Some(1), 2, (2, 8), "a-b");
        seats(None, None, 2, (2, 2), "ab");
        seats(Some(2), None, 2, (2, 8), "ab");
        seats(Some(4), None, 2, (2, 8), "--ab");
        seats(Some(4), Some(3), 2, (2, 8), "-ab-");
        seats(Some(4_000_000), None, 0, (2, 8), &"-".repeat(1000));
    }

    #[test]
    fn too_many_bots_are_refused() {
        let refused = |seats, seat, bots| Lineup::of(Wish { seats: Some(seats), named: 0, allowed: (2, 8), seat, bots }).unwrap_err();
        assert_eq!(refused(2, None, 3), "--bot: the table has 2 seats, but 3 bots are named");
        assert_eq!(refused(2, Some(1), 2), "--seat: all 2 seats are bots', so nobody else plays");
    }

    #[test]
    fn people_are_the_others() {
        let lineup = Lineup::of(Wish { seats: Some(4), named: 0, allowed: (2, 8), seat: Some(3), bots: 2 }).unwrap();
        assert_eq!(lineup.people().collect::<Vec<_>>(), [0, 3]);
    }
}
