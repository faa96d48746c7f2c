//! Live games as `plybook replay`, `watch` and `compare` tell them: clocks beside the board, offers, absences, who left.

use plybook_core::clock::ClockPolicy;
use plybook_core::entry::{Act, Claim, Step};
use plybook_core::header::UndoBy;
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Seat, Seq, Terms, Uuid};
use plybook_tests::bot_book::{BotBook, bot, bots};
use plybook_tests::table::{Table, table};

use super::{House, run};

fn laid() -> Table {
    table().mnk(3, 3, 3)
}

fn clock(text: &str) -> Terms {
    let clock = ClockPolicy::parse(text).unwrap();
    let fallback = text.contains(" bot ").then(|| bot("random@1 1"));
    Terms { clock: Some(clock), fallback, ..Terms::default() }
}

fn absence(grace_ms: u64, then: IfAway) -> Terms {
    Terms { absence: Some(AbsencePolicy { grace_ms, then }), ..Terms::default() }
}

fn of(table: Table) -> BotBook {
    BotBook::of(table.header())
}

/// Each entry as it is printed, without its title.
fn told(game: &BotBook) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("game.ply");
    std::fs::write(&file, game.book.print()).unwrap();
    let ran = run(&["replay", "--print", file.to_str().unwrap()], "").ok();
    let steps: Vec<String> = ran.out.split("\n\n").map(|step| step.split_once('\n').unwrap().1.trim_end().to_owned()).collect();
    assert_eq!(steps.len(), game.book.links().len(), "{}", ran.out);
    steps
}

/// The last entry has this before its board.
#[track_caller]
fn last(game: &BotBook, news: &str) {
    let told = told(game);
    let last = told.last().unwrap();
    assert!(last.starts_with(&format!("{news}\n3 ")), "{last}");
}

/// The last entry has these clocks beside its board, and to the millisecond below it.
#[track_caller]
fn last_clocks(game: &BotBook, beside: &[&str], below: &str) {
    let told = told(game);
    let last = told.last().unwrap();
    let right: Vec<&str> =
        last.lines().skip_while(|line| !line.starts_with("3 ")).map_while(|line| line.split_once("    ")).map(|(_, time)| time).collect();
    assert_eq!(right, beside, "{last}");
    assert!(last.lines().any(|line| line == format!("clocks: {below}")), "{last}");
}

#[test]
fn clocks_stand_beside_the_board_and_to_the_millisecond_below_it() {
    let game = of(laid().terms(clock("fischer 60000 2500 forfeit restore"))).person("b2").person("a1");
    last(&game, "O played a1.\nX to move.");
    last_clocks(&game, &["X  1:01 <", "O  1:01"], "X 1:01.500, O 1:01.500; X is in time until 2026-01-01T00:01:03.500Z");
    let rule = "clock: 1 minute for the game, and 2.500 seconds more after each move; who runs out of it leaves the game; what is taken back gives time back";
    assert!(
        told(&game)[0].ends_with(&format!("\n{rule}\nclocks: X 1:00.000, O 1:00.000; X is in time until 2026-01-01T00:01:00.000Z")),
        "{}",
        told(&game)[0]
    );
    let late = game.waits_ms(61_501);
    last(&late, "X's time ran out.\nO wins: timeout.\nX ran out of time (entry 4).");
    last_clocks(&late, &["X   0.0", "O  1:01"], "X 0:00.000, O 1:01.500");

    let byo = of(laid().terms(clock("byo_yomi 1000 30000 3 skip keep"))).person("b2");
    last_clocks(
        &byo,
        &["X   0.0 + 3 x 0:30", "O   1.0 + 3 x 0:30 <"],
        "X 0:00.000 and 3 periods, O 0:01.000 and 3 periods; O is in time until 2026-01-01T00:01:32.000Z",
    );
    let skipped = byo.waits_ms(91_001);
    last(&skipped, "O's time ran out, and the turn with it.\nX to move.");
    last_clocks(
        &skipped,
        &["X   0.0 + 3 x 0:30 <", "O   0.0 + 1 x 0:30"],
        "X 0:00.000 and 3 periods, O 0:00.000 and 1 period; X is in time until 2026-01-01T00:03:02.000Z",
    );
    let three = of(laid().seats(3).terms(clock("correspondence 1 forfeit keep"))).waits_ms(86_400_001);
    last(&three, "X's time ran out.\nO to move.\nX ran out of time (entry 2).");
    last_clocks(
        &three,
        &["X   0.0", "O 1 day 0:00 <", "Y 1 day 0:00"],
        "X 0:00.000, O 1 day 0:00:00.000, Y 1 day 0:00:00.000; O is in time until 2026-01-03T00:00:00.000Z",
    );
    let credit = of(laid().terms(clock("per_move 10000 forfeit keep credit 5000"))).person("b2").waits_out(10_001, 4_001);
    let first = told(&credit)[2].clone();
    assert!(first.starts_with("O got 4.001 seconds back, for which no server was there.\nO to move.\n"), "{first}");
    assert!(first.contains("\nclocks: X 0:10.000, O 0:04.001; O is in time until 2026-01-01T00:00:15.001Z"), "{first}");
}

