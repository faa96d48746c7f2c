//! `plybook import`: every format, and what is refused of each.

use serde_json::Value;

use super::{House, Ran};

/// The reports of an import, one a record.
fn report(house: &House, args: &[&str], code: i32) -> (Ran, Vec<Value>) {
    let path = house.path().join("report.jsonl");
    let ran = house.import(&[args, &["--report", path.to_str().unwrap()]].concat());
    assert_eq!(ran.code, code, "{ran:#?}");
    let lines = std::fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (ran, lines)
}

/// One line a record: `imported` with winners and moves, or why it was refused.
fn verdicts(lines: &[Value]) -> Vec<String> {
    let tell = |line: &Value| match line["verdict"].as_str().unwrap() {
        "imported" => format!("{} moves, winners {}", line["moves"], line["outcome"]["winners"]),
        _ => line["reason"].as_str().unwrap().to_owned(),
    };
    lines.iter().map(tell).collect()
}

#[test]
fn connect_four_digits() {
    let house = House::open();
    let file = house.file("games.c4", "# two games and two that are none\n4455667\n44 -1\n4455667 \n11111111\n4x\n44556673\n");
    let (ran, lines) = report(&house, &[&file], 1);
    let expected = [
        "7 moves, winners [0]",
        "2 moves, winners null",
        "7 moves, winners [0]",
        "move 7 (1) is illegal: COLUMN_FULL",
        "'x' is not a column from 1 to 9",
        "the game is over after move 7, won by seat 0 (line), but 1 moves follow",
    ];
    let verdicts = verdicts(&lines);
    assert_eq!(verdicts.len(), expected.len());
    for (verdict, expected) in verdicts.iter().zip(expected) {
        assert!(verdict.starts_with(expected), "{verdict}");
    }
    ran.fails(1, "3 of 6 games were refused").says("6 games: 3 imported (16 moves), 3 refused, in ");
}

#[test]
fn othello_transcripts() {
    let house = House::open();
    let file = house.file("games.txt", "e6f4e3f6g5d6e7f5c5\nF5 D6 C3\nf5f5\n");
    let (_, lines) = report(&house, &[&file], 1);
    let verdicts = verdicts(&lines);
    assert_eq!(verdicts[..2], ["9 moves, winners [0]", "3 moves, winners null"]);
    assert!(verdicts[2].starts_with("move 2 (f5) is illegal: CELL_OCCUPIED"), "{verdicts:?}");
    assert_eq!(lines[2]["id"], "line 3");
}

#[test]
fn lists_of_gomoku_cells() {
    let house = House::open();
    let five = "h8 h9 i8 black i9, j8 j9 -- k8 k9 white l8";
    let six = "e8 e1 f8 f1 g8 g1 i8 i1 j8 j1 h8 a1";
    let file = house.file("games.gomoku", &format!("{five}\n{six}\nh8 h8\nh8 ?\n"));
    let (_, lines) = report(&house, &[&file, "--rule", "auto"], 1);
    let verdicts = verdicts(&lines);
    assert_eq!(verdicts[..2], ["9 moves, winners [0]", "12 moves, winners null"]);
    assert!(
        verdicts[2].starts_with("no rule fits: freestyle: move 2 (h8) is illegal") && verdicts[3].contains("is not a cell"),
        "{verdicts:?}"
    );
    let (_, lines) = report(&house, &[&file, "--batch", "freestyle"], 1);
    assert!(self::verdicts(&lines)[1].contains("over after move 11"), "{lines:?}");
}

