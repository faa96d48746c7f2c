//! Games between bots, and what they see of them.
//!
//! Invariant: an arena plays as a service does: dice and every bot's chance come from one seed, and a
//! bot is given a view and nothing else.

use plybook_bots::{Bots, Budget, Chance, Choice, Meter, NoChoice, View};
use plybook_core::{Action, Dice, Params, Play, RulesetId, Seat, SeatSet, Seed};
use plybook_rulesets::Registry;

use crate::deal::Deal;

/// A strategy with a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bot {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Its nodes.
    pub budget: u64,
}

/// A bot.
pub const fn bot(strategy: &'static str, budget: u64) -> Bot {
    Bot { strategy, budget }
}

/// A game that bots look at.
#[derive(Clone, Debug)]
pub struct Arena {
    /// The game.
    pub play: Play,
    ruleset: RulesetId,
    params: Params,
    seed: Seed,
}

impl Arena {
    /// Before the first move of a game that there is.
    pub fn of(deal: &Deal, seed: u64) -> Arena {
        let chosen = Registry::standard().choose(&deal.ruleset, deal.version, deal.given.clone(), deal.seats);
        let (ruleset, params, rules) = chosen.unwrap_or_else(|why| panic!("{deal:?}: {why}"));
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        Arena { play: Play::new(rules, deal.seats), ruleset, params, seed: Seed::new(bytes) }
    }

    /// What a bot sees now.
    pub fn view(&self) -> View<'_> {
        View::new(&self.play, &self.ruleset, &self.params)
    }

    /// What a bot chooses here.
    pub fn choose(&self, bot: Bot) -> Result<Choice, NoChoice> {
        let strategy = Bots::standard().find(bot.strategy, None).unwrap().clone();
        let mut chance = Chance::of_game(&self.seed, &self.view()).ok_or(NoChoice::Nothing)?;
        strategy.choose(&self.view(), &mut Meter::unstopped(Budget(bot.budget)), &mut chance)
    }

    /// Plays an action, with the game's own dice.
    #[track_caller]
    pub fn act(&mut self, action: Action) {
        let position = self.play.position();
        let (seat, throws) = (position.to_move().expect("somebody is to move"), position.throws());
        let dice = Dice::without_nonces(self.seed.clone(), position.seats());
        let faces = self.play.rules().throw(action).map_or_else(Vec::new, |throw| dice.throw(throws, seat, throw));
        self.play.play(action, &faces).unwrap_or_else(|why| panic!("{action:?}: {why}"));
    }

    /// Plays actions in the field's notation.
    #[track_caller]
    pub fn moves(mut self, notations: &str) -> Arena {
        for notation in notations.split_whitespace() {
            let action = self.play.rules().read_action(notation).unwrap_or_else(|| panic!("{notation} is an action"));
            self.act(action);
        }
        self
    }

    /// An action in the field's notation.
    pub fn write(&self, action: Action) -> String {
        self.play.rules().write_action(action)
    }

    /// Lets bots play to the end, bot `n` in seat `n`, and answers who won; nobody where it takes too long.
    pub fn play_out(&mut self, bots: &[Bot]) -> SeatSet {
        for _ in 0..1_000 {
            let Some(seat) = self.play.position().to_move() else { break };
            let choice = self.choose(bots[seat.index()]).unwrap();
            self.act(choice.action);
        }
        self.play.position().outcome().map_or(SeatSet::EMPTY, |outcome| outcome.winning_seats())
    }
}

/// Games won, drawn and lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Won by the one bot.
    pub won: u32,
    /// Won by nobody.
    pub drawn: u32,
    /// Won by another.
    pub lost: u32,
}

impl Tally {
    /// A win counts 2, a draw 1.
    pub const fn points(self) -> u32 {
        2 * self.won + self.drawn
    }
}

/// So many games of one bot against others of a kind, which takes every seat in turn.
pub fn contest(deal: &Deal, one: Bot, others: Bot, games: u64) -> Tally {
    let mut tally = Tally::default();
    for game in 0..games {
        let seat = (game % u64::from(deal.seats)) as usize;
        let bots: Vec<Bot> = (0..usize::from(deal.seats)).map(|other| if other == seat { one } else { others }).collect();
        let winners = Arena::of(deal, game).play_out(&bots);
        if winners.is_empty() {
            tally.drawn += 1;
        } else if winners.contains(Seat(seat as u8)) {
            tally.won += 1;
        } else {
            tally.lost += 1;
        }
    }
    tally
}
