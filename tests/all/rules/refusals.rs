//! Every parameter that a ruleset refuses, by the parameter's name and a piece of the reason.

use plybook_tests::deal::Deal;
use plybook_tests::table::table;

#[track_caller]
fn refused(deal: Deal, name: &str, why: &str) {
    deal.table().cannot_begin(name, why);
}

#[track_caller]
fn accepted(deal: Deal) {
    deal.play();
}

#[test]
fn what_every_ruleset_refuses() {
    for ruleset in plybook_tests::deal::RULESETS {
        refused(Deal::of(ruleset).with("colour", "red"), "colour", "not a parameter; known are");
        refused(Deal::of(ruleset).seats(9), "seats", "takes");
        refused(Deal::of(ruleset).seats(0), "seats", "takes");
        for spec in table().rulesets().card(ruleset, None).unwrap().params.clone() {
            let wrong = if spec.default.type_name() == "int" { "three".into() } else { plybook_tests::table::Value::from(3) };
            refused(Deal::of(ruleset).with(spec.name, wrong), spec.name, "is of type");
            if let (Some((least, most)), "int") = (spec.bounds, spec.default.type_name()) {
                refused(Deal::of(ruleset).with(spec.name, least - 1), spec.name, "is not between");
                refused(Deal::of(ruleset).with(spec.name, most + 1), spec.name, "is not between");
            }
            if !spec.choices.is_empty() {
                refused(Deal::of(ruleset).with(spec.name, "nonsense"), spec.name, "is none of");
            }
        }
    }
    table().of("chess").with("rows", 8);
    let unknown = Deal::of("chess").begin().unwrap_err().to_string();
    assert!(unknown.contains("\"chess\"") && unknown.contains("othello"), "{unknown}");
}

#[test]
fn what_mnk_refuses() {
    let mnk = |rows: i64, cols: i64, k: i64| Deal::of("mnk").with("rows", rows).with("cols", cols).with("k", k);
    refused(mnk(3, 3, 4), "k", "no line of 4 fits on 3 rows and 3 columns");
    refused(mnk(3, 5, 6).with("win", "exact"), "k", "no line of 6");
    accepted(mnk(3, 5, 5));
    accepted(mnk(3, 3, 9).with("win", "full_line"));
    accepted(mnk(1000, 1000, 1000).seats(8));
    refused(mnk(1, 1, 1), "seats", "more than the board has cells");
    refused(mnk(1, 7, 2).seats(8), "seats", "8 seats are more than the board has cells");
    accepted(mnk(1, 8, 2).seats(8));
    refused(mnk(3, 3, 3).seats(1), "seats", "takes 2 to 8 seats, not 1");
    refused(mnk(1, 5, 3).with("win", "full_line"), "win", "two rows and two columns");
    refused(mnk(5, 1, 3).with("win", "run+full_line"), "win", "two rows and two columns");
    refused(mnk(5, 1, 3).with("win", "four_corners"), "win", "two rows and two columns");
    for (word, why) in [
        ("", "a part is missing"),
        ("lines", "\"lines\" is unknown"),
        ("run+", "a part is missing"),
        ("RUN", "is unknown"),
        ("run,full_line", "is unknown"),
        ("run+run", "run stands twice"),
        ("run+exact", "exclude each other"),
        ("four_corners+run", "is written run+four_corners"),
    ] {
        refused(mnk(3, 3, 3).with("win", word), "win", why);
    }
}

#[test]
fn what_gomoku_refuses() {
    refused(Deal::of("gomoku").with("size", 4), "size", "is not between 5 and 1000");
    refused(Deal::of("gomoku").with("rule", "renju"), "rule", "is none of freestyle, standard");
    refused(Deal::of("gomoku").seats(3), "seats", "takes 2 to 2 seats");
    accepted(Deal::of("gomoku").with("size", 1000));
}