#[test]
fn sgf_of_gomoku() {
    let house = House::open();
    let good = "(;FF[4]GM[4]SZ[15]C[a \\] bracket]RE[B+];B[hh];W[hg](;B[ih];W[ig];B[jh];W[jg];B[kh];W[kg];B[lh])(;B[aa]))";
    let resigned = "(;GM[4]SZ[9]RE[W+R];B[aa];W[bb])";
    let lost = "(;GM[4]SZ[15]RE[W+];B[hh];W[hg];B[ih];W[ig];B[jh];W[jg];B[kh];W[kg];B[lh])";
    let set_up = "(;GM[4]AB[hh];W[ii])";
    let file = house.file("games.sgf", &format!("{good}\n{resigned}\n{lost}{set_up}"));
    let (_, lines) = report(&house, &[&file], 1);
    let verdicts = verdicts(&lines);
    assert_eq!(verdicts[..2], ["9 moves, winners [0]", "2 moves, winners null"]);
    assert!(verdicts[2].contains("the record says that seat 1 won"), "{verdicts:?}");
    assert!(verdicts[3].contains("AB sets up stones"), "{verdicts:?}");
    let broken = house.file("broken.sgf", "(;GM[4];B[hh]");
    house.import(&[&broken]).fails(1, "broken.sgf: (the file): refused: line 1: ')' is expected");
}

#[test]
fn json_lines() {
    let house = House::open();
    let lines = [
        r#"{"id":"won","moves":[[2,0],[2,1],[1,0],[1,1],[0,0]],"winner":0,"draw":false,"final_board":["0..","01.","01."]}"#,
        r#"{"id":"wide","params":{"rows":4,"cols":4,"k":4},"moves":[[3,3]],"over":false}"#,
        r#"{"id":"three","players":3,"moves":["a1","b1","c1"],"winner":null,"draw":false}"#,
        r#"{"id":"liar","moves":[[2,0],[2,1],[1,0],[1,1],[0,0]],"winner":1}"#,
        r#"{"id":"board","moves":[[2,0]],"final_board":["...","...","..0"]}"#,
        r#"{"id":"early","moves":[[2,0],[2,1],[1,0],[1,1],[0,0],[2,2]]}"#,
        r#"{"id":"off","moves":[[3,0]]}"#,
        "nonsense",
        r#"{"id":"empty"}"#,
    ];
    let file = house.file("games.jsonl", &lines.join("\n"));
    let (ran, lines) = report(&house, &[&file, "--ruleset", "mnk"], 1);
    let expected = [
        "5 moves, winners [0]",
        "1 moves, winners null",
        "3 moves, winners null",
        "the game is won by seat 0 (line) after its last move, the record says that seat 1 won",
        "row 3 from the top is \"0..\"",
        "the game is over after move 5",
        "move 1: [3,0] is not an action of this game",
        "is not a JSON object",
        "it has no list of moves",
    ];
    for (verdict, expected) in verdicts(&lines).iter().zip(expected) {
        assert!(verdict.starts_with(expected), "{verdict}");
    }
    assert_eq!(lines.len(), expected.len());
    assert!(ran.err.contains("games.jsonl: liar: refused: "), "{ran:#?}");

    let othello = r#"{"moves":[[4,5],[5,3],[2,2],"pass",[2,3]],"score":[5,3],"over":false}"#;
    let file = house.file("othello.jsonl", othello);
    let (_, lines) = report(&house, &[&file, "--ruleset", "othello"], 1);
    assert!(verdicts(&lines)[0].starts_with("the score is ["), "{lines:?}");
    house.import(&[&file]).fails(1, "it names no ruleset: say --ruleset");
}

#[test]
fn files_that_tell_nothing() {
    let house = House::open();
    let unknown = house.file("notes", "dear diary\n");
    let binary = house.path().join("binary.c4");
    std::fs::write(&binary, [0xff, 0xfe, 0x00]).unwrap();
    let good = house.file("good.c4", "4\n");
    let ran = house.import(&[&unknown, binary.to_str().unwrap(), &house.file("none.c4", "# none\n"), &good]);
    let ran = ran.fails(1, "notes: (the file): refused: its format cannot be told: say --format");
    let ran = ran.fails(1, "binary.c4: (the file): refused: is not UTF-8").fails(1, "none.c4: (the file): refused: it holds no game");
    ran.says("4 games: 1 imported (1 move), 3 refused, in ");
    house.import(&["--format", "gomoku", &unknown]).fails(1, "\"dear\" is not a cell");
}
