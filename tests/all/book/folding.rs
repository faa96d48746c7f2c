//! A game is a function of its book: whatever happened at the table, folding the text says the same.

use plybook_core::game::{Ask, State};
use plybook_core::header::UndoBy;
use plybook_core::{Digest, Seat, Seq};
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::random::{Random, repeat};
use plybook_tests::table::{Table, fold, table};

fn laid(ruleset: &str, side: i64, random: &mut Random) -> Table {
    let mut laid = Deal::random(ruleset, side, random).table().undo_over_throw().seed(random.bytes());
    if random.once_in(2) {
        laid = laid.undo_after_end();
    }
    laid
}

/// One random request that the game accepts: mostly moves, often undos, seldom the closing.
pub(super) fn anything(table: Table, random: &mut Random) -> Table {
    let standing = table.game().standing().len() as u64;
    let may_undo = standing > 0 && (table.game().state() == State::Active || table.game().header().undo.after_end);
    if table.game().state() == State::Finished && random.once_in(3) {
        return table.close();
    }
    if may_undo && (table.game().state() == State::Finished || random.once_in(3)) {
        return table.undo(1 + random.below(standing.min(100)) as usize);
    }
    let Some((action, _)) = random.action(table.game().play()) else { return table };
    let notation = table.game().rules().write_action(action);
    table.play(&notation)
}

/// Plays `requests` at random; answers the table and the position digest at every entry.
fn at_random(mut table: Table, requests: u64, random: &mut Random) -> (Table, Vec<Digest>) {
    let mut digests = vec![table.digest()];
    for _ in 0..requests {
        if table.game().state() == State::Closed {
            break;
        }
        table = anything(table, random);
        if table.game().head().seq.0 as usize > digests.len() {
            digests.push(table.digest());
        }
    }
    (table, digests)
}

#[track_caller]
pub(super) fn folds_to(table: &Table, digests: &[Digest]) {
    let mut folded = Vec::new();
    let game = fold(table.rulesets(), &table.book().print(), |_, game| folded.push(game.position_digest()));
    assert_eq!(folded, digests, "digests at every entry\n{}", table.book().print());
    assert_eq!(game.head(), table.game().head());
    assert_eq!(game.position(), table.position());
    assert_eq!(game.standing(), table.game().standing());
    assert_eq!(game.state(), table.game().state());
    assert_eq!(game.play().legal(), table.game().play().legal());
}

#[test]
fn scenario_25_any_interleaving_of_moves_and_undos_folds_to_the_same() {
    let mut undos = 0;
    repeat(10_000, |random| {
        let ruleset = *random.pick(&RULESETS);
        let laid = laid(ruleset, 4, random);
        let requests = 4 + random.below(12);
        let (table, digests) = at_random(laid, requests, random);
        undos += table.book().lines().iter().filter(|link| link.text.contains(" undo ")).count();
        folds_to(&table, &digests);
    });
    assert!(undos > 10_000, "{undos} undos");
}

#[test]
fn scenario_17_longer_games_fold_to_the_same_too() {
    for ruleset in RULESETS {
        repeat(40, |random| {
            let (table, digests) = at_random(laid(ruleset, 9, random), 120, random);
            folds_to(&table, &digests);
        });
    }
}

#[test]
fn scenario_23_undo_to_the_start_one_at_a_time() {
    for ruleset in RULESETS {
        repeat(20, |random| {
            let mut table = Deal::random(ruleset, 6, random).table().undo_over_throw().undo_after_end();
            let mut digests = vec![table.digest()];
            while let Some((action, _)) = random.action(table.game().play()) {
                let notation = table.game().rules().write_action(action);
                table = table.play(&notation);
                digests.push(table.digest());
                if digests.len() > 40 {
                    break;
                }
            }
            let played = digests.len() - 1;
            let head = table.game().head().seq;
            for undone in 1..=played {
                table = table.undo(1);
                assert_eq!(table.digest(), digests[played - undone]);
                assert_eq!(table.game().head().seq, Seq(head.0 + undone as u32), "each undo is an entry");
            }
            folds_to(&table, &[&digests[..], &digests[..played].iter().rev().copied().collect::<Vec<_>>()].concat());
            let nothing = Ask::Undo(Some(Seq(2)));
            table.refuses_ask(Some(Seat(0)), nothing, "NOTHING_TO_UNDO").ply(0);
        });
    }
}