#[test]
fn what_connect_four_refuses() {
    let drops = |rows: i64, cols: i64, k: i64| Deal::of("connect_four").with("rows", rows).with("cols", cols).with("k", k);
    refused(drops(6, 7, 8), "k", "no line of 8 fits on 6 rows and 7 columns");
    accepted(drops(6, 7, 7));
    accepted(drops(1000, 1000, 4).seats(4));
    refused(drops(1, 1, 1), "seats", "more than the board has cells");
    refused(drops(6, 7, 4).seats(5), "seats", "takes 2 to 4 seats");
    refused(drops(6, 7, 4).with("pop_out", true).seats(3), "pop_out", "for two seats, not 3");
    refused(drops(129, 7, 4).with("pop_out", true), "pop_out", "128 rows at most");
    accepted(drops(128, 7, 4).with("pop_out", true));
}

#[test]
fn what_othello_refuses() {
    for size in [5, 7, 25] {
        refused(Deal::of("othello").with("size", size), "size", "is not an even number");
    }
    refused(Deal::of("othello").seats(3), "seats", "takes 2 to 2 seats");
    accepted(Deal::of("othello").with("size", 4));
    accepted(Deal::of("othello").with("size", 26));
}

#[test]
fn what_snakes_and_ladders_refuses() {
    let track = |jumps: &[i64]| Deal::of("snakes_and_ladders").with("size", 30).with("jumps", jumps);
    refused(track(&[3]), "jumps", "1 numbers make no pairs");
    refused(track(&[3, 9, 3, 12]), "jumps", "square 3 starts two jumps");
    refused(track(&[3, 9, 9, 12]), "jumps", "ends where another starts");
    accepted(track(&[3, 9, 9, 12]).with("chain", "stop"));
    accepted(track(&[3, 9, 9, 12]).with("chain", "follow"));
    refused(track(&[3, 9, 9, 3]).with("chain", "follow"), "jumps", "go round in a circle");
    refused(track(&[3, 3]), "jumps", "goes nowhere");
    refused(track(&[30, 3]), "jumps", "starts on the last square 30");
    refused(track(&[30, 3]).with("edge_jumps", true), "jumps", "starts on the last square 30");
    for pair in [[1, 9], [9, 1], [9, 30]] {
        refused(track(&pair), "jumps", "needs edge_jumps");
        accepted(track(&pair).with("edge_jumps", true));
    }
    refused(track(&[3, 31]), "jumps", "square 31 is not between 1 and 30");
    refused(track(&[0, 3]), "jumps", "0 is not between 1 and");
    let many: Vec<i64> = (2..=102).flat_map(|from| [from, 1000]).collect();
    let long = Deal::of("snakes_and_ladders").with("size", 2000);
    refused(long.clone().with("jumps", &many[..]), "jumps", "202 numbers are more than 200");
    accepted(long.with("jumps", &many[2..]));
    refused(track(&[]).with("three_in_a_row", "end_turn"), "three_in_a_row", "means nothing without extra_turn");
    refused(track(&[]).with("dice", 8).with("finish", "bounce"), "finish", "would bounce off a board of 30 squares");
    refused(Deal::of("snakes_and_ladders").with("size", 3), "size", "is not between 4 and");
    refused(track(&[]).seats(9), "seats", "takes 1 to 8 seats, not 9");
}

#[test]
fn boards_that_cannot_be_finished_are_refused() {
    let track = |jumps: &[i64]| Deal::of("snakes_and_ladders").with("size", 30).with("jumps", jumps);
    // Six snakes side by side, as wide as the die: nobody gets past them.
    let wall: Vec<i64> = (20..26).flat_map(|from| [from, 2]).collect();
    refused(track(&wall), "jumps", "could never finish");
    accepted(track(&wall[2..]));
    // A ladder across the wall does not help who is past it, but lets everybody past.
    accepted(track(&[&wall[..], &[10, 27]].concat()));
    // Two dice show two at least: one square before the end waits for ever, unless reaching is enough.
    refused(track(&[]).with("dice", 2), "finish", "square 29 could never finish");
    accepted(track(&[]).with("dice", 2).with("finish", "reach"));
    accepted(track(&[]).with("dice", 2).with("finish", "bounce"));
}
