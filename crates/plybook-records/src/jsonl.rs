//! One JSON object a line: `moves`, and whatever can be checked of their end.
//!
//! A move is `[row, column]` from the top left, a column, a notation, or `"pass"`, which is left out
//! because the rules say who is next. `ruleset`, `params`, `players` choose the rules; `winner`,
//! `draw`, `over`, `winner_stones`, `result` with `fives`, `score` and `final_board` are held against
//! the game.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::lines::is_swap_word;
use crate::record::{End, Expect, Parsed, Record, Token};

/// The games of a file.
pub fn read(text: &str) -> Vec<Parsed> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(n, line)| parse(line, n)).collect()
}

fn parse(line: &str, n: usize) -> Parsed {
    let place = format!("line {}", n + 1);
    match serde_json::from_str::<Map<String, Value>>(line) {
        Err(error) => Parsed { id: place, record: Err(format!("is not a JSON object: {error}")) },
        Ok(object) => {
            let id = object.get("id").map_or(place, |id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
            Parsed { id, record: record(&object) }
        }
    }
}

fn record(object: &Map<String, Value>) -> Result<Record, String> {
    let word = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    let seats = match object.get("players") {
        None | Some(Value::Null) => None,
        Some(players) => Some(small(players).ok_or_else(|| format!("players: {players} is not a number of seats"))?),
    };
    let moves = moves(object)?;
    let expect = Expect { end: end(object, moves.len())?, scores: scores(object), board: board(object)? };
    Ok(Record { ruleset: word("ruleset").or_else(|| word("game")), params: params(object)?, seats, moves, expect })
}

fn moves(object: &Map<String, Value>) -> Result<Vec<Token>, String> {
    let Some(Value::Array(moves)) = object.get("moves").or_else(|| object.get("tokens")) else {
        return Err("it has no list of moves".to_owned());
    };
    let is_move = |value: &&Value| value.as_str().is_none_or(|word| word != "pass" && !is_swap_word(word));
    moves.iter().filter(is_move).map(token).collect()
}

fn token(value: &Value) -> Result<Token, String> {
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let token = match value {
        Value::String(text) => Some(Token::Notation(text.clone())),
        Value::Number(_) => number(value).map(Token::Column),
        Value::Array(pair) => match pair.as_slice() {
            [row, col] => number(row).zip(number(col)).map(|(row, col)| Token::Cell(row, col)),
            _ => None,
        },
        _ => None,
    };
    token.ok_or_else(|| format!("{value} is not a move"))
}

fn params(object: &Map<String, Value>) -> Result<BTreeMap<String, String>, String> {
    let Some(params) = object.get("params").filter(|params| !params.is_null()) else { return Ok(BTreeMap::new()) };
    let params = params.as_object().ok_or("params is not an object")?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok(params.iter().map(|(name, value)| (name.clone(), text(value))).collect())
}

fn end(object: &Map<String, Value>, plies: usize) -> Result<End, String> {
    if object.get("over") == Some(&Value::Bool(false)) {
        return Ok(End::Open);
    }
    if let Some(winner) = object.get("winner") {
        let drawn = object.get("draw") == Some(&Value::Bool(true));
        return match winner {
            Value::Null => Ok(if drawn { End::Drawn } else { End::Open }),
            winner => small(winner).map(End::Won).ok_or_else(|| format!("winner: {winner} is not a seat")),
        };
    }
    if let Some(stones) = object.get("winner_stones") {
        return match stones {
            Value::Null => Ok(End::Open),
            stones => Ok(End::Won(color(stones)?)),
        };
    }
    let Some(result) = object.get("result").filter(|result| !result.is_null()) else { return Ok(End::Untold) };
    let seat = if result == "draw" { None } else { Some(color(result)?) };
    // Where the record tells its fives, a result without one in the last move came by resignation,
    // agreement, or a rule that is not played here.
    Ok(match (object.get("fives").and_then(Value::as_array), seat) {
        (Some(fives), Some(seat)) if fives.iter().any(|five| five[0] == plies.saturating_sub(1)) => End::Won(seat),
        (Some(_), _) => End::Open,
        (None, Some(seat)) => End::WonIfOver(seat),
        (None, None) => End::DrawnIfOver,
    })
}

fn color(value: &Value) -> Result<u8, String> {
    match value.as_str() {
        Some("black") => Ok(0),
        Some("white") => Ok(1),
        _ => Err(format!("{value} is neither black nor white")),
    }
}

/// One score a seat. A single number is a solver's opinion of the position, not a score of the game.
fn scores(object: &Map<String, Value>) -> Option<Vec<i64>> {
    object.get("score")?.as_array()?.iter().map(Value::as_i64).collect()
}

fn board(object: &Map<String, Value>) -> Result<Option<Vec<String>>, String> {
    let Some(rows) = object.get("final_board").filter(|rows| !rows.is_null()) else { return Ok(None) };
    let rows = rows.as_array().and_then(|rows| rows.iter().map(|row| row.as_str().map(str::to_owned)).collect());
    rows.map(Some).ok_or_else(|| "final_board is not a list of rows".to_owned())
}

fn small(value: &Value) -> Option<u8> {
    value.as_u64().and_then(|n| u8::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    fn one(line: &str) -> Record {
        read(line).remove(0).record.unwrap()
    }

    #[test]
    fn moves_have_three_forms_and_passes_are_left_out() {
        let record = one(r#"{"moves":[[4,5],"pass",[5,3],"black","h8"],"params":{"rows":6,"rule":"standard"},"players":3,"game":"mnk"}"#);
        assert_eq!(record.moves, [Token::Cell(4, 5), Token::Cell(5, 3), Token::Notation("h8".into())]);
        assert_eq!(record.params, BTreeMap::from([("rows".into(), "6".into()), ("rule".into(), "standard".into())]));
        assert_eq!((record.seats, record.ruleset.as_deref()), (Some(3), Some("mnk")));
        assert_eq!(one(r#"{"moves":[3,0]}"#).moves, [Token::Column(3), Token::Column(0)]);
    }

    #[test]
    fn ends_are_told_in_several_ways() {
        let table = [
            (r#"{"moves":[],"winner":1,"draw":false}"#, End::Won(1)),
            (r#"{"moves":[],"winner":null,"draw":true}"#, End::Drawn),
            (r#"{"moves":[],"winner":null,"draw":false,"over":false}"#, End::Open),
            (r#"{"moves":[],"winner_stones":"white"}"#, End::Won(1)),
            (r#"{"moves":[],"winner_stones":null}"#, End::Open),
            (r#"{"moves":["a1","b1"],"result":"white","fives":[[1,5,true]]}"#, End::Won(1)),
            (r#"{"moves":["a1","b1"],"result":"white","fives":[]}"#, End::Open),
            (r#"{"moves":["a1","b1"],"result":"draw","fives":[]}"#, End::Open),
            (r#"{"moves":["a1"],"result":"black"}"#, End::WonIfOver(0)),
            (r#"{"moves":["a1"],"result":"draw"}"#, End::DrawnIfOver),
            (r#"{"moves":[3],"score":-2}"#, End::Untold),
        ];
        for (line, end) in table {
            assert_eq!(one(line).expect.end, end, "{line}");
        }
    }

    #[test]
    fn scores_and_boards_are_kept_for_the_check() {
        let record = one(r#"{"moves":[],"score":[32,29],"final_board":["0.","11"]}"#);
        assert_eq!(record.expect.scores, Some(vec![32, 29]));
        assert_eq!(record.expect.board, Some(vec!["0.".into(), "11".into()]));
        assert_eq!(one(r#"{"moves":[],"score":-2}"#).expect.scores, None);
    }

    #[test]
    fn a_bad_line_is_refused_alone() {
        let games = read("{\"id\":\"a\",\"moves\":[1]}\nnot json\n{\"id\":7,\"moves\":[[1]]}\n{\"moves\":[1],\"winner\":\"me\"}\n{}\n");
        let ids: Vec<&str> = games.iter().map(|parsed| parsed.id.as_str()).collect();
        assert_eq!(ids, ["a", "line 2", "7", "line 4", "line 5"]);
        assert!(games[0].record.is_ok() && games[1..].iter().all(|parsed| parsed.record.is_err()));
    }
}