#[test]
fn bots_and_stand_ins_are_told() {
    let terms =
        Terms { clock: Some(ClockPolicy::parse("per_move 10000 bot restore").unwrap()), ..bots(&[(1, "heuristic@1 500")], "random@1 1") };
    let game = of(laid().terms(terms)).person("b2").goes_on(1).waits_ms(10_001);
    let steps = told(&game);
    assert!(steps[0].contains("\nseat 1 O is a bot: heuristic@1 with 500 nodes\nthe fallback is random@1 with 1 node\nclock: 10 seconds for each move; who runs out of it has the fallback move; "), "{}", steps[0]);
    assert!(steps[1].starts_with("X played b2.\nO to move: its bot, heuristic@1 with 500 nodes.\n"), "{}", steps[1]);
    assert!(steps[2].contains(", by plybook/bot\nchosen by its bot, heuristic@1 with 500 nodes"), "{}", steps[2]);
    assert!(
        steps[3].starts_with("X's time ran out; a bot makes this move.\nX to move: the fallback, random@1 with 1 node, moves instead.\n"),
        "{}",
        steps[3]
    );
    let steps = told(&game.goes_on(1));
    assert!(steps[4].contains(", by plybook/fallback\nchosen by the fallback, random@1 with 1 node"), "{}", steps[4]);
}

#[test]
fn offers_are_told_with_who_must_answer() {
    let game = || of(laid().seats(3).undo_by(UndoBy::Agreement)).person("b2").person("a1");
    let offered = game().does(Some(0), Act::Draw(Step::Offer));
    last(&offered, "X offers O and Y a draw.\nY to move.\nX offers O and Y a draw.");
    let agreed = offered.does(Some(1), Act::Draw(Step::Accept));
    last(&agreed, "O agreed to a draw; Y has yet to answer.\nY to move.\nX offers Y a draw; O agreed.");
    last(&agreed.does(Some(2), Act::Draw(Step::Accept)), "Y agreed to a draw.\nA draw: agreement.");
    let declined = game().does(Some(0), Act::Draw(Step::Offer)).does(Some(1), Act::Draw(Step::Decline));
    last(&declined, "O declined the draw.\nY to move.");
    last(
        &game().does(Some(0), Act::Draw(Step::Offer)).does(Some(0), Act::Draw(Step::Withdraw)),
        "X withdrew the offer of a draw.\nY to move.",
    );

    let target = Seq(2);
    let undo = game().does(Some(0), Act::Undo(Step::Offer, target));
    last(
        &undo,
        "X asks O and Y to take back the move of entry 2 and what follows it.\nY to move.\nX asks O and Y to take back the move of entry 2 and what follows it.",
    );
    let one = undo.does(Some(2), Act::Undo(Step::Accept, target));
    last(
        &one,
        "Y agreed that moves are taken back; O has yet to answer.\nY to move.\nX asks O to take back the move of entry 2 and what follows it; Y agreed.",
    );
    last(
        &one.does(Some(1), Act::Undo(Step::Accept, target)),
        "O agreed to take back 2 moves: b2 of entry 2 and what was played after it.\nX to move.",
    );
    let no = game().does(Some(0), Act::Undo(Step::Offer, target)).does(Some(1), Act::Undo(Step::Decline, target));
    last(&no, "O does not agree that moves are taken back.\nY to move.");
    let gone = game().does(Some(0), Act::Undo(Step::Offer, target)).does(Some(0), Act::Undo(Step::Withdraw, target));
    last(&gone, "X withdrew the offer to take moves back.\nY to move.");
    assert!(told(&gone)[0].ends_with("\nmoves are taken back once everybody else agrees"));
}

