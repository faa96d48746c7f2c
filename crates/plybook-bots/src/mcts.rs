//! `mcts`: plays the game to its end many times, more often along what went well (UCT).
//!
//! Every seat is taken to play for itself, so it needs no more than rules: no estimate, no enemy. Dice
//! are thrown from the bot's own chance.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`tree`] | what was played so far, and how it went |
//! | [`fixed`] | logarithms and roots in whole numbers |
//!
//! Invariant: there is no floating-point number in it, so every machine plays the same.

mod fixed;
mod tree;

use self::tree::Tree;
use crate::chance::Chance;
use crate::meaning::Counted;
use crate::meter::{Budget, Meter};
use crate::score::Score;
use crate::strategy::{Card, Choice, NoChoice, Strategy};
use crate::threats::winning;
use crate::trial::Trial;
use crate::view::View;

/// Most actions at the root.
const TRIED: usize = 1_024;

/// The strategy.
#[derive(Clone, Copy, Debug)]
pub struct Mcts;

impl Strategy for Mcts {
    fn card(&self) -> Card {
        Card {
            name: "mcts",
            version: 1,
            title: "Plays to the end many times, mostly along what went well",
            default_budget: Budget(50_000),
            most_budget: Budget(5_000_000),
            rulesets: &[],
        }
    }

    fn choose(&self, view: &View<'_>, meter: &mut Meter<'_>, chance: &mut Chance) -> Result<Choice, NoChoice> {
        meter.ask()?;
        let mut trial = Trial::new(view);
        let legal = trial.legal(TRIED, meter)?.actions;
        let first = *legal.first().ok_or(NoChoice::Nothing)?;
        if legal.len() == 1 {
            return Ok(Choice {
                action: first,
                score: Score::EVEN,
                exact: false,
                counted: Counted::Plies,
                nodes: meter.spent(),
                scores: Vec::new(),
            });
        }
        if let Some(action) = winning(&mut trial, &legal, meter)?.first().copied() {
            let score = Score::win_in(1);
            return Ok(Choice { action, score, exact: true, counted: Counted::Plies, nodes: meter.spent(), scores: vec![(action, score)] });
        }
        let mut tree = Tree::new();
        while !meter.is_empty() {
            tree.play_out(&mut trial, meter, chance)?;
        }
        let scores = tree.scores();
        let (action, score) = scores.first().copied().unwrap_or((first, Score::EVEN));
        Ok(Choice { action, score, exact: false, counted: Counted::Plies, nodes: meter.spent(), scores })
    }
}
