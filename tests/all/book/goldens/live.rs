//! Goldens of live games: clocks, bots, leaving, offers, presence, and what comes after the end.
//!
//! Invariant: each is closed, mostly by what it is a golden of. The order gives the ids: new ones come last.

use plybook_core::header::UndoBy;
use plybook_core::presence::IfAway;
use plybook_tests::table::Table;

use super::Script;

pub(super) fn scripts() -> impl Iterator<Item = Script> {
    clocks().into_iter().chain(leaving()).chain(offers()).chain(presence()).chain(bots()).chain(ends())
}

/// Room for many moves without an end.
fn room(table: Table) -> Table {
    table.mnk(5, 5, 4)
}

fn clocks() -> [Script; 8] {
    [
        ("mnk-clock-per_move-forfeit", |table| {
            let table = table.of("mnk").clock("per_move 30000 forfeit restore").after(30_000).play("b2").after(12_345).play("a1");
            table.after(29_999).undo(1).times(&[30_000, 30_000], Some(1)).after(30_000).play("c3").times_out(0).wins(1).because("timeout")
        }),
        ("mnk-clock-fischer-keep-seats3", |table| {
            let table = room(table).seats(3).clock("fischer 60000 2000 forfeit keep");
            let table = table.after(10_001).play("a1").times(&[51_999, 60_000, 60_000], Some(1));
            let table = table.after(500).play("b1").after(7_000).play("c1").after(1_000).undo(3).times(&[50_999, 60_000, 55_000], Some(0));
            let table = table.play("a2").times_out(1).live(&[0, 2]).turn(2).after(20_000).play("b2 c3").undo(1).undo(1);
            table.play("d4").times_out(0).wins(2).because("timeout")
        }),
        ("mnk-clock-fischer-restore", |table| {
            let table = table.of("mnk").clock("fischer 5000 100 forfeit restore").after(400).play("b2").after(5_000).play("a1");
            let table = table.times(&[4_700, 100], Some(0)).after(1).undo(2).times(&[5_000, 5_000], Some(0));
            table.after(2_500).play("c3").after(100).play("a1").times_out(0).wins(1)
        }),
        ("mnk-clock-bronstein-skip-seats3", |table| {
            let table = room(table).seats(3).clock("bronstein 10000 3000 skip restore");
            let table = table.after(2_999).play("a1").times(&[10_000, 10_000, 10_000], Some(1)).after(9_000).play("b1");
            let table = table.times(&[10_000, 4_000, 10_000], Some(2)).times_out(2).times(&[10_000, 4_000, 3_000], Some(0));
            let table = table.play("c1").times_out(1).times_out(2).play("d1").undo(1).turn(0);
            let table = (0..2).fold(table, |table, _| table.times_out(0).times_out(1).times_out(2));
            table.win_together(&[]).because("abandoned")
        }),
        ("mnk-clock-byo_yomi-skip", |table| {
            let table = room(table).clock("byo_yomi 60000 10000 3 skip keep").after(60_000).play("a1").after(70_000).play("b1");
            let table = table.times(&[30_000, 30_000], Some(0)).after(10_001).play("a2").after(30_000).play("b2");
            let table = table.times(&[20_000, 10_000], Some(0)).times_out(0).times(&[10_000, 10_000], Some(1)).after(10_000).play("b3");
            table.undo(1).play("b3 a3 b4").wins(1)
        }),
        ("mnk-clock-correspondence-bot-credit", |table| {
            let table = room(table).clock("correspondence 3 bot restore credit 86400000").play("a1").credits(3_600_000);
            let table = table.credits(3_600_000 + 90_000_000).times_out(1).bots_move(1).after(86_400_000).play("a2");
            table.times_out(1).undo(1).play("a3").times_out(1).resigns(1).wins(0)
        }),
        ("snakes_and_ladders-clock-skip", |table| {
            let table = table.snakes(30, &[4, 12, 20, 9]).with("extra_turn", true).with("three_in_a_row", "void_turn").seats(3);
            let table = table.undo_over_throw().seed(*b"three seats, ladders and a snake").clock("per_move 1000 skip restore");
            let table = (0..4).fold(table, |table, _| table.roll(3).settles().roll(1)).undo(6).settles();
            super::roll_to_the_end(table)
        }),
        ("othello-clock-bot", |table| {
            let table = table.othello(4).clock("bronstein 2000 500 bot keep");
            let table = table.times_out(0).bots_move(1).play("c1").times_out(0).bots_move(1);
            table.resigns(1).wins(0)
        }),
    ]
}

