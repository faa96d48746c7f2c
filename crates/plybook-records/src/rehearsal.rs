//! A record played through under the rules of this build, before any server hears of it.
//!
//! Invariant: a record that cannot be played to its end, or whose end is not the one that it tells, is refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use plybook_core::action::Column;
use plybook_core::rules::Topology;
use plybook_core::{Action, Card, Digest, Outcome, ParamValue, Params, Play, Position, Rules, RulesetId, Seat};
use plybook_rulesets::Registry;

use crate::record::{End, Expect, Record, Token};
use crate::value;

/// The word that asks for every rule to be tried.
const AUTO: &str = "auto";

/// Rules as the command line chooses them. What it says goes before what a record says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The ruleset.
    pub ruleset: Option<String>,
    /// Parameters as text.
    pub params: BTreeMap<String, String>,
    /// Number of seats.
    pub seats: Option<u8>,
}

/// A record that can be played to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsed {
    /// The rules.
    pub ruleset: RulesetId,
    /// The parameters that were named.
    pub given: BTreeMap<String, ParamValue>,
    /// Number of seats.
    pub seats: u8,
    /// Who played what, in the ruleset's notation.
    pub moves: Vec<(Seat, String)>,
    /// Digest of the last position.
    pub position_digest: Digest,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
}

/// Rules with everything chosen.
struct Table {
    id: RulesetId,
    given: BTreeMap<String, ParamValue>,
    rules: Arc<dyn Rules>,
    seats: u8,
}

/// Plays a record, or says why it is refused.
pub fn rehearse(record: &Record, choice: &Choice, registry: &Registry) -> Result<Rehearsed, String> {
    let name = choice.ruleset.as_ref().or(record.ruleset.as_ref()).ok_or("it names no ruleset: say --ruleset")?;
    let card = registry.card(name, None).map_err(|error| error.to_string())?;
    let mut texts = record.params.clone();
    texts.extend(choice.params.clone());
    let words = match texts.get("rule").map(String::as_str) {
        Some(AUTO) => rule_words(card)?,
        _ => Vec::new(),
    };
    let attempt = |texts: &BTreeMap<String, String>| {
        let table = set(card, texts, choice.seats.or(record.seats).unwrap_or(2), registry)?;
        play(record, &table)
    };
    if words.is_empty() {
        return attempt(&texts);
    }
    let mut refused = Vec::new();
    for word in words {
        texts.insert("rule".to_owned(), word.to_owned());
        match attempt(&texts) {
            Ok(rehearsed) => return Ok(rehearsed),
            Err(why) => refused.push(format!("{word}: {why}")),
        }
    }
    Err(format!("no rule fits: {}", refused.join("; ")))
}

fn rule_words(card: &Card) -> Result<Vec<&'static str>, String> {
    let spec = card.params.iter().find(|spec| spec.name == "rule" && !spec.choices.is_empty());
    spec.map(|spec| spec.choices.to_vec()).ok_or_else(|| format!("{} has no choice of rules to try", card.name))
}

/// Records tell the size of any board as `rows` and `cols`; a ruleset of square boards has one `size`.
fn own_name<'a>(card: &Card, name: &'a str) -> &'a str {
    let has = |name: &str| card.params.iter().any(|spec| spec.name == name);
    if matches!(name, "rows" | "cols") && !has(name) && has("size") { "size" } else { name }
}

fn set(card: &Card, texts: &BTreeMap<String, String>, seats: u8, registry: &Registry) -> Result<Table, String> {
    let mut given = BTreeMap::new();
    for (name, text) in texts {
        let name = own_name(card, name);
        let spec = card.params.iter().find(|spec| spec.name == name).ok_or_else(|| format!("{name} is no parameter of {}", card.name))?;
        let value = value::read(name, text, &spec.default)?;
        if given.insert(name.to_owned(), value.clone()).is_some_and(|earlier| earlier != value) {
            return Err(format!("{} is played on a square board", card.name));
        }
    }
    let chosen = registry.choose(card.name, Some(card.version), given.clone(), seats);
    let (id, _params, rules): (RulesetId, Params, _) = chosen.map_err(|error| error.to_string())?;
    Ok(Table { id, given, rules, seats })
}

