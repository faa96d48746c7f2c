//! A game chosen before it begins: a ruleset, some parameters and a number of seats; also at random.
//!
//! Invariant: a random deal is one that the ruleset accepts, and it prints so that it can be dealt
//! again by hand.

use std::collections::BTreeMap;

use plybook_core::{ParamValue, Play};
use plybook_rulesets::{Registry, RegistryError};

use crate::random::Random;
use crate::table::{Table, Value, table};

/// The rulesets of the release.
pub const RULESETS: [&str; 5] = ["connect_four", "gomoku", "mnk", "othello", "snakes_and_ladders"];

/// A game that has not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deal {
    /// Its ruleset.
    pub ruleset: String,
    /// Its version; the default one where none is named.
    pub version: Option<u32>,
    /// The parameters given.
    pub given: BTreeMap<String, ParamValue>,
    /// Its seats.
    pub seats: u8,
}

impl Deal {
    /// A game for two with default parameters.
    pub fn of(ruleset: &str) -> Deal {
        Deal { ruleset: ruleset.to_owned(), version: None, given: BTreeMap::new(), seats: 2 }
    }

    /// The same by this version of its ruleset.
    #[must_use]
    pub const fn version(mut self, version: u32) -> Deal {
        self.version = Some(version);
        self
    }

    /// The same with a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Deal {
        self.given.insert(name.to_owned(), value.into().into());
        self
    }

    /// The same for so many.
    #[must_use]
    pub const fn seats(mut self, seats: u8) -> Deal {
        self.seats = seats;
        self
    }

    /// Before the first move, or why there is no such game.
    pub fn begin(&self) -> Result<Play, RegistryError> {
        let (_, _, rules) = Registry::standard().choose(&self.ruleset, self.version, self.given.clone(), self.seats)?;
        Ok(Play::new(rules, self.seats))
    }

    /// Before the first move of a game that there is.
    #[track_caller]
    pub fn play(&self) -> Play {
        self.begin().unwrap_or_else(|why| panic!("{self:?}: {why}"))
    }

    /// The same at a table.
    pub fn table(&self) -> Table {
        let table = table().of(&self.ruleset).seats(self.seats);
        let table = self.version.into_iter().fold(table, Table::version);
        self.given.iter().fold(table, |table, (name, value)| table.with(name, value.clone()))
    }

    /// The value of a number that was given.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.given.get(name) {
            Some(ParamValue::Int(n)) => Some(*n),
            _ => None,
        }
    }

    /// The value of a flag; off where it was not given.
    pub fn flag(&self, name: &str) -> bool {
        self.given.get(name) == Some(&ParamValue::Bool(true))
    }

    /// The value of a word that was given.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.given.get(name) {
            Some(ParamValue::Text(word)) => Some(word),
            _ => None,
        }
    }

    /// A game of `ruleset` with random parameters, on boards of `side` cells a side at most.
    pub fn random(ruleset: &str, side: i64, random: &mut Random) -> Deal {
        // Most draws are accepted; what is refused is drawn again.
        for _ in 0..10_000 {
            let deal = draw(ruleset, side, random);
            if deal.begin().is_ok() {
                return deal;
            }
        }
        panic!("{ruleset} refuses everything")
    }
}

/// Every way to write a win rule of mnk.
pub const WIN_RULES: [&str; 11] = [
    "run",
    "exact",
    "full_line",
    "four_corners",
    "run+full_line",
    "run+four_corners",
    "exact+full_line",
    "exact+four_corners",
    "full_line+four_corners",
    "run+full_line+four_corners",
    "exact+full_line+four_corners",
];

fn draw(ruleset: &str, side: i64, random: &mut Random) -> Deal {
    let deal = Deal::of(ruleset);
    let (rows, cols) = (random.from_to(1, side), random.from_to(1, side));
    let k = random.from_to(1, rows.max(cols));
    match ruleset {
        "mnk" => deal
            .with("rows", rows)
            .with("cols", cols)
            .with("k", k)
            .with("win", *random.pick(&WIN_RULES))
            .with("misere", random.once_in(3))
            .with("early_draw", random.once_in(2))
            .seats(random.from_to(2, 8) as u8),
        "connect_four" => {
            let pop_out = random.once_in(2);
            let seats = if pop_out { 2 } else { random.from_to(2, 4) };
            let deal = deal.version(random.from_to(1, 2) as u32);
            deal.with("rows", rows).with("cols", cols).with("k", k).with("pop_out", pop_out).seats(seats as u8)
        }
        "gomoku" => deal.with("size", random.from_to(5, side.max(6))).with("rule", *random.pick(&["freestyle", "standard"])),
        "othello" => deal.with("size", 2 * random.from_to(2, side.max(4) / 2)),
        "snakes_and_ladders" => {
            let size = random.from_to(8, 8 * side.max(2));
            let jumps: Vec<i64> = (0..2 * random.below(7)).map(|_| random.from_to(1, size)).collect();
            let extra_turn = random.once_in(2);
            let three = if extra_turn { *random.pick(&["nothing", "end_turn", "void_turn"]) } else { "nothing" };
            deal.with("size", size)
                .with("jumps", &jumps[..])
                .with("start", random.from_to(0, 1))
                .with("dice", random.from_to(1, 3))
                .with("sides", random.from_to(2, 8))
                .with("finish", *random.pick(&["stay", "bounce", "reach"]))
                .with("extra_turn", extra_turn)
                .with("three_in_a_row", three)
                .with("chain", *random.pick(&["forbid", "stop", "follow"]))
                .with("edge_jumps", random.once_in(2))
                .seats(random.from_to(1, 8) as u8)
        }
        other => panic!("no deals of {other}"),
    }
}