fn leaving() -> [Script; 9] {
    [
        ("mnk-resign-on_turn", |table| table.of("mnk").play("b2 a1").resigns(0).wins(1).because("resigned")),
        ("mnk-resign-off_turn", |table| table.of("mnk").play("b2 a1").resigns(1).wins(0).because("resigned")),
        ("mnk-resign-seats3", |table| {
            let table = room(table).seats(3).play("a1 b1").resigns(0).turn(2).play("c1").turn(1).resigns(1).wins(2);
            table.because("resigned").closed()
        }),
        ("mnk-remove-seats4", |table| {
            let table = room(table).seats(4).play("a1").removes(1).turn(2).removes(3).turn(2).play("b1").turn(0).undo(2).turn(0);
            table.play("a1").removes(0).wins(2).because("removed")
        }),
        ("mnk-abort", |table| table.of("mnk").play("b2").aborts(1).win_together(&[]).because("aborted").closed()),
        ("mnk-abort_before", |table| table.of("mnk").abort_before(5).play("a1 b1 a2 b2").aborts(0).because("aborted")),
        ("mnk-abort-by_service", |table| table.of("mnk").abort_before(0).play("a1 b1 a2 b2").aborted().because("aborted")),
        ("mnk-undo-across-leaves-seats4", |table| {
            let table = room(table).seats(4).clock("fischer 60000 0 forfeit restore").play("a1 b1 c1 d1 a2").resigns(1).turn(2);
            let table = table.play("c2 d2").undo_by_seat(2, 6).turn(2).live(&[0, 2, 3]).play("c3 d3 a3 c4").resigns(2).turn(3);
            table.undo_by_seat(3, 1).turn(3).play("d4 a4").removes(3).wins(0)
        }),
        ("mnk-misere-leave-seats4", |table| {
            let table = table.mnk(4, 5, 3).with("misere", true).seats(4).play("a3 e3 e2 a1 b2 a2 d3 d1 a4").resigns(0);
            table.play("d4 b1 c1 e1 c2").win_together(&[1, 3]).because("line")
        }),
    ]
}

fn offers() -> [Script; 6] {
    [
        ("mnk-draw-agreed", |table| {
            let table = room(table).play("a1").offers_draw(0).declines_draw(1).play("b1").offers_draw(0).withdraws_draw(0).play("a2");
            let table = table.offers_draw(0).open(Some(0), None).play("b2").open(None, None).offers_draw(1).play("a3");
            table.offers_draw(0).accepts_draw(1).draws("agreement").closed()
        }),
        ("mnk-draw-agreed-seats3", |table| {
            let table = room(table).seats(3).offers_draw(1).play("a1").open(None, None).offers_draw(1).play("b1").open(Some(1), None);
            let table = table.accepts_draw(0).declines_draw(2).play("c1").offers_draw(2).accepts_draw(1).open(Some(2), None);
            table.resigns(1).open(None, None).offers_draw(0).accepts_draw(2).draws("agreement")
        }),
        ("mnk-undo-agreed", |table| {
            let table = room(table).undo_by(UndoBy::Agreement).play("a1 b1").offers_undo(0, 2).accepts_undo(1).ply(0).turn(0);
            let table = table.play("a2").offers_undo(1, 1).declines_undo(0).play("b2").offers_undo(0, 1).withdraws_undo(0);
            table.offers_undo(1, 1).accepts_undo(0).turn(1).play("b3").offers_undo(1, 2).play("a1").open(None, None).aborted()
        }),
        ("mnk-undo-agreed-seats3", |table| {
            let table = room(table).seats(3).undo_by(UndoBy::Agreement).undo_limit(2).play("a1 b1 c1").offers_undo(0, 3);
            let table = table.accepts_undo(2).ply(3).accepts_undo(1).ply(0).play("a1 b1").offers_undo(0, 1).removes(2).open(None, None);
            table.offers_undo(1, 1).accepts_undo(0).turn(1).resigns(0).wins(1)
        }),
        ("snakes_and_ladders-undo-agreed", |table| {
            let table = table.snakes(30, &[4, 12]).undo_by(UndoBy::Agreement).undo_over_throw().roll(2).offers_undo(1, 1).accepts_undo(0);
            super::roll_to_the_end(table)
        }),
        ("mnk-undo-agreed-reopens", |table| {
            let table = table.of("mnk").undo_by(UndoBy::Agreement).undo_after_end().close_after(60_000);
            let table = table.play("a1 a2 b1 b2 c1").wins(0).offers_undo(1, 2).declines_undo(0).offers_undo(0, 1).accepts_undo(1);
            table.goes_on().turn(0).play("c3 c2").wins(1).offers_undo(0, 2).withdraws_undo(0).closes_itself().closed()
        }),
    ]
}

