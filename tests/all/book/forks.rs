//! Games of every kind fold to what was decided: with nonces, absences, and moves given by another game.

use plybook_core::entropy::IfAbsent;
use plybook_core::game::{Ask, Fault, State};
use plybook_core::{Book, Digest, Seat, Seq};
use plybook_tests::deal::{Deal, RULESETS};
use plybook_tests::golden;
use plybook_tests::random::{Random, repeat};
use plybook_tests::table::{Table, fold, table};

use super::folding::{anything, folds_to};

const SECONDS: u32 = 60;

/// The seats join, and what is accepted after that is asked for.
fn joined(table: Table, requests: u64, random: &mut Random) -> (Table, Vec<Digest>) {
    // A fork has entries before anybody was asked for anything.
    let mut digests = Vec::new();
    fold(table.rulesets(), &table.book().print(), |_, game| digests.push(game.position_digest()));
    let mut table = match table.game().joining() {
        Some(_) => table.joined_at_random(SECONDS.into(), random, |table| digests.push(table.digest())),
        None => table,
    };
    for _ in 0..requests {
        if table.game().state() == State::Closed {
            break;
        }
        let given = table.game().header().given();
        let entries = table.game().head().seq;
        table = if given == 0 { anything(table, random) } else { forward(table, random) };
        if table.game().head().seq > entries {
            digests.push(table.digest());
        }
    }
    (table, digests)
}

/// A move, or an undo of the last one that is the game's own.
fn forward(table: Table, random: &mut Random) -> Table {
    let own = table.game().standing().len() > table.game().header().given() as usize;
    if own && (random.once_in(4) || table.game().state() == State::Finished) && table.game().state() != State::Closed {
        return table.undo(1);
    }
    let Some((action, _)) = random.action(table.game().play()) else { return table };
    let notation = table.game().rules().write_action(action);
    table.play(&notation)
}

fn laid(ruleset: &str, random: &mut Random) -> Table {
    let laid = Deal::random(ruleset, 5, random).table().undo_over_throw().seed(random.bytes()).id(random.bits().into());
    if random.once_in(2) { laid.undo_after_end() } else { laid }
}

fn joint(table: Table, random: &mut Random) -> Table {
    table.joint(SECONDS, *random.pick(&[IfAbsent::Abort, IfAbsent::Forfeit]))
}

#[test]
fn joint_games_fold_to_what_was_decided() {
    let (mut absent, mut void) = (0, 0);
    repeat(1000, |random| {
        let laid = laid("snakes_and_ladders", random);
        let (table, digests) = joined(joint(laid, random), 20, random);
        folds_to(&table, &digests);
        absent += usize::from(table.last_line().contains(" absent "));
        void += usize::from(table.game().outcome().is_some_and(plybook_core::Outcome::is_void));
        let folded = fold(table.rulesets(), &table.book().print(), |_, _| {});
        assert_eq!(folded.outcome(), table.game().outcome());
        assert_eq!(folded.joining(), table.game().joining());
    });
    assert!(void > 50 && absent > void, "{absent} games ended by absence, {void} without a result");
}

#[test]
fn forks_fold_to_what_was_decided() {
    repeat(1000, |random| {
        let ruleset = *random.pick(&RULESETS);
        let mut origin = laid(ruleset, random);
        let mut open = vec![1];
        for _ in 0..random.below(15) {
            origin = match origin.game().state() {
                State::Closed => break,
                _ => anything(origin, random),
            };
            if origin.game().state() == State::Active {
                open.push(origin.game().head().seq.0);
            }
        }
        let at = *random.pick(&open);
        let fork = table().fork(&origin, at).seed(random.bytes()).id(random.bits().into());
        let fork = if random.once_in(2) { joint(fork, random) } else { fork };
        let header = fork.header();
        let from = header.origin.unwrap();
        assert_eq!((from.game, from.seq, from.digest), (origin.header().game, Seq(at), origin.book().links()[at as usize - 1].digest));
        // Where the fork begins, it stands as its origin stood.
        let mut stood = None;
        fold(origin.rulesets(), &origin.book().print(), |seq, game| {
            if seq == Seq(at) {
                stood = Some(game.position_digest());
            }
        });
        assert_eq!(Some(fork.digest()), stood);
        let (fork, digests) = joined(fork, 12, random);
        folds_to(&fork, &digests);
    });
}

#[test]
fn given_moves_are_not_taken_back() {
    let origin = table().mnk(3, 3, 3).play("b2 a1 c3").undo(1).play("a3");
    let fork = table().fork(&origin, 6).id(2);
    let fork = fork.ply(3).turn(1).refuses_undo(1, "GIVEN").refuses_undo(3, "GIVEN").play("c1").refuses_undo(2, "GIVEN");
    let fork = fork.refuses_ask(Some(Seat(0)), Ask::Undo(None), "GIVEN").undo(1).ply(3).board("X.. / .X. / O..");
    // A fork of a fork is given all of it.
    let again = table().fork(&fork, fork.game().head().seq.0).id(3).ply(3).play("c1 c3 a2").board("X.X / OX. / O.O");
    fold(&golden::registry(), &again.book().print(), |_, _| {});
}

/// A fork is stored whole or not at all, so a file that ends before the moves that it promises is none.
#[test]
fn a_fork_cut_before_its_given_moves_is_no_book() {
    let origin = table().mnk(3, 3, 3).play("b2 a1 c3");
    let fork = table().fork(&origin, 4).id(2).book().clone();
    for kept in 0..=fork.lines().len() {
        let mut cut = Book::new(fork.header().clone());
        fork.lines()[..kept].iter().for_each(|link| cut.push(link.text.clone()));
        match Book::parse(&cut.print()) {
            Ok(whole) => assert_eq!((kept, &whole), (3, &fork)),
            Err(error) => assert_eq!((error.fault, error.seq), (Fault::Missing, Some(Seq(kept as u32 + 2))), "{error}"),
        }
    }
}
