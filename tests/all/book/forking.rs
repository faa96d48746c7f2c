//! Forks: what a game begins with that goes on from an entry of another, and whether the other has it.

use std::sync::Arc;

use plybook_core::entropy::IfAbsent;
use plybook_core::game::{Ask, Fork, Forked, Request, fork};
use plybook_core::header::{Entropy, Receipts, UndoBy};
use plybook_core::standing::StandingMoves;
use plybook_core::verify::verify;
use plybook_core::{Book, Game, Origin, Seat, SeatSet, Seed, Seq, Uuid};
use plybook_rulesets::Registry;
use plybook_tests::golden;
use plybook_tests::table::{START, Table, table, tester};

/// The game of a book after entry `seq`.
fn at(book: &Book, seq: u32) -> Game {
    let rules = Registry::standard().rules_of(book.header()).unwrap();
    let mut game = Game::new(book.header().clone(), rules);
    book.lines().iter().take(seq as usize - 1).for_each(|link| drop(game.apply_line(&link.text, link.digest).unwrap()));
    game
}

const FRESH: [u8; 32] = [0x5e; 32];

/// The fork of a book at an entry, as a game and as a book.
fn forked(book: &Book, seq: u32) -> (Game, Book) {
    let game = at(book, seq);
    game.check_forkable().unwrap();
    let new = Fork {
        game: Uuid::from_u128(0xf0_0000 + u128::from(seq)),
        created: START,
        by: tester(),
        commitment: Seed::new(FRESH).commitment(),
        entropy: Entropy::Service,
        receipts: Receipts::OnRequest,
    };
    let header = new.header(book.header(), game.as_origin());
    let moves = StandingMoves::at(book.header(), book.lines(), Seq(seq)).unwrap();
    let Forked { game: fork, given } = fork(header.clone(), Registry::standard().rules_of(&header).unwrap(), &moves).unwrap();
    let mut printed = Book::new(header);
    given.iter().for_each(|link| printed.push(link.text.clone()));
    assert_eq!(printed.digest(), fork.head().digest);
    assert_eq!(printed.lines(), given);
    assert_eq!(fork.position().board(), game.position().board(), "the fork begins where the other game stood");
    // Everybody is at the table again, and no turn has passed since the last move.
    let since = game.standing().last().map_or(1, |last| last.0) as usize;
    let passes = [" timeout ", " resign ", " remove ", " forfeit ", " claim win "];
    let passed = book.links()[since..seq as usize].iter().any(|link| passes.iter().any(|word| link.text.contains(word)));
    if !passed && game.live() == SeatSet::all(game.header().seat_count()) {
        assert_eq!(fork.position_digest(), game.position_digest(), "the fork begins where the other game stood");
    }
    (fork, printed)
}

#[test]
fn every_golden_is_forked_at_every_entry_where_somebody_is_to_move() {
    let mut forks = 0;
    for golden in golden::all().into_iter().filter(|golden| Registry::standard().rules_of(golden.book.header()).is_ok()) {
        for seq in 1..=golden.book.links().len() as u32 {
            if at(&golden.book, seq).check_forkable().is_err() {
                continue;
            }
            let (game, book) = forked(&golden.book, seq);
            verify(&book.print(), &golden::registry()).unwrap_or_else(|wrong| panic!("{} at {seq}: {wrong}", golden.name));
            Origin::check_against(&book, &golden.book).unwrap_or_else(|why| panic!("{} at {seq}: {why}", golden.name));
            assert_eq!(game.header().origin.unwrap().given as usize, game.standing().len());
            forks += 1;
        }
    }
    assert!(forks > 300, "{forks} forks are too few to be all");
}