fn presence() -> [Script; 5] {
    [
        ("mnk-absence-forfeit-seats3", |table| {
            let table = room(table).seats(3).absence(60_000, IfAway::Forfeit).play("a1").away(1).away(2).after(59_000).back(2);
            let table = table.is_forfeited(1).live(&[0, 2]).turn(2).away(0).play("c1").back(0).away(2).away(0);
            let table = table.after(3_600_000).play("a2").after(60_000).play("c2").away(2).after(10).away(0).back(2);
            table.is_forfeited(0).wins(2).because("absent")
        }),
        ("mnk-absence-claim_win", |table| {
            let table = room(table).absence(1_000, IfAway::ClaimWin).away(1).after(1_001).claims_win(0);
            table.wins(0).because("absent").closed()
        }),
        ("mnk-absence-claim_win-seats3", |table| {
            let table = room(table).seats(3).absence(1_000, IfAway::ClaimWin).away(0).after(1_001).claims_win(2).live(&[1, 2]);
            table.turn(1).away(2).after(5_000).claims_draw(1).draws("absent")
        }),
        ("mnk-absence-claim_draw", |table| {
            let table = room(table).absence(2_592_000_000, IfAway::ClaimDraw).play("a1").away(0).away(1).back(0);
            table.after(2_592_000_001).claims_draw(0).draws("absent").closed()
        }),
        ("mnk-absence-reopens", |table| {
            let table = table.of("mnk").undo_after_end().absence(60_000, IfAway::Forfeit).play("a1 a2 b1 b2").away(1).play("c1").wins(0);
            table.after(3_600_000).undo(1).is_forfeited(1).wins(0).because("absent").closed()
        }),
    ]
}

fn bots() -> [Script; 5] {
    [
        ("mnk-bots", |table| table.of("mnk").bot(0, "minimax@1 300").bot(1, "heuristic@1 100").bots_move(9).draws("board_full")),
        ("connect_four-bot-undo", |table| {
            let table = table.connect_four(4, 5, 4).undo_by(UndoBy::OwnLastMove).bot(1, "heuristic@1 200").play("3").bots_move(1);
            let table = table.play("1").bots_move(1).undo(2).turn(0).play("2").undo(3).ply(0).play("5").bots_move(1);
            table.resigns(0).wins(1)
        }),
        ("mnk-bot-clock-seats3", |table| {
            let table = room(table).seats(3).bot(2, "random@1 1").clock("per_move 5000 bot restore").play("a1");
            let table = table.offers_draw(0).times_out(1).bots_move(2).open(None, None).offers_draw(0).times_out(0).bots_move(1);
            table.open(Some(0), None).accepts_draw(1).draws("agreement")
        }),
        ("mnk-bot-draw-seats3", |table| {
            let table = room(table).seats(3).bot(1, "random@1 1").play("a1").offers_draw(0).bots_move(1).open(Some(0), None);
            table.accepts_draw(2).draws("agreement")
        }),
        ("snakes_and_ladders-bots", |table| {
            let table = table.snakes(20, &[3, 11, 14, 2]).bot(0, "random@1 1").bot(1, "mcts@1 50");
            let mut table = table.seed(*b"bots throw dice as all others do");
            while table.game().outcome().is_none() {
                table = table.bots_move(1);
            }
            table.closed()
        }),
    ]
}

fn ends() -> [Script; 2] {
    [
        ("mnk-close_after", |table| {
            let table = table.of("mnk").undo_after_end().close_after(31_622_400_000).play("a1 a2 b1 b2 c1").after(31_622_400_000).undo(1);
            table.play("c1").wins(0).closes_itself().closed()
        }),
        ("mnk-rematch", |table| {
            table
                .of("mnk")
                .rematch_of(0x0190_0000_0000_7000_8000_0000_0000_0000)
                .undo_limit(1)
                .play("b2")
                .undo(1)
                .play("a1")
                .resigns(1)
                .wins(0)
        }),
    ]
}
