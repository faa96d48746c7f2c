//! `minimax`: looks ahead as far as its budget reaches, deeper and deeper.
//!
//! At a table of more than two, everybody else is taken to play against it: that keeps alpha-beta
//! sound, costs nothing at a table of two, and errs on the careful side. Throws are averaged.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`search`] | alpha-beta by iterative deepening |
//! | [`order`] | which action to try first |
//! | [`table`] | what is known of positions that were met before |
//!
//! Invariant: a search that was cut short by its budget falls back on the last depth, and at the
//! least on the most promising legal action.

mod order;
mod search;
mod table;

pub(crate) use self::search::{Search, Window};

use crate::chance::Chance;
use crate::meter::{Budget, Meter};
use crate::strategy::{Card, Choice, NoChoice, Strategy};
use crate::view::View;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Minimax;

impl Strategy for Minimax {
    fn card(&self) -> Card {
        Card {
            name: "minimax",
            version: 1,
            title: "Looks ahead as far as its budget reaches",
            default_budget: Budget(50_000),
            most_budget: Budget(5_000_000),
            rulesets: &[],
        }
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        meter.ask()?;
        Search::new(view, meter, chance)?.deepen(Window::Narrow)
    }
}