#[test]
fn what_was_taken_back_is_not_given() {
    let played = table().mnk(3, 3, 3).play("b2 a1 c3").undo(2).play("a2");
    let (game, book) = forked(played.book(), 6);
    let notations: Vec<&str> = book.lines().iter().map(|link| link.text.split(' ').nth(4).unwrap()).collect();
    assert_eq!(notations, ["b2", "a2"]);
    assert!(book.lines()[1].text.starts_with("3 2026-01-01T00:00:00.000Z 1:anonymous given a2 ply=2 cells=0>2:3 next=0"), "{book:?}");
    assert_eq!(game.to_move(), Some(Seat(0)));
    Origin::check_against(&book, played.book()).unwrap();
}

#[test]
fn a_fork_of_a_fork_names_the_fork() {
    let first = table().mnk(3, 3, 3).play("b2 a1 c3");
    let (mut game, mut book) = forked(first.book(), 4);
    let request = Request {
        actor: plybook_core::entry::Actor { seat: Some(Seat(1)), by: tester() },
        expected: game.head().seq,
        ask: Ask::MoveText("a3".to_owned()),
    };
    let entry = game.decide(&request, START, &Seed::new(FRESH)).unwrap();
    game.apply(&entry).unwrap();
    book.push(entry.to_string());
    let (_, second) = forked(&book, 5);
    assert_eq!(second.header().origin.unwrap().given, 4);
    assert_eq!(second.header().origin.unwrap().game, book.header().game);
    Origin::check_against(&second, &book).unwrap();
    let why = Origin::check_against(&second, first.book()).unwrap_err();
    assert!(why.contains("was forked from game"), "{why}");
}

