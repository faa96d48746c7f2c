//! Vectors as the programs that made them wrote them: one JSON object a line.
//!
//! Invariant: what a line says is carried over; what it does not say is not made up.

use serde_json::Value as Json;

use super::{End, Vector};
use crate::deal::Deal;

/// Reads line number `at` of the file `name`, which decides what the line's fields mean.
pub fn read_json_line(name: &str, at: usize, line: &str) -> Vector {
    let json: Json = serde_json::from_str(line).unwrap_or_else(|why| panic!("{name}, line {}: {why}", at + 1));
    let id = json["id"].as_str().map_or_else(|| format!("{name}/{at}"), str::to_owned);
    match name {
        "variants-snakes" => snakes(id, &json),
        "solver-c4_8ply_uci_form" => eight_plies(id, &json),
        "solver-c4_scores-6x7x4" => connect_four_scores(id, &json),
        "solver-c4_perfect_games" => finished(id, Deal::of("connect_four"), &json),
        "solver-othello_endgames" => othello_endgame(id, &json),
        "real-c4_pons-6x7x4" => connect_four_set(id, &json),
        "solver-ttt_minimax_sample" => tic_tac_toe(id, &json),
        _ => finished(id, grid_deal(name, &json), &json),
    }
}

fn int(json: &Json) -> i64 {
    json.as_i64().unwrap_or_else(|| panic!("{json} is not a number"))
}