fn play(record: &Record, table: &Table) -> Result<Rehearsed, String> {
    let mut play = Play::new(Arc::clone(&table.rules), table.seats);
    let mut moves = Vec::new();
    for (n, token) in record.moves.iter().enumerate() {
        let Some(seat) = play.position().to_move() else {
            let how = play.position().outcome().map(tell).unwrap_or_default();
            return Err(format!("the game is over after move {n}, {how}, but {} moves follow", record.moves.len() - n));
        };
        let action = action(token, table.rules.as_ref()).map_err(|why| format!("move {}: {why}", n + 1))?;
        let notation = table.rules.write_action(action);
        if table.rules.throw(action).is_some() {
            return Err(format!("move {} throws dice, whose faces only a seed gives: import the game's .ply", n + 1));
        }
        play.play(action, &[]).map_err(|illegal| format!("move {} ({notation}) is illegal: {illegal}", n + 1))?;
        moves.push((seat, notation));
    }
    check(&record.expect, play.position(), table.rules.as_ref())?;
    let outcome = play.position().outcome().cloned();
    let position_digest = play.position().digest(&table.id);
    Ok(Rehearsed { ruleset: table.id.clone(), given: table.given.clone(), seats: table.seats, moves, position_digest, outcome })
}

/// Winners and reason in one line.
pub fn tell(outcome: &Outcome) -> String {
    let winners: Vec<String> = outcome.winning_seats().iter().map(|seat| seat.0.to_string()).collect();
    tell_of(&winners, outcome.is_void(), outcome.reason.as_str())
}

/// The same of an outcome that comes in parts.
pub fn tell_of(winners: &[String], no_result: bool, reason: &str) -> String {
    match (winners, no_result) {
        ([], true) => format!("no result ({reason})"),
        ([], false) => format!("a draw ({reason})"),
        (winners, _) => format!("won by seat {} ({reason})", winners.join(" and ")),
    }
}

fn action(token: &Token, rules: &dyn Rules) -> Result<Action, String> {
    let action = match (token, rules.topology()) {
        (Token::Notation(text), _) => rules.read_action(text),
        (Token::Cell(row, col), Topology::Grid { rows, cols }) if *row < u32::from(rows) && *col < u32::from(cols) => {
            Some(Action::Place(plybook_core::Cell(row * u32::from(cols) + col)))
        }
        (Token::Cell(..), _) => None,
        (Token::Column(column), _) => Some(Action::Drop(Column(*column))),
    };
    let action = action.filter(|action| rules.shapes().contains(&action.shape()));
    action.ok_or_else(|| format!("{} is not an action of this game", written(token)))
}

fn written(token: &Token) -> String {
    match token {
        Token::Notation(text) => format!("{text:?}"),
        Token::Cell(row, col) => format!("[{row},{col}]"),
        Token::Column(column) => format!("column {column}"),
    }
}

fn check(expect: &Expect, position: &Position, rules: &dyn Rules) -> Result<(), String> {
    check_end(expect.end, position)?;
    if let Some(scores) = &expect.scores {
        let have = rules.scores(position);
        if have != *scores {
            return Err(format!("the score is {have:?}, the record says {scores:?}"));
        }
    }
    let Some(rows) = &expect.board else { return Ok(()) };
    let have = board_rows(position);
    match have.iter().zip(rows).position(|(have, said)| have != said) {
        Some(row) => Err(format!("row {} from the top is {:?}, the record says {:?}", row + 1, have[row], rows[row])),
        None if have.len() != rows.len() => Err(format!("the board has {} rows, the record {}", have.len(), rows.len())),
        None => Ok(()),
    }
}

fn check_end(end: End, position: &Position) -> Result<(), String> {
    let outcome = position.outcome();
    let winners: Vec<u8> = outcome.map_or_else(Vec::new, |outcome| outcome.winning_seats().iter().map(|seat| seat.0).collect());
    let over = outcome.is_some();
    let (fits, said) = match end {
        End::Untold => (true, String::new()),
        End::Open => (!over, "that it did not end on the board".to_owned()),
        End::Won(seat) => (winners == [seat], format!("that seat {seat} won")),
        End::Drawn => (over && winners.is_empty(), "that it was a draw".to_owned()),
        End::WonIfOver(seat) => (!over || winners == [seat], format!("that seat {seat} won")),
        End::DrawnIfOver => (!over || winners.is_empty(), "that it was a draw".to_owned()),
    };
    let have = || outcome.map_or_else(|| "not over".to_owned(), tell);
    if fits { Ok(()) } else { Err(format!("the game is {} after its last move, the record says {said}", have())) }
}