/// Given faces stay; the next throw is the fork's own seed's, counted after the given ones.
#[test]
fn given_dice_stay_and_later_ones_come_from_the_new_seed() {
    let played = table().snakes(60, &[]).undo_by(UndoBy::Free).undo_over_throw().roll(5);
    let (mut game, mut book) = forked(played.book(), 5);
    let faces = |lines: &[plybook_core::book::Link]| -> Vec<String> {
        let face = |link: &plybook_core::book::Link| link.text.split("throw=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        lines.iter().map(face).collect()
    };
    assert_eq!(faces(book.lines()), faces(&played.book().lines()[..4]));
    let seed = Seed::new(FRESH);
    let mut thrown = Vec::new();
    while let Some(seat) = game.to_move() {
        let draw = game.position().throws();
        let own = game.dice(seed.clone()).throw(draw, seat, plybook_core::dice::Throw { dice: 1, sides: 6 });
        let actor = plybook_core::entry::Actor { seat: Some(seat), by: tester() };
        let request = Request { actor, expected: game.head().seq, ask: Ask::MoveText("roll".to_owned()) };
        let entry = game.decide(&request, START, &seed).unwrap();
        game.apply(&entry).unwrap();
        book.push(entry.to_string());
        thrown.push((own[0].to_string(), faces(&book.lines()[book.lines().len() - 1..])[0].clone()));
    }
    assert!(thrown.len() > 5 && thrown.iter().all(|(own, shown)| own == shown), "{thrown:?}");
    let report = verify(&book.print(), &golden::registry()).unwrap();
    assert_eq!(report.throws as usize, thrown.len(), "given throws are not this seed's");

    // Nobody takes back what was given.
    let (mut game, _) = forked(played.book(), 5);
    for (target, cause) in [(Seq(5), "GIVEN"), (Seq(2), "GIVEN")] {
        let actor = plybook_core::entry::Actor { seat: Some(Seat(0)), by: tester() };
        let request = Request { actor, expected: game.head().seq, ask: Ask::Undo(Some(target)) };
        let refused = game.decide(&request, START, &seed).unwrap_err();
        assert!(format!("{refused:?}").to_uppercase().contains(cause), "{refused:?}");
    }
}

#[test]
fn nothing_is_forked_where_nobody_is_to_move() {
    let over = table().mnk(3, 3, 3).play("a1 a2 b1 b2 c1");
    let refused = over.game().check_forkable().unwrap_err();
    assert!(matches!(refused, plybook_core::Rejection::Finished { closed: true, .. }), "{refused:?}");
    let waiting = table().of("snakes_and_ladders").joint(60, IfAbsent::Abort);
    assert!(matches!(waiting.game().check_forkable(), Err(plybook_core::Rejection::NotJoined { .. })));
    assert_eq!(waiting.joined().roll(1).game().check_forkable(), Ok(()));
}

/// Whoever says that other moves stood there is found out, however well the fork follows from itself.
#[test]
fn a_fork_that_begins_otherwise_is_found_out() {
    let played = table().mnk(3, 3, 3).play("b2 a1 c3");
    let (_, book) = forked(played.book(), 4);
    let lies = |table: Table, seq: u32, because: &str| {
        let why = Origin::check_against(&book, table.book()).unwrap_err();
        assert!(why.contains(because), "{why} is not {because}, at {seq}");
    };
    lies(table().mnk(3, 3, 3).play("b2 a1"), 4, "ends with entry 3, before entry 4");
    lies(table().mnk(3, 3, 3).play("b2 a1 c2"), 4, "has digest");
    lies(table().mnk(3, 3, 3).id(7).play("b2 a1 c3"), 4, "was forked from game");
    assert_eq!(Origin::check_against(played.book(), played.book()), Err("the game is no fork".to_owned()));

    // The entry and its digest are there; the moves were others.
    let origin = book.header().origin.unwrap();
    let (_, other) = forked(table().mnk(3, 3, 3).play("b2 a1 c2").book(), 4);
    let header = plybook_core::Header { origin: Some(origin), ..other.header().clone() };
    let mut forged = Book::new(header);
    other.lines().iter().for_each(|link| forged.push(link.text.clone()));
    verify(&forged.print(), &golden::registry()).unwrap();
    let why = Origin::check_against(&forged, played.book()).unwrap_err();
    assert!(why.contains("entry 4 is not the move 3 that stood in game"), "{why}");

    // Fewer, under a header that says so.
    let fewer = plybook_core::Header { origin: Some(Origin { given: 2, ..origin }), ..book.header().clone() };
    let mut forged = Book::new(fewer);
    book.lines()[..2].iter().for_each(|link| forged.push(link.text.clone()));
    let why = Origin::check_against(&forged, played.book()).unwrap_err();
    assert!(why.contains("3 moves stood at entry 4"), "{why}");
}

#[test]
fn a_fork_fits_the_limits() {
    let played = table().mnk(3, 3, 3).play("b2");
    let game = at(played.book(), 2);
    let origin = game.as_origin();
    assert_eq!((origin.seq, origin.given, origin.digest), (Seq(2), 1, played.book().digest()));
    let rules: Arc<dyn plybook_core::Rules> = Registry::standard().rules_of(played.book().header()).unwrap();
    // Moves of another game are no moves of this one.
    let moves = StandingMoves::at(played.book().header(), table().gomoku(15).play("h8").book().lines(), Seq(2)).unwrap();
    let new = Fork {
        game: Uuid::from_u128(1),
        created: START,
        by: tester(),
        commitment: Seed::new(FRESH).commitment(),
        entropy: Entropy::Service,
        receipts: Receipts::Always,
    };
    let refused = fork(new.header(played.book().header(), origin), rules, &moves).unwrap_err();
    assert!(refused.to_string().contains("not an action of this game"), "{refused}");
}

#[test]
fn a_fork_begins_with_so_many_moves_and_no_more() {
    let played = table().mnk(3, 3, 3).play("b2");
    let mut entry = played.header().read_entry(&played.book().lines()[0].text).unwrap();
    let mut moves = StandingMoves::default();
    for ply in 1..=plybook_core::limits::GIVEN_MAX + 1 {
        let plybook_core::entry::Body::Move(made) = &mut entry.body else { panic!("a move is a move") };
        made.ply = ply;
        moves.follow(entry.clone()).unwrap();
    }
    let rules = Registry::standard().rules_of(played.book().header()).unwrap();
    let refused = fork(played.header(), rules, &moves).unwrap_err();
    assert_eq!(refused.to_string(), "more than given_moves allows (100000)");
}