#[test]
fn absences_and_leaving_are_told() {
    let game = || of(laid().seats(3).terms(absence(60_000, IfAway::Forfeit))).person("b2");
    let away = game().does(Some(2), Act::Away);
    last(&away, "Y is away.\nO to move.\nY is away since 2026-01-01T00:00:02.000Z, and has until 2026-01-01T00:01:02.000Z to come back.");
    last(&away.does(Some(2), Act::Back), "Y is back.\nO to move.");
    let all = game().does(Some(0), Act::Away).does(Some(1), Act::Away).does(Some(2), Act::Away);
    assert!(told(&all)[4].contains("\nX is away since 2026-01-01T00:00:02.000Z, and nobody is there to wait.\n"), "{:?}", told(&all)[4]);
    let late = game().does(Some(2), Act::Away).waits_ms(60_001);
    last(&late, "Y was away for too long.\nO to move.\nY was away for too long (entry 4).");
    last(&late.does(Some(0), Act::Resign), "X resigned.\nO wins: resigned.\nY was away for too long (entry 4).\nX resigned (entry 5).");
    last(&game().does(Some(0), Act::Resign), "X resigned.\nO to move.\nX resigned (entry 3).");
    last(&game().does(None, Act::Remove(Seat(1))), "O was taken out of the game.\nY to move.\nO was removed (entry 3).");
    last(&game().does(None, Act::Abort), "The calling service broke the game off.\nNo result: aborted.");
    last(&game().does(Some(1), Act::Abort), "O broke the game off.\nNo result: aborted.");

    let claims = |claim| {
        let mut game = of(laid().terms(absence(500, IfAway::ClaimWin))).person("b2").does(Some(1), Act::Away);
        game.ask(plybook_tests::table::tester(), Some(Seat(0)), plybook_core::game::Ask::Act(Act::Claim(claim)));
        game
    };
    last(&claims(Claim::Win), "X went on without O, who stayed away.\nX wins: absent.\nO was away for too long (entry 4).");
    last(&claims(Claim::Draw), "X claimed a draw, as the others are away.\nA draw: absent.");
    assert!(told(&claims(Claim::Draw))[0].ends_with("\nwho is away for more than 500 ms lets the others claim a draw, or that it leaves"));
}

#[test]
fn a_finished_game_may_be_reopened_for_a_while() {
    let window = Terms { close_after_ms: Some(90_000), undo_limit: Some(1), abort_before: Some(0), ..Terms::default() };
    let game = || {
        of(laid().undo_by(UndoBy::Free).undo_after_end().terms(window.clone()))
            .person("b2")
            .person("a1")
            .person("b1")
            .person("c1")
            .person("b3")
    };
    let over = game();
    last(&over, "X played b3.\nX wins: line.\nIt may be reopened until 2026-01-01T00:01:35.000Z.");
    let header =
        "moves are taken back 1 time at most\nno seat may abort the game\nonce it is finished, the game closes itself after 90 seconds";
    assert!(told(&over)[0].ends_with(header), "{}", told(&over)[0]);
    last(&over.undo(0), "X took back b3 of entry 6. That reopened the game.\nX to move.");
    last(&game().waits_ms(90_001), "The game was closed.\nX wins: line.");
}

/// A live game is watched as its book says it; compared, the entry where two part is told.
#[test]
fn a_live_game_is_watched_and_compared() {
    let house = House::open();
    let game = of(laid().id(Uuid::now_v7().as_u128()).terms(clock("per_move 60000 forfeit restore"))).person("b2");
    let game = game.does(Some(1), Act::Draw(Step::Offer)).does(Some(0), Act::Draw(Step::Decline)).does(Some(1), Act::Resign);
    let file = house.file("game.ply", &game.book.print());
    house.import(&[&file]).ok();
    let id = game.game.header().game.to_string();
    let ran = house.run("watch", &[&id, "--from-start"], "").ok();
    let frames: Vec<&str> = ran.out.split("\n\n").collect();
    let ends = [
        "Entry 1.\nX to move.",
        "Entry 2: X played b2.\nO to move.",
        "Entry 3: O offers X a draw.\nO to move.\nO offers X a draw.",
        "Entry 4: X declined the draw.\nO to move.",
        "Entry 5: O resigned.\nX wins: resigned.\nO resigned (entry 5).",
    ];
    let beside =
        [["X  1:00 <", "O  1:00"], ["X  1:00", "O  1:00 <"], ["X  1:00", "O  0:59 <"], ["X  1:00", "O  0:58 <"], ["X  1:00", "O  1:00"]];
    for ((frame, end), times) in frames.iter().zip(ends).zip(beside) {
        assert!(frame.ends_with(end), "{frame}");
        assert!(times.iter().all(|time| frame.contains(&format!("    {time}\n"))), "{times:?}: {frame}");
    }
    let other = of(laid().terms(clock("per_move 60000 forfeit restore"))).person("b2").does(Some(1), Act::Draw(Step::Offer));
    let other = house.file("other.ply", &other.person("a1").book.print());
    let ran = run(&["compare", &file, &other], "");
    assert_eq!(ran.code, 1, "{ran:#?}");
    ran.says("other.ply, entry 4, O played a1");
    let same = of(laid().id(game.game.header().game.as_u128()).terms(clock("per_move 60000 forfeit restore"))).person("b2");
    let same = house.file("same.ply", &same.does(Some(0), Act::Resign).book.print());
    run(&["compare", &file, &same], "").says("game.ply, entry 3, O offers X a draw:").says("same.ply, entry 3, X resigned:");
}