#[test]
fn scenario_35_two_nodes_build_the_same_game() {
    for ruleset in RULESETS {
        repeat(20, |random| {
            let (table, _) = at_random(laid(ruleset, 8, random), 60, random);
            let file = table.book().print();
            let texts = |_: u8| {
                let mut texts = Vec::new();
                fold(table.rulesets(), &file, |_, game| texts.push(game.position().canonical_text(&game.header().ruleset)));
                texts
            };
            assert_eq!(texts(0), texts(1), "byte for byte, at every entry");
        });
    }
}

#[test]
fn scenario_16_a_seat_takes_its_own_last_moves_back_until_another_answers() {
    let own = || table().snakes(30, &[]).seats(1).undo_over_throw().undo_by(UndoBy::OwnLastMove);
    own().roll(1).undo(1).ply(0).roll(3).undo(3).ply(0).squares(&[0]);
    let two = || table().connect_four(6, 7, 4).undo_by(UndoBy::OwnLastMove);
    two().play("1").undo(1).ply(0).turn(0);
    two().play("1 2").refuses_undo(2, "NOT_YOUR_MOVE").refuses_ask(Some(Seat(0)), Ask::Undo(None), "NOT_YOUR_MOVE").undo(1).undo(1).ply(0);
    two().play("1").refuses_ask(Some(Seat(1)), Ask::Undo(Some(Seq(2))), "NOT_YOUR_MOVE");
    two().play("1").refuses_ask(Some(Seat(1)), Ask::Undo(None), "NOTHING_TO_UNDO");
    two().play("1").refuses_ask(None, Ask::Undo(Some(Seq(2))), "NOT_YOUR_MOVE");
    // A skipped seat has not answered: black moves twice and takes both back.
    table().othello(4).undo_by(UndoBy::None).play("a2").refuses_undo(1, "POLICY");
}

#[test]
fn a_finished_game_is_reopened_where_its_policy_says_so() {
    let won = |table: Table| table.mnk(3, 3, 3).play("a1 a2 b1 b2 c1").wins(0);
    won(table()).closed().refuses_undo(1, "GAME_FINISHED").refuses_ask(None, Ask::Close, "GAME_FINISHED");
    let open = won(table().undo_after_end());
    assert_eq!(open.game().state(), State::Finished);
    open.refuses("c2", "GAME_FINISHED")
        .undo(1)
        .goes_on()
        .turn(0)
        .refuses_ask(None, Ask::Close, "NOT_FINISHED")
        .play("c3 c2")
        .wins(1)
        .close()
        .closed()
        .refuses_undo(1, "GAME_FINISHED")
        .refuses_ask(None, Ask::Close, "GAME_FINISHED");
}

#[test]
fn an_undo_names_a_move_and_takes_everything_after_it() {
    let table = table().mnk(3, 3, 3).play("b2 a1 c3 c1");
    let gone = Ask::Undo(Some(Seq(9)));
    table
        .refuses_ask(Some(Seat(0)), gone, "NOTHING_TO_UNDO")
        .undo(3)
        .board("... / .X. / ...")
        .turn(1)
        .refuses_ask(Some(Seat(0)), Ask::Undo(Some(Seq(4))), "NOTHING_TO_UNDO")
        .play("c3")
        .board("..O / .X. / ...");
}

#[test]
fn a_hundred_moves_are_taken_back_at_once_and_no_more() {
    let moves: Vec<String> = (1..=11).flat_map(|row| ('a'..='k').map(move |col| format!("{col}{row}"))).take(101).collect();
    let table = table().mnk(11, 11, 11).play(&moves.join(" "));
    table.refuses_undo(101, "LIMIT_EXCEEDED").undo(100).ply(1);
}
