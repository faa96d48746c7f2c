//! A new game is one file, one line in the registry and one golden book: the sixth is a toy.

use plybook_tests::table::{Table, table};
use plybook_tests::toy;

fn hermits() -> Table {
    table().registry(toy::registry()).of("hermits")
}

#[test]
fn a_sixth_ruleset_is_played_from_the_tests_alone() {
    hermits()
        .legal("a1 b1 c1 d1 e1 f1 g1")
        .play("d1")
        .turn(1)
        .legal("a1 b1 f1 g1")
        .refuses("d1", "CELL_OCCUPIED")
        .refuses("c1", "TOO_CLOSE")
        .refuses("h1", "INVALID_ACTION")
        .refuses_seat(0, "a1", "NOT_YOUR_TURN")
        .refuses_seat(2, "a1", "NO_SUCH_SEAT")
        .play("a1")
        .board("O..X...")
        .undo(2)
        .board(".......")
        .legal("a1 b1 c1 d1 e1 f1 g1")
        .play("d1 a1 g1")
        .wins(0)
        .because("last_settler")
        .refuses("f1", "GAME_FINISHED")
        .closed();
}

#[test]
fn its_parameters_are_checked_like_any_other() {
    hermits().with("last_loses", true).seats(3).play("d1 a1 g1").win_together(&[0, 1]);
    hermits().with("cells", 2).seats(3).cannot_begin("cells", "fewer than 3 seats");
    hermits().with("cells", 0).cannot_begin("cells", "not between 1 and 1000");
    hermits().with("length", 5).cannot_begin("length", "not a parameter");
}
