//! Snakes and ladders: a race along a track, by dice alone.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`jumps`] | the one map of snakes and ladders |
//! | [`mod@course`] | where a throw takes a token, and what becomes of the turn |
//! | [`finishable`] | whether every reachable square leads to the last one |
//! | [`rules`] | the race of all seats |
//!
//! Invariant: rules exist only for a board that can be finished from wherever a token may come.

mod course;
mod finishable;
mod jumps;
mod rules;

use std::sync::Arc;

use plybook_core::action::Shape;
use plybook_core::dice::Throw;
use plybook_core::params::BadParam;
use plybook_core::{Card, ParamSpec, Params, Rules, Ruleset, limits};

use self::course::{Course, Extra, Finish};
use self::jumps::{Chain, Jumps};
use self::rules::Race;

const SIZE_MIN: u16 = 4;
const SIZE_MAX: u16 = 10_000;
const SHAPES: &[Shape] = &[Shape::Roll];

/// `snakes_and_ladders@1`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SnakesAndLadders;

impl Ruleset for SnakesAndLadders {
    fn card(&self) -> Card {
        Card {
            name: "snakes_and_ladders",
            version: 1,
            title: "Snakes and ladders",
            seats: (1, limits::SEATS_MAX),
            chance: true,
            shapes: SHAPES,
            params: specs(),
        }
    }

    fn build(&self, params: &Params, seats: u8) -> Result<Arc<dyn Rules>, BadParam> {
        let course = course(params)?;
        finishable::check(&course)?;
        Ok(Arc::new(Race { course, seats }))
    }
}

fn specs() -> Vec<ParamSpec> {
    let squares = (i64::from(SIZE_MIN), i64::from(SIZE_MAX));
    let dice = (1, i64::from(limits::DICE_MAX));
    let sides = (2, i64::from(limits::SIDES_MAX));
    vec![
        ParamSpec::int("size", 100, squares, "The last square; the first is 1."),
        ParamSpec::list("jumps", 2 * limits::JUMPS_MAX, (1, squares.1), "Snakes and ladders as pairs of squares: from, to, from, to."),
        ParamSpec::int("start", 0, (0, 1), "Where tokens begin: 0 is off the board, 1 the first square."),
        ParamSpec::int("dice", 1, dice, "Dice thrown together; their sum is moved."),
        ParamSpec::int("sides", 6, sides, "Sides of each die."),
        ParamSpec::word(
            "finish",
            "stay",
            &["stay", "bounce", "reach"],
            "A throw beyond the last square stays still, bounces back from it, or reaches it.",
        ),
        ParamSpec::flag("extra_turn", false, "Whether a seat throws again when every die shows its highest face."),
        ParamSpec::word(
            "three_in_a_row",
            "nothing",
            &["nothing", "end_turn", "void_turn"],
            "A third highest throw in a turn is not played: the turn ends, with void_turn back where it began.",
        ),
        ParamSpec::word(
            "chain",
            "forbid",
            &["forbid", "stop", "follow"],
            "Whether a jump may end where another starts, and then whether that one is followed.",
        ),
        ParamSpec::flag("edge_jumps", false, "Whether jumps may start on the first square or end on the first or last."),
    ]
}

fn course(params: &Params) -> Result<Course, BadParam> {
    let last = number("size", params.int("size"))?;
    let throw = Throw { dice: number("dice", params.int("dice"))?, sides: number("sides", params.int("sides"))? };
    let chain = match params.text("chain") {
        "stop" => Chain::Stop,
        "follow" => Chain::Follow,
        _ => Chain::Forbid,
    };
    let jumps = Jumps::read(params.list("jumps"), last, chain, params.flag("edge_jumps"))?;
    let extra = match (params.flag("extra_turn"), params.text("three_in_a_row")) {
        (false, "nothing") => Extra::Never,
        (false, _) => return Err(BadParam::new("three_in_a_row", "means nothing without extra_turn")),
        (true, "end_turn") => Extra::ThirdEndsTurn,
        (true, "void_turn") => Extra::ThirdVoidsTurn,
        (true, _) => Extra::Always,
    };
    let finish = match params.text("finish") {
        "bounce" => Finish::Bounce,
        "reach" => Finish::Reach,
        _ => Finish::Stay,
    };
    let course = Course { last, start: number("start", params.int("start"))?, jumps, throw, finish, extra };
    if finish == Finish::Bounce && course.greatest() > last {
        let why = format!("a throw of {} would bounce off a board of {last} squares", course.greatest());
        return Err(BadParam::new("finish", why));
    }
    Ok(course)
}

/// The specification bounds every number, so this refuses only what it missed.
fn number<T: TryFrom<i64>>(name: &str, value: i64) -> Result<T, BadParam> {
    T::try_from(value).map_err(|_| BadParam::new(name, format!("{value} is too large or negative")))
}

#[cfg(test)]
mod tests;
