//! Who leaves, who moves then, and who has won.

use plybook_core::entry::Act;
use plybook_core::game::Ask;
use plybook_core::header::{Principal, UndoBy};
use plybook_tests::table::{Table, table};

fn room(seats: u8) -> Table {
    table().mnk(6, 6, 5).seats(seats)
}

#[test]
fn scenario_64_a_seat_resigns_on_any_turn() {
    for (seat, plies) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let game = if plies == 1 { room(2).play("a1") } else { room(2) };
        game.resigns(seat).wins(1 - seat).because("resigned").closed();
    }
}

#[test]
fn the_next_live_seat_moves_and_the_last_one_wins() {
    let game = room(5).play("a1 b1").resigns(2).turn(3).removes(4).turn(3).play("c1").turn(0).resigns(1).turn(0).play("d1").turn(3);
    game.live(&[0, 3]).refuses_seat(1, "e1", "SEAT_LEFT").refuses_seat(0, "e1", "NOT_YOUR_TURN").resigns(3).wins(0);
}

/// Nobody else is at a table for one, so nobody wins.
#[test]
fn who_leaves_alone_leaves_no_result() {
    let game = || table().snakes(30, &[]).seats(1);
    game().resigns(0).win_together(&[]).because("resigned").closed();
    game().clock("per_move 1000 forfeit keep").times_out(0).win_together(&[]).because("timeout").closed();
    game().clock("per_move 1000 skip keep").times_out(0).turn(0).roll(1).times_out(0).times_out(0).because("abandoned").closed();
}

/// The rules know nothing of who has left: of a misère game they say that all others win.
#[test]
fn who_has_left_does_not_win() {
    let game = table().mnk(3, 3, 1).with("misere", true).seats(4).resigns(3).play("a1").win_together(&[1, 2]).because("line");
    let folded = plybook_tests::table::fold(game.rulesets(), &game.book().print(), |_, _| {});
    assert_eq!(folded.outcome(), game.game().outcome());
    assert_eq!(folded.position_digest(), game.digest(), "the position says the same");
    // Taken back, it is as it was.
    let game = table().mnk(3, 3, 1).with("misere", true).seats(3).undo_after_end().play("a1").win_together(&[1, 2]).undo(1).resigns(2);
    game.play("b1").win_together(&[1]).undo(1).goes_on().turn(0).play("c1").win_together(&[1]);
}

#[test]
fn an_undo_across_a_leave_brings_nobody_back() {
    let game = room(3).play("a1 b1 c1 a2 b2").resigns(1).turn(2).undo_by_seat(0, 4).turn(2).ply(1).live(&[0, 2]);
    // The move of the seat that stayed is its own again.
    game.undo_by_seat(2, 1).turn(0).ply(0).play("a1").turn(2).play("c1").turn(0);
}

/// Who acts for whom: a bot's seat moves by the service alone, and a person's never does.
#[test]
fn the_service_moves_for_bots_and_for_nobody_else() {
    let ask = || Ask::MoveText("a1".to_owned());
    let game = room(2).bot(0, "random@1 1").refuses_by(plybook_tests::table::tester(), 0, ask(), "SEAT_IS_BOT");
    let game = game.refuses_by(Principal::service(), 0, ask(), "SEAT_IS_BOT").bots_move(1);
    let free = Ask::MoveText(free(&game));
    let game = game.refuses_by(Principal::bot(), 1, free.clone(), "SEAT_IS_BOT").refuses_by(Principal::fallback(), 1, free, "SEAT_IS_BOT");
    game.refuses_act(0, Act::Resign, "SEAT_IS_BOT").removes(0).wins(1);
}

fn free(game: &Table) -> String {
    game.game().rules().write_action(game.game().play().legal()[0])
}

/// Against bots one goes back to one's own choice: what a bot did is no answer.
#[test]
fn an_undo_against_a_bot_leads_to_the_persons_own_choice() {
    let game = || table().mnk(6, 6, 5).undo_by(UndoBy::OwnLastMove).bot(1, "random@1 1").play("a1").bots_move(1);
    game().undo(2).ply(0).turn(0);
    game().refuses_undo(1, "SEAT_IS_BOT").ply(2);
    // Where all others are bots, nobody else has to agree.
    let game = table().mnk(6, 6, 5).undo_by(UndoBy::Agreement).bot(1, "random@1 1").play("a1").bots_move(1);
    game.refuses_act(0, Act::Draw(plybook_core::entry::Step::Offer), "NOBODY_TO_ANSWER").undo(2).ply(0);
    let three = table().mnk(6, 6, 5).seats(3).undo_by(UndoBy::OwnLastMove).bot(1, "random@1 1").play("a1").bots_move(1);
    three.play("f6").refuses_undo(3, "NOT_YOUR_MOVE");
}
