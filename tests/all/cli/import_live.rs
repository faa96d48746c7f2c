//! `plybook import` of live games: kept as evidence whole; played again as far as somebody asked for what is in them.

use plybook_core::clock::ClockPolicy;
use plybook_core::entry::{Act, Claim, Step};
use plybook_core::header::UndoBy;
use plybook_core::presence::{AbsencePolicy, IfAway};
use plybook_core::{Book, Seat, Seq, Terms, Uuid};
use plybook_tests::bot_book::{BotBook, bots};
use plybook_tests::table::{Table, table};
use serde_json::Value;

use super::House;

fn laid() -> Table {
    table().mnk(3, 3, 3).id(Uuid::now_v7().as_u128())
}

fn clock(text: &str) -> Terms {
    Terms { clock: Some(ClockPolicy::parse(text).unwrap()), ..Terms::default() }
}

fn absence(then: IfAway) -> Terms {
    Terms { absence: Some(AbsencePolicy { grace_ms: 500, then }), ..Terms::default() }
}

fn of(table: Table) -> BotBook {
    BotBook::of(table.header())
}

/// Plays the book again, and answers the lines of the new game without numbers, times and who.
fn again(house: &House, game: &BotBook) -> (String, Vec<String>) {
    let file = house.file("again.ply", &game.book.print());
    let report = house.path().join("report.jsonl");
    let ran = house.import(&["--replay", &file, "--report", report.to_str().unwrap()]).ok().says("1 imported (");
    let told: Value = serde_json::from_str(std::fs::read_to_string(&report).unwrap().trim()).unwrap();
    let said = ran.err.strip_prefix(&format!("{file}: played again without ")).map(|without| without.trim_end().to_owned());
    assert_eq!(told["without"].as_str(), said.as_deref(), "{ran:#?}");
    let copy = house.run("export", &[told["game_id"].as_str().unwrap()], "").ok().out;
    (said.unwrap_or_default(), facts(&Book::parse(&copy).unwrap()))
}

fn facts(book: &Book) -> Vec<String> {
    book.lines().iter().map(|link| link.text.splitn(4, ' ').last().unwrap().to_owned()).collect()
}

#[test]
fn what_somebody_asked_for_is_played_again() {
    let house = House::open();
    let agreed = laid().seats(3).undo_by(UndoBy::Agreement).undo_after_end();
    let agreed = agreed.terms(Terms { undo_limit: Some(3), abort_before: Some(2), ..Terms::default() });
    let target = Seq(3);
    let game = of(agreed).person("b2").person("a1").does(Some(1), Act::Undo(Step::Offer, target));
    let game = game.does(Some(0), Act::Undo(Step::Accept, target)).does(Some(2), Act::Undo(Step::Accept, target)).person("c1");
    let game = game.does(Some(0), Act::Draw(Step::Offer)).does(Some(1), Act::Draw(Step::Decline)).does(None, Act::Remove(Seat(2)));
    let game = game.person("a3").does(Some(1), Act::Draw(Step::Offer)).does(Some(0), Act::Draw(Step::Accept));
    let (without, lines) = again(&house, &game);
    assert_eq!((without, lines), (String::new(), facts(&game.book)));
    for act in [Act::Resign, Act::Abort] {
        let game = of(laid()).person("b2").does(Some(0), act);
        assert_eq!(again(&house, &game), (String::new(), facts(&game.book)));
    }
}

