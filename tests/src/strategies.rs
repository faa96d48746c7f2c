//! Strategies that behave as a test wants them.
//!
//! Invariant: each has a name that no strategy of the release has, or chooses what that one chooses.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use plybook_bots::meaning::Counted;
use plybook_bots::{Bots, Budget, Choice, Meter, NoChoice, Score, Strategy, View};
use plybook_core::{Action, Cell, Digest, Time};

use crate::injected::SetClock;

/// The strategies of the release, and these.
pub fn with(strategies: Vec<Arc<dyn Strategy>>) -> Bots {
    strategies.into_iter().fold(Bots::standard(), Bots::with)
}

fn card(name: &'static str) -> plybook_bots::Card {
    plybook_bots::Card {
        name,
        version: 1,
        title: "Of a test",
        default_budget: Budget(1),
        most_budget: Budget(1_000_000_000),
        rulesets: &[],
    }
}

fn choice(action: Action) -> Choice {
    Choice { action, score: Score::estimate(0), exact: false, nodes: 1, counted: Counted::Plies, scores: Vec::new() }
}

/// Takes the first legal action, once it is told so: `ponder@1`.
#[derive(Debug, Default)]
pub struct Ponder {
    begun: AtomicU64,
    answers: AtomicU64,
}

impl Ponder {
    /// How many choices it has begun to think about.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Lets it answer so many questions, those that it thinks about now or later.
    pub fn answers(&self, count: u64) {
        self.answers.fetch_add(count, Ordering::SeqCst);
    }
}

impl Strategy for Ponder {
    fn card(&self) -> plybook_bots::Card {
        card("ponder")
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, _: &mut plybook_bots::Chance) -> Result<Choice, NoChoice> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        loop {
            meter.ask()?;
            let taken = self.answers.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if taken.is_ok() {
                return view.legal().first().map(|action| choice(*action)).ok_or(NoChoice::Nothing);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Always takes the same cell, also once it is taken: `stubborn@1`.
#[derive(Debug)]
pub struct Stubborn;

impl Strategy for Stubborn {
    fn card(&self) -> plybook_bots::Card {
        card("stubborn")
    }

    fn choose(&self, _: &View<'_>, _: &mut Meter<'_>, _: &mut plybook_bots::Chance) -> Result<Choice, NoChoice> {
        Ok(choice(Action::Place(Cell(0))))
    }
}

/// Panics: `fragile@1`.
#[derive(Debug)]
pub struct Fragile;

impl Strategy for Fragile {
    fn card(&self) -> plybook_bots::Card {
        card("fragile")
    }

    fn choose(&self, _: &View<'_>, _: &mut Meter<'_>, _: &mut plybook_bots::Chance) -> Result<Choice, NoChoice> {
        panic!("a strategy of a test is at fault")
    }
}

/// When the strategies of the release may answer: at positions that have a time, which it then is.
#[derive(Default)]
pub struct Pace {
    clock: OnceLock<Arc<SetClock>>,
    times: Mutex<HashMap<Digest, Time>>,
}

impl Pace {
    /// The strategies of the release at this pace.
    pub fn bots(self: &Arc<Pace>) -> Bots {
        let standard = Bots::standard();
        let paced = |card: plybook_bots::Card| {
            let strategy = Arc::clone(standard.find(card.name, Some(card.version)).unwrap());
            Arc::new(Paced { strategy, pace: Arc::clone(self) })
        };
        standard.cards().map(paced).fold(Bots::default(), |bots, paced| bots.with(paced))
    }

    /// Whose clock they set.
    pub fn sets(&self, clock: &Arc<SetClock>) {
        assert!(self.clock.set(Arc::clone(clock)).is_ok(), "a pace is of one clock");
    }

    /// From now on they answer at these positions, and at no others.
    pub fn answers_at(&self, times: impl IntoIterator<Item = (Digest, Time)>) {
        *self.times.lock().unwrap() = times.into_iter().collect();
    }

    fn time_at(&self, position: Digest) -> Option<Time> {
        self.times.lock().unwrap().get(&position).copied()
    }
}

struct Paced {
    strategy: Arc<dyn Strategy>,
    pace: Arc<Pace>,
}

impl Strategy for Paced {
    fn card(&self) -> plybook_bots::Card {
        self.strategy.card()
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut plybook_bots::Chance) -> Result<Choice, NoChoice> {
        let position = view.position().digest(view.ruleset());
        loop {
            meter.ask()?;
            if let Some(time) = self.pace.time_at(position) {
                self.pace.clock.get().unwrap().set(time);
                return self.strategy.choose(view, meter, chance);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