fn board_rows(position: &Position) -> Vec<String> {
    let board = position.board();
    let digit = |row: u16, col: u16| {
        let owner = board.at(i32::from(row), i32::from(col)).owner();
        owner.map_or('.', |seat| char::from_digit(u32::from(seat.0), 10).unwrap_or('?'))
    };
    (0..board.rows()).map(|row| (0..board.cols()).map(|col| digit(row, col)).collect()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn record(moves: &str, end: End) -> Record {
        let moves = moves.split_whitespace().map(|text| Token::Notation(text.to_owned())).collect();
        Record { ruleset: Some("mnk".into()), moves, expect: Expect { end, ..Expect::default() }, ..Record::default() }
    }

    #[track_caller]
    fn refused(record: &Record, choice: &Choice, because: &str) {
        let why = rehearse(record, choice, &Registry::standard()).expect_err("it is refused");
        assert!(why.contains(because), "{why}");
    }

    #[test]
    fn a_record_becomes_its_moves() {
        let mut won = record("a1 b1 a2 b2 a3", End::Won(0));
        won.expect.board = Some(vec!["0..".into(), "01.".into(), "01.".into()]);
        let rehearsed = rehearse(&won, &Choice::default(), &Registry::standard()).unwrap();
        assert_eq!(rehearsed.moves.len(), 5);
        assert_eq!(rehearsed.moves[1], (Seat(1), "b1".to_owned()));
        assert!(rehearsed.outcome.as_ref().is_some_and(|outcome| outcome.reason.as_str() == "line"));
        won.moves[4] = Token::Cell(0, 0);
        assert_eq!(rehearse(&won, &Choice::default(), &Registry::standard()).unwrap(), rehearsed);
    }

    #[test]
    fn what_does_not_hold_is_refused_with_its_reason() {
        let choice = Choice::default();
        refused(&record("a1 b1 a2 b2 a3 c3 c2", End::Untold), &choice, "over after move 5, won by seat 0 (line), but 2 moves follow");
        refused(&record("a1 a1", End::Untold), &choice, "move 2 (a1) is illegal: CELL_OCCUPIED");
        refused(&record("a1 d4", End::Untold), &choice, "move 2: \"d4\" is not an action of this game");
        refused(&record("a1 b1 a2 b2 a3", End::Won(1)), &choice, "the record says that seat 1 won");
        refused(&record("a1 b1 a2 b2 a3", End::Open), &choice, "did not end on the board");
        refused(&record("a1 b1", End::Won(0)), &choice, "not over after its last move");
        let mut other_board = record("a1", End::Untold);
        other_board.expect.board = Some(vec!["...".into(), "...".into(), ".0.".into()]);
        refused(&other_board, &choice, "row 3 from the top is \"0..\"");
        let mut other_score = record("a1", End::Untold);
        other_score.expect.scores = Some(vec![1, 0]);
        refused(&other_score, &choice, "the score is []");
        let mut dice = record("roll", End::Untold);
        dice.ruleset = Some("snakes_and_ladders".into());
        refused(&dice, &choice, "throws dice");
    }

    #[test]
    fn rules_come_from_the_record_and_the_command_line() {
        let given = |pairs: &[(&str, &str)]| pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut wide = record("e5", End::Untold);
        wide.params = given(&[("rows", "5"), ("cols", "5")]);
        assert!(rehearse(&wide, &Choice::default(), &Registry::standard()).is_ok());
        let smaller = Choice { params: given(&[("cols", "4")]), ..Choice::default() };
        refused(&wide, &smaller, "is not an action of this game");
        refused(&wide, &Choice { params: given(&[("columns", "4")]), ..Choice::default() }, "columns is no parameter of mnk");
        refused(&wide, &Choice { ruleset: Some("chess".into()), ..Choice::default() }, "there is no ruleset \"chess\"");
        refused(&wide, &Choice { seats: Some(9), ..Choice::default() }, "seats");
        refused(&Record::default(), &Choice::default(), "say --ruleset");
        let mut square = record("a1", End::Untold);
        square.ruleset = Some("othello".into());
        square.params = given(&[("rows", "6"), ("cols", "6")]);
        refused(&square, &Choice::default(), "NO_CAPTURE");
        square.params = given(&[("rows", "6"), ("cols", "8")]);
        refused(&square, &Choice::default(), "othello is played on a square board");
    }

    #[test]
    fn auto_takes_the_first_rule_that_fits() {
        let auto = Choice { params: BTreeMap::from([("rule".into(), "auto".into())]), ..Choice::default() };
        let overline = "a1 a15 b1 b15 c1 c15 e1 e15 f1 f15 d1";
        let mut game = record(overline, End::Untold);
        game.ruleset = Some("gomoku".into());
        let rule = |game: &Record| rehearse(game, &auto, &Registry::standard()).unwrap().given["rule"].clone();
        assert_eq!(rule(&game), ParamValue::Text("freestyle".into()));
        game.moves.push(Token::Notation("o15".into()));
        assert_eq!(rule(&game), ParamValue::Text("standard".into()));
        let five = "a1 a15 b1 b15 c1 c15 d1 d15 e1 e15";
        let mut early = record(five, End::Untold);
        early.ruleset = Some("gomoku".into());
        refused(&early, &auto, "no rule fits: freestyle: the game is over after move 9");
        refused(&record("a1", End::Untold), &auto, "mnk has no choice of rules");
    }
}