#[test]
fn a_game_is_played_again_without_its_clock_its_bots_and_what_only_they_did() {
    let house = House::open();
    let terms = Terms { clock: clock("per_move 10000 bot restore credit 5000").clock, ..bots(&[(1, "heuristic@1 200")], "random@1 1") };
    let game = of(laid().undo_by(UndoBy::Free).terms(Terms { absence: absence(IfAway::ClaimDraw).absence, ..terms }));
    let game = game.does(Some(0), Act::Away).does(Some(0), Act::Back).person("b2").goes_on(1).undo(0).person("a1").goes_on(1);
    let game = game.waits_out(15_001, 8_000).goes_on(1).does(Some(0), Act::Resign);
    assert_eq!(facts(&game.book).iter().filter(|line| line.starts_with("credit ") || line.starts_with("timeout 0 ")).count(), 2);
    let (without, lines) = again(&house, &game);
    let said = "its clock, its bots, whose moves are made as anybody's, its policy of absence, 4 entries about presence or time";
    assert_eq!(without, said);
    let left_out = ["away ", "back ", "credit ", "timeout "];
    let kept: Vec<String> = facts(&game.book).into_iter().filter(|line| !left_out.iter().any(|word| line.starts_with(word))).collect();
    // The move that is taken back has another number there.
    let renumbered: Vec<String> = kept.iter().map(|line| line.replacen("undo 4 ", "undo 2 ", 1)).collect();
    assert_ne!(renumbered, kept);
    assert_eq!(lines, renumbered);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_time_brought_about_is_refused_before_anything_is_created() {
    let house = House::open();
    let refused = |game: &BotBook, why: &str| {
        let file = house.file("refused.ply", &game.book.print());
        house.import(&["--replay", &file]).fails(1, why);
    };
    let forfeit = of(laid().seats(3).terms(clock("per_move 10000 forfeit keep"))).person("b2").waits_ms(10_001);
    refused(&forfeit, "entry 3 cannot be played again: \"timeout 1\" came about by time, and the new game has a time of its own");
    let skip = of(laid().terms(clock("per_move 10000 skip keep"))).waits_ms(10_001).person("b2");
    refused(&skip, "entry 2 cannot be played again: \"timeout 0\" came about by time");
    let away = of(laid().seats(3).terms(absence(IfAway::Forfeit))).does(Some(1), Act::Away).waits_ms(501);
    refused(&away, "entry 3 cannot be played again: \"forfeit 1\" came about by time");
    let claim = of(laid().terms(absence(IfAway::ClaimWin))).does(Some(1), Act::Away).does(Some(0), Act::Claim(Claim::Draw));
    refused(&claim, "entry 3 cannot be played again: \"claim draw\" came about by time");
    // Against a bot one may take back what nobody has to agree to.
    let alone = laid().undo_by(UndoBy::Agreement).terms(bots(&[(1, "random@1 1")], "random@1 1"));
    let alone = of(alone).person("b2").goes_on(1).undo(0);
    let because = "because of its bots, whom nobody asked: in the new game they are people";
    refused(&alone, "entry 4 cannot be played again: the new game refuses it: ");
    refused(&alone, because);
    let own = laid().undo_by(UndoBy::OwnLastMove).terms(bots(&[(1, "random@1 1")], "random@1 1"));
    refused(&of(own).person("b2").goes_on(1).undo(0), because);
    let drawn = of(laid().seats(3).terms(bots(&[(2, "random@1 1")], "random@1 1")));
    refused(&drawn.does(Some(0), Act::Draw(Step::Offer)).does(Some(1), Act::Draw(Step::Accept)), because);
    // Nobody could have agreed to this without the clock either.
    let skipped = laid().terms(Terms { clock: clock("per_move 10000 skip keep").clock, ..bots(&[(1, "random@1 1")], "random@1 1") });
    let file = house.file("skipped.ply", &of(skipped).waits_ms(10_001).goes_on(1).book.print());
    assert!(!house.import(&["--replay", &file]).fails(1, "\"timeout 0\" came about by time").err.contains("bots"));
    assert!(house.games().await.is_empty());
}

/// All of them are kept as they are, and verify there.
#[test]
fn every_live_game_is_kept_as_evidence() {
    let house = House::open();
    let games = [
        of(laid().seats(3).terms(clock("per_move 10000 forfeit keep"))).person("b2").waits_ms(10_001),
        of(laid().terms(absence(IfAway::ClaimWin))).does(Some(1), Act::Away).does(Some(0), Act::Claim(Claim::Win)),
        of(laid().terms(bots(&[(0, "random@1 1"), (1, "random@1 1")], "random@1 1"))).goes_on(9),
    ];
    for game in &games {
        let file = house.file("kept.ply", &game.book.print());
        let ran = house.import(&[&file]).ok().says("1 imported (");
        assert_eq!(ran.err, "", "{ran:#?}");
        let id = game.game.header().game.to_string();
        assert_eq!(house.run("export", &[&id], "").ok().out, game.book.print());
    }
    // A draw offered to take back after the end leaves the end known.
    let ended = laid().undo_by(UndoBy::Agreement).undo_after_end();
    let ended = of(ended).person("b2").person("a1").person("b1").person("c1").person("b3").does(Some(1), Act::Undo(Step::Offer, Seq(5)));
    let file = house.file("ended.ply", &ended.book.print());
    let report = house.path().join("report.jsonl");
    house.import(&[&file, "--report", report.to_str().unwrap()]).ok();
    let told: Value = serde_json::from_str(std::fs::read_to_string(&report).unwrap().trim()).unwrap();
    assert_eq!(told["outcome"]["reason"], "line");
}
