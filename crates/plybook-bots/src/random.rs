//! `random`: any legal action, each as likely as the next.
//!
//! Invariant: one number of its chance decides.

use crate::chance::Chance;
use crate::meaning::Counted;
use crate::meter::{Budget, LISTED_PER_NODE, Meter};
use crate::score::Score;
use crate::strategy::{Card, Choice, NoChoice, Strategy};
use crate::view::View;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Random;

impl Strategy for Random {
    fn card(&self) -> Card {
        Card { name: "random", version: 1, title: "Any legal action", default_budget: Budget(1), most_budget: Budget(1), rulesets: &[] }
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        let legal = view.legal();
        meter.spend(1 + legal.len() as u64 / LISTED_PER_NODE)?;
        meter.ask()?;
        let action = *chance.pick(&legal).ok_or(NoChoice::Nothing)?;
        Ok(Choice { action, score: Score::EVEN, exact: false, counted: Counted::Plies, nodes: meter.spent(), scores: Vec::new() })
    }
}
