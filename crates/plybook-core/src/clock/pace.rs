//! How time is dealt out, and what a turn costs.
//!
//! Invariant: what is left of a bank falls by a millisecond each millisecond, to 0 and no further; what
//! ends a turn can only leave more than that, never less.

/// How time is dealt out. Each seat has time of its own, and all have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// So long for each turn; what is not used is lost.
    PerMove {
        /// For a turn.
        ms: u64,
    },
    /// A stock for the game, and more for each move made: R. Fischer's clock (US patent 4,884,255), FIDE's
    /// *cumulative mode* (Laws of Chess, glossary).
    ///
    /// The increment comes after the move. FIDE and US Chess have it come before each, the first
    /// included: whoever wants that gives a stock that is greater by the increment.
    Fischer {
        /// The stock.
        total_ms: u64,
        /// More after each move.
        increment_ms: u64,
    },
    /// A stock for the game, of which each turn uses only what it takes longer than the delay: FIDE's
    /// *delay mode* as D. Bronstein made it.
    ///
    /// The stock runs at once, and time is over when it is used up; after the turn the lesser of the
    /// delay and the time taken is given back, so that it is never more than before. US Chess's *simple
    /// delay* (rule 5F) waits first and runs then, which at the end of the stock is longer by the delay:
    /// whoever wants that gives a stock that is greater by the delay.
    Bronstein {
        /// The stock.
        total_ms: u64,
        /// As much of each turn costs nothing.
        delay_ms: u64,
    },
    /// Main time, then periods, as Go and shogi are played in Japan (*byo-yomi*).
    ///
    /// A turn that ends within a period, its last millisecond included, leaves the period whole; a
    /// period that a turn uses up and goes beyond is gone. Time is over with the last one.
    ByoYomi {
        /// Main time; may be 0.
        main_ms: u64,
        /// A period.
        period_ms: u64,
        /// How many.
        periods: u32,
    },
    /// Days for each turn, as games by letter have.
    Correspondence {
        /// For a turn.
        days: u32,
    },
}

/// The time of one seat while its turn has not begun: what its next turn begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bank {
    /// Stock, main time, or the time of a turn.
    pub ms: u64,
    /// Byo-yomi periods that follow; 0 in every other pace.
    pub periods: u32,
}

/// What a seat has left at some moment: `ms`, and after those so many whole periods.
///
/// In byo-yomi, `ms` is main time until that is used up, and then what is left of the period that runs,
/// which `periods` does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remaining {
    /// What runs now.
    pub ms: u64,
    /// Whole byo-yomi periods that follow; 0 in every other pace.
    pub periods: u32,
}

const DAY_MS: u64 = 86_400_000;

impl Pace {
    /// What every seat begins with.
    pub const fn full(self) -> Bank {
        match self {
            Pace::PerMove { ms } => Bank { ms, periods: 0 },
            Pace::Fischer { total_ms, .. } | Pace::Bronstein { total_ms, .. } => Bank { ms: total_ms, periods: 0 },
            Pace::ByoYomi { main_ms, periods, .. } => Bank { ms: main_ms, periods },
            Pace::Correspondence { days } => Bank { ms: DAY_MS.saturating_mul(days as u64), periods: 0 },
        }
    }

    /// Whether a seat that has used up its time has some again in its next turn.
    pub const fn renews(self) -> bool {
        match self {
            Pace::Fischer { increment_ms, .. } => increment_ms > 0,
            Pace::Bronstein { delay_ms, .. } => delay_ms > 0,
            Pace::PerMove { .. } | Pace::ByoYomi { .. } | Pace::Correspondence { .. } => true,
        }
    }

    /// All of it as one number.
    pub const fn total_ms(self, left: Remaining) -> u64 {
        let Pace::ByoYomi { period_ms, .. } = self else { return left.ms };
        left.ms.saturating_add(period_ms.saturating_mul(left.periods as u64))
    }

    /// What is left of `bank` in a turn that has used so much.
    pub(super) fn left(self, bank: Bank, used: u64) -> Remaining {
        match self {
            Pace::ByoYomi { period_ms, .. } if used > bank.ms => {
                let (over, lost) = overtime(bank.ms, period_ms, used);
                match bank.periods.checked_sub(lost) {
                    None | Some(0) => Remaining::default(),
                    Some(periods) => {
                        let gone = period_ms.saturating_mul(u64::from(lost));
                        Remaining { ms: period_ms.saturating_sub(over.saturating_sub(gone)), periods: periods - 1 }
                    }
                }
            }
            _ => Remaining { ms: bank.ms.saturating_sub(used), periods: bank.periods },
        }
    }

    /// What a turn that has used so much leaves, however it ended.
    pub(super) fn charged(self, bank: Bank, used: u64) -> Bank {
        match self {
            Pace::PerMove { .. } | Pace::Correspondence { .. } => self.full(),
            Pace::Fischer { .. } => Bank { ms: bank.ms.saturating_sub(used), ..bank },
            Pace::Bronstein { delay_ms, .. } => Bank { ms: bank.ms.saturating_sub(used.saturating_sub(delay_ms)), ..bank },
            Pace::ByoYomi { period_ms, .. } => {
                let (_, lost) = overtime(bank.ms, period_ms, used);
                Bank { ms: bank.ms.saturating_sub(used), periods: bank.periods.saturating_sub(lost) }
            }
        }
    }

    /// What only a seat gets that has moved, or that has let its time pass and stays.
    pub(super) const fn earned(self, bank: Bank) -> Bank {
        match self {
            Pace::Fischer { increment_ms, .. } => Bank { ms: bank.ms.saturating_add(increment_ms), ..bank },
            _ => bank,
        }
    }
}

impl From<Bank> for Remaining {
    fn from(bank: Bank) -> Remaining {
        Remaining { ms: bank.ms, periods: bank.periods }
    }
}

/// The time used beyond main time, and the periods that it has left behind. Whoever is at the last
/// millisecond of a period is still in it.
fn overtime(main_ms: u64, period_ms: u64, used: u64) -> (u64, u32) {
    let over = used.saturating_sub(main_ms);
    let lost = over.saturating_sub(1) / period_ms.max(1);
    (over, u32::try_from(lost).unwrap_or(u32::MAX))
}
