//! What happened in a simulated world, for whoever reads why it failed.
//!
//! Invariant: a world that fails names its number and its last steps, and the way to run it alone.

use std::collections::VecDeque;

use plybook_core::Time;

/// So many steps are told.
const STEPS_TOLD: usize = 60;

/// The variable by which one world is run alone.
pub const SEED_ENV: &str = "PLYBOOK_SIM_SEED";

/// The last steps of a world.
#[derive(Debug)]
pub struct Told {
    world: String,
    number: u64,
    steps: VecDeque<String>,
    passing: Option<(Time, u64)>,
}

impl Told {
    /// Nothing happened yet in the world of this number.
    pub fn of(world: &str, number: u64) -> Told {
        Told { world: world.to_owned(), number, steps: VecDeque::new(), passing: None }
    }

    /// Time passes, perhaps once more.
    pub fn passes(&mut self, now: Time, ms: u64) {
        match &mut self.passing {
            Some((_, passed)) => *passed += ms,
            None => self.passing = Some((now, ms)),
        }
    }

    /// Something happened.
    pub fn note(&mut self, now: Time, what: impl Into<String>) {
        if let Some((since, ms)) = self.passing.take() {
            self.note(since, format!("{ms} ms pass"));
        }
        if self.steps.len() == STEPS_TOLD {
            self.steps.pop_front();
        }
        self.steps.push_back(format!("{now} {}", what.into()));
    }

    /// The whole story, with why it ended.
    pub fn failed(&self, why: &str) -> String {
        let (world, number) = (&self.world, self.number);
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).collect();
        let passing = self.passing.map_or_else(String::new, |(since, ms)| format!("\n{since} {ms} ms pass"));
        format!(
            "world {number} over {world} failed: {why}\nits last steps:\n{}{passing}\nrun it alone with {SEED_ENV}={number}",
            steps.join("\n")
        )
    }
}