fn list(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// `[row,col]`, a column, or `"pass"`.
fn action(json: &Json) -> String {
    match json {
        Json::String(word) => word.clone(),
        Json::Array(place) => format!("{},{}", int(&place[0]), int(&place[1])),
        other => int(other).to_string(),
    }
}

fn actions(json: &Json) -> Vec<String> {
    list(json).iter().map(action).collect()
}

fn rows(json: &Json) -> Option<String> {
    let rows: Vec<&str> = list(json).iter().filter_map(Json::as_str).collect();
    (!rows.is_empty()).then(|| rows.join("/"))
}

fn end(json: &Json) -> End {
    match json["winner"].as_i64() {
        Some(seat) => End::Win(seat as u8),
        None => End::Draw,
    }
}

fn grid_deal(name: &str, json: &Json) -> Deal {
    let params = &json["params"];
    let (rows, cols) = (int(&params["rows"]), int(&params["cols"]));
    let exact = json["rule"] == "exact";
    let deal = match json["game"].as_str() {
        Some("othello") => return Deal::of("othello").with("size", rows),
        Some("connect_four") => Deal::of("connect_four"),
        // Five in a row on a square has a ruleset of its own.
        _ if name.contains("gomoku") => {
            return Deal::of("gomoku").with("size", rows).with("rule", if exact { "standard" } else { "freestyle" });
        }
        _ => Deal::of("mnk").with("win", if exact { "exact" } else { "run" }).with("misere", json["misere"] == true),
    };
    deal.with("rows", rows).with("cols", cols).with("k", int(&params["k"])).seats(json["players"].as_u64().unwrap_or(2) as u8)
}

/// A game that was played to its end.
fn finished(id: String, deal: Deal, json: &Json) -> Vector {
    let mut vector = Vector::new(id, deal, actions(&json["moves"]), end(json));
    assert_eq!(vector.moves.len() as i64, int(&json["plies"]), "{}: plies", vector.id);
    vector.board = rows(&json["final_board"]);
    vector.legal = json["legal_digest"].as_str().map(str::to_owned);
    vector.score = list(&json["score"]).iter().map(int).collect();
    vector
}

fn snakes(id: String, json: &Json) -> Vector {
    let params = &json["params"];
    let jumps: Vec<i64> = list(&params["jumps"]).iter().flat_map(list).map(int).collect();
    let deal = Deal::of("snakes_and_ladders")
        .with("size", int(&params["size"]))
        .with("jumps", &jumps[..])
        .with("edge_jumps", true)
        .with("start", int(&params["start"]))
        .with("finish", if params["overshoot"] == "finish" { "reach" } else { params["overshoot"].as_str().unwrap() })
        .with("extra_turn", params["six_again"] == true)
        .with("three_in_a_row", params["three_sixes"].as_str().unwrap_or("nothing"))
        .with("chain", if params["chain"] == true { "follow" } else { "stop" })
        .seats(int(&params["players"]) as u8);
    let mut vector = Vector::new(id, deal, actions(&json["dice"]), end(json));
    vector.score = list(&json["final"]).iter().map(int).collect();
    vector.trace = list(&json["trace"]).iter().map(|step| (int(&step[0]) as u8, int(&step[1]))).collect();
    vector
}

fn open(id: String, deal: Deal, moves: Vec<String>, to_move: i64) -> Vector {
    Vector::new(id, deal, moves, End::Open(to_move as u8))
}

/// `row` lists the cells column by column from the bottom: x, o or b for blank.
fn eight_plies(id: String, json: &Json) -> Vector {
    let cells: Vec<&str> = json["row"].as_str().unwrap().split(',').take(42).collect();
    let mark = |row: usize, col: usize| match cells[col * 6 + 5 - row] {
        "x" => '0',
        "o" => '1',
        _ => '.',
    };
    let board: Vec<String> = (0..6).map(|row| (0..7).map(|col| mark(row, col)).collect()).collect();
    let mut vector = open(id, Deal::of("connect_four"), actions(&json["moves"]), 0);
    vector.board = Some(board.join("/"));
    vector.value = Some(int(&json["score"]));
    vector
}

/// A position of Pascal Pons' test sets.
fn connect_four_set(id: String, json: &Json) -> Vector {
    let moves = actions(&json["moves"]);
    let to_move = moves.len() as i64 % 2;
    let mut vector = open(id, Deal::of("connect_four"), moves, to_move);
    vector.value = Some(int(&json["score"]));
    vector
}

fn connect_four_scores(id: String, json: &Json) -> Vector {
    let mut vector = open(id, Deal::of("connect_four"), actions(&json["moves"]), int(&json["to_move"]));
    let scores = json["scores"].as_object().unwrap();
    vector.values = scores.iter().map(|(column, score)| (column.clone(), int(score))).collect();
    vector
}

fn othello_endgame(id: String, json: &Json) -> Vector {
    let (mut moves, to_move, value) = (actions(&json["moves"]), int(&json["to_move"]), int(&json["value"]));
    let best = actions(&json["best"]);
    // A seat that can only pass is skipped: what it can reach is what the other seat leaves it.
    let skipped = best == ["pass"];
    let (to_move, value) = if skipped { (1 - to_move, -value) } else { (to_move, value) };
    moves.extend(skipped.then(|| "pass".to_owned()));
    let mut vector = open(id, Deal::of("othello"), moves, to_move);
    vector.board = rows(&json["board"]);
    vector.value = Some(value);
    if !skipped {
        vector.values = list(&json["move_values"]).iter().map(|pair| (action(&pair[0]), int(&pair[1]))).collect();
        vector.best = best;
    }
    vector
}

/// A position without its history: any order of its pieces comes to it, since nobody has a line.
fn tic_tac_toe(id: String, json: &Json) -> Vector {
    let board = json["board"].as_str().unwrap();
    let of = |mark: char| -> Vec<usize> { board.char_indices().filter(|(_, c)| *c == mark).map(|(at, _)| at).collect() };
    let (first, second) = (of('0'), of('1'));
    let order = (0..first.len()).flat_map(|i| [first.get(i), second.get(i)]).flatten();
    let moves: Vec<String> = order.map(|cell| format!("{},{}", cell / 3, cell % 3)).collect();
    let to_move = i64::from(first.len() > second.len());
    let mut vector = open(id, Deal::of("mnk"), moves, to_move);
    vector.board = Some(format!("{}/{}/{}", &board[..3], &board[3..6], &board[6..]));
    vector.value = Some(int(&json["value"]));
    vector.best = actions(&json["best"]);
    vector
}
