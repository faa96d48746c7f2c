//! Golden books: each ruleset has one, and each comes out the same however it is run here.
//!
//! `PLYBOOK_WRITE_GOLDENS=1 cargo test -p plybook-tests goldens` plays the scripts below and writes
//! their files before it checks them. A golden that was ever released is never written again: a
//! changed rule is a new version of its ruleset, with goldens of its own.

mod live;

use std::collections::BTreeSet;

use plybook_core::entropy::IfAbsent;
use plybook_core::{Book, Digest, Game, Seq};
use plybook_rulesets::Registry;
use plybook_tests::golden::{Golden, again, all, folder, print_positions, registry};
use plybook_tests::table::{Table, fold, table};
use plybook_tests::toy;

/// A name, and what is played at a table laid for it.
type Script = (&'static str, fn(Table) -> Table);

/// The games, by name. The order gives the ids.
fn scripts() -> Vec<(&'static str, Table)> {
    let id = |at: usize| 0x0190_0000_0000_7000_8000_0000_0000_0000 + at as u128;
    plain()
        .into_iter()
        .chain(joint_and_forked())
        .chain(live::scripts())
        .enumerate()
        .map(|(at, (name, play))| (name, play(table().id(id(at)))))
        .collect()
}

/// Games of nothing but moves and undos.
fn plain() -> [Script; 20] {
    [
        ("connect_four", |table| {
            table.of("connect_four").version(1).play("5 1 1 2 4 3 7").undo(1).play("1").undo(3).play("4 3 1 6 3 2 1 2 1").wins(0)
        }),
        ("connect_four-pop_out", |table| {
            let table = table.connect_four(4, 5, 4).version(1).with("pop_out", true).play("1 2 4 1 4 4 1 2^ 3 3 1^");
            table.undo(4).play("2^ 3 3 1^ 2 1 1^ 4 2 4^ 1 3 2^ 2 2^").wins(0).because("line")
        }),
        ("connect_four-pop_out-repetition", |table| {
            table.connect_four(4, 4, 4).version(1).with("pop_out", true).play("3 3 4 1 3^ 3^ 4^ 1^ 3 4 3^ 4^").draws("repetition")
        }),
        ("connect_four-seats3-cols11", |table| {
            table.connect_four(5, 11, 3).version(1).seats(3).play("10 9 1 8 8 2 1 4 1 3 8 6 2 2 11 11 10 2 11 3").wins(1)
        }),
        ("gomoku-freestyle-overline", |table| table.of("gomoku").play("h8 a1 g8 c1 f8 e1 d8 g1 c8 i1 e8").wins(0)),
        ("gomoku-standard", |table| {
            let table = table.of("gomoku").with("rule", "standard").with_players(&[("●", "black \"first\""), ("○", "white \\ zweite ü")]);
            table.play("h8 a1 g8 c1 f8 e1 d8 g1 c8 i1 e8").goes_on().play("k1 h9 m1 h10 o1 h11 a3 h7").wins(0)
        }),
        ("hermits", |table| table.registry(toy::registry()).of("hermits").play("d1 a1").undo(1).play("b1 f1").wins(0)),
        ("mnk", |table| table.of("mnk").play("b2 a1 c3").undo(2).play("a3 c1 a1 c3 b1 c2").wins(0)),
        ("mnk-exact-full_line-four_corners-seats3", |table| {
            let table = table.mnk(4, 4, 3).with("win", "exact+full_line+four_corners").seats(3);
            table.play("c3 a3 c1 c2 c4 b4 a1 d2 b3 d1 b2 b1 a4 d3 a2 d4").wins(0).because("four_corners")
        }),
        ("mnk-misere-early_draw-seats4", |table| {
            let table = table.mnk(4, 5, 3).with("misere", true).with("early_draw", true).seats(4);
            table.play("d1 c1 e3 d2 a2 c2 b1 e4 b3 b2 a3 e2 c3 c4 e1 a4 a1 d3 b4").draws("no_line_left")
        }),
        ("mnk-misere-seats4", |table| {
            let table = table.mnk(4, 5, 3).with("misere", true).seats(4);
            table.play("a3 e3 e2 a1 b2 a2 d3 d1 a4 d4 b1 c1 b4 e1 c2").win_together(&[0, 1, 3])
        }),
        ("mnk-undo_after_end", |table| {
            let table = table.of("mnk").undo_after_end().play("a1 a2 b1 b2 c1").wins(0).undo(1).play("c3 c2").wins(1);
            table.undo(3).play("b3 c1").wins(0).close()
        }),
        ("mnk-wide", |table| table.mnk(30, 30, 5).play("aa10 a1 ab10 c1 ac10 e1 ad10 g1 z10").wins(0)),
        ("othello", |table| {
            let table = table.of("othello").play("d3 c3 c4 e3 e2 b4 b5 c5 d6 f1 a4 d7 c2 c1 d2 b2 a2 a1 d8 b1 b3 d1 c6 a3 e1 e6 g1 h1");
            table.undo(2).play("g1 h1 f5 a5 f4 b6 a6 a7 c7 b7 f6 e7 a8 g7 b8 f8 e8 c8 f7 h8 g4").wins(1).scores(&[0, 51])
        }),
        ("othello-4", |table| table.othello(4).play("c4 d2 d1 b4 d3 c1 a2 a1 a4 a3 b1 d4").wins(0)),
        ("snakes_and_ladders-extra_turn-seats3", |table| {
            let table = table.snakes(45, &[3, 22, 8, 30, 17, 4, 36, 44, 27, 1]).with("edge_jumps", true);
            let table = table.with("extra_turn", true).with("three_in_a_row", "void_turn").with("finish", "bounce").seats(3);
            roll_to_the_end(table.undo_over_throw().seed(*b"three seats, ladders and a snake").roll(7).undo(2).roll(4).undo(1))
        }),
        ("snakes_and_ladders-two_dice", |table| {
            let table = table.snakes(40, &[5, 25, 25, 12, 30, 3]).with("chain", "follow").with("dice", 2).with("sides", 4);
            roll_to_the_end(table.with("start", 1).with("finish", "reach").seats(1))
        }),
        // The order gives the ids: what comes later stands here.
        ("connect_four-2", |table| {
            table.of("connect_four").version(2).play("5 1 1 2 4 3 7").undo(1).play("1").undo(3).play("4 3 1 6 3 2 1 2 1").wins(0)
        }),
        ("connect_four-2-pop_out-no_move", |table| {
            table.connect_four(3, 2, 3).version(2).with("pop_out", true).play("1 2 1 1 2 2^ 2^ 2 2 2^ 2^").draws("no_move")
        }),
        ("connect_four-2-pop_out-repetition", |table| {
            let table = table.connect_four(4, 4, 4).version(2).with("pop_out", true).play("3 3 4 1 3^ 3^ 4^ 1^ 3 4 3^");
            let table = table.refuses("4^", "REPETITION").undo(1).play("3^").refuses("4^", "REPETITION");
            table.play("3 3 2 4 2^ 2 3 3 4 2 1 1").wins(0).because("line")
        }),
    ]
}

/// Games with nonces, absences and given moves, after the others: the order gives the ids.
fn joint_and_forked() -> [Script; 8] {
    [
        ("snakes_and_ladders-joint-seats3", |table| {
            let table = two_dice(table).seats(3).undo_over_throw().joint(600, IfAbsent::Forfeit);
            let table = table.commit(2).commit(0).commit(1).reveal(0).reveal(2).reveal(1);
            roll_to_the_end(table.roll(4).undo(2).roll(1))
        }),
        ("snakes_and_ladders-joint-signed", |table| {
            let table = two_dice(table).seed_of_the_service().joint(600, IfAbsent::Abort);
            roll_to_the_end(table.commit_signed(1, [9; 32]).commit(0).reveal(1).reveal(0))
        }),
        ("snakes_and_ladders-joint-absent-forfeit", |table| {
            let table = two_dice(table).seats(3).joint(600, IfAbsent::Forfeit).commit(2).commit(0).later(601).close();
            table.win_together(&[0, 2]).because("absent").closed()
        }),
        ("snakes_and_ladders-joint-absent-abort", |table| {
            let table = two_dice(table).seats(3).joint(600, IfAbsent::Abort).commit(0).commit(1).commit(2).reveal(2).later(3600).close();
            table.win_together(&[]).because("absent").closed()
        }),
        ("mnk-receipts_always", |table| {
            table.of("mnk").receipts_always().play("b2 a1 c3").undo(1).play("a3 c1 b1 b3 a2 c2 c3").draws("board_full")
        }),
        ("snakes_and_ladders-fork", |fork| {
            let origin = two_dice(table()).undo_over_throw().roll(4).undo(2).roll(1);
            roll_to_the_end(fork.fork(&origin, 7).seed([8; 32]).roll(2).undo(1))
        }),
        ("snakes_and_ladders-fork-joint", |fork| {
            let origin = two_dice(table()).roll(3);
            let fork = fork.fork(&origin, 3).seed([8; 32]).joint(600, IfAbsent::Forfeit);
            roll_to_the_end(fork.joined())
        }),
        ("snakes_and_ladders-fork-joint-absent", |fork| {
            fork.fork(&two_dice(table()).roll(3), 4).joint(600, IfAbsent::Forfeit).later(601).close().because("absent").closed()
        }),
    ]
}

fn two_dice(table: Table) -> Table {
    table.snakes(40, &[5, 25, 24, 12, 30, 3]).with("dice", 2).with("sides", 4).with("finish", "reach")
}

fn roll_to_the_end(mut table: Table) -> Table {
    while table.game().outcome().is_none() {
        table = table.roll(1);
    }
    table.closed()
}

/// Position digests at every entry, found by folding.
fn positions_of(registry: &Registry, file: &str) -> Vec<(Seq, Digest)> {
    let mut positions = Vec::new();
    fold(registry, file, |seq, game| positions.push((seq, game.position_digest())));
    positions
}

fn write() {
    for (name, table) in scripts() {
        let file = table.book().print();
        let positions = print_positions(&positions_of(&registry(), &file));
        std::fs::write(folder().join(format!("{name}.ply")), &file).unwrap();
        std::fs::write(folder().join(format!("{name}.positions")), positions).unwrap();
    }
}

fn goldens() -> Vec<Golden> {
    static WRITTEN: std::sync::Once = std::sync::Once::new();
    WRITTEN.call_once(|| {
        if std::env::var_os("PLYBOOK_WRITE_GOLDENS").is_some() {
            write();
        }
    });
    all()
}

#[test]
fn every_registered_ruleset_has_a_golden() {
    let goldens = goldens();
    for card in registry().cards() {
        let has = goldens.iter().any(|golden| golden.book.header().ruleset == card.id());
        assert!(has, "{} has no golden book in tests/golden", card.id());
    }
    for golden in &goldens {
        assert!(golden.name.starts_with(&golden.book.header().ruleset.name), "{} is named after its ruleset", golden.name);
    }
}

#[test]
fn a_golden_folds_to_its_positions() {
    for golden in goldens() {
        let file = golden.book.print();
        assert_eq!(positions_of(&registry(), &file), golden.positions, "{}", golden.name);
        assert_eq!(file, std::fs::read_to_string(folder().join(format!("{}.ply", golden.name))).unwrap(), "{} is canonical", golden.name);
        assert_eq!(golden.positions.len(), golden.book.links().len(), "{}", golden.name);
        assert_eq!(golden.seed.commitment(), golden.book.header().commitment, "{}", golden.name);
    }
}

#[test]
fn a_golden_played_again_is_the_same_book() {
    let registry = registry();
    for golden in goldens() {
        let header = golden.book.header().clone();
        let mut game = Game::new(header.clone(), registry.rules_of(&header).unwrap());
        for (entry, link) in golden.entries().iter().zip(golden.book.lines()) {
            let decided = again(&mut game, entry, &golden.seed);
            let decided = decided.unwrap_or_else(|why| panic!("{}, entry {}: {why}", golden.name, entry.seq));
            assert_eq!(decided.to_string(), link.text, "{}", golden.name);
            assert_eq!(game.apply(&decided).unwrap().digest, link.digest, "{}", golden.name);
        }
        assert_eq!(game.head().digest, golden.book.digest(), "{}", golden.name);
    }
}

#[test]
fn a_golden_is_what_its_script_plays() {
    let goldens = goldens();
    let scripts = scripts();
    for (name, table) in &scripts {
        let golden = goldens.iter().find(|golden| golden.name == *name).unwrap_or_else(|| panic!("{name} was never written"));
        assert_eq!(table.book(), &golden.book, "{name}");
    }
    let named: BTreeSet<&str> = scripts.iter().map(|(name, _)| *name).collect();
    let kept: BTreeSet<&str> = goldens.iter().map(|golden| golden.name.as_str()).collect();
    assert_eq!(named, kept, "every golden has its script");
}

#[test]
fn goldens_cover_what_can_happen() {
    let lines: String = goldens().iter().map(|golden| golden.book.print()).collect();
    for fact in [
        " undo ",
        " close ",
        " throw=",
        " skip=",
        " draw=yes",
        " win=0,1,3 ",
        " line=",
        " 4^ ",
        "undo-after-end yes",
        "undo-over-throw yes",
        "seed-from service",
        "\norigin ",
        "\nentropy joint 600 abort\n",
        "\nentropy joint 600 forfeit\n",
        "\nreceipts always\n",
        " given roll ",
        " commit ",
        " key=",
        " reveal ",
        " absent 1 win=0,2 reason=absent seed=",
        " absent 0,1 void=yes reason=absent seed=",
        "\nundo agreement\n",
        "\nbot 1 ",
        "\nfallback ",
        "\nclock per_move 30000 forfeit restore\n",
        "\nclock fischer ",
        "\nclock bronstein ",
        "\nclock byo_yomi ",
        "\nclock correspondence 3 bot restore credit 86400000\n",
        "\nabsence 60000 forfeit\n",
        "\nabsence 1000 claim_win\n",
        "\nabsence 2592000000 claim_draw\n",
        "\nundo-limit ",
        "\nabort-before ",
        "\nclose-after ",
        "\nrematch ",
        " resign next=",
        " resign win=",
        " remove 1 next=",
        " timeout 1 next=",
        " timeout 2 void=yes reason=abandoned seed=",
        " timeout 0 win=1 reason=timeout seed=",
        " forfeit 1 next=",
        " claim win next=",
        " claim win win=0 reason=absent seed=",
        " claim draw draw=yes reason=absent seed=",
        " away next=",
        " back next=",
        " -:anonymous abort void=yes reason=aborted seed=",
        " 1:anonymous abort void=yes reason=aborted seed=",
        " draw offer next=",
        " draw accept next=",
        " draw accept draw=yes reason=agreement seed=",
        " draw decline next=",
        " draw withdraw next=",
        " undo-accept 2 next=",
        " undo-accept 2 ply=0 ",
        " undo-decline 6 next=",
        " undo-withdraw ",
        " undo-offer 6\n",
        " reopens=yes\n",
        " credit 3600000 next=",
        "plybook/bot move ",
        "plybook/fallback move ",
        " -:plybook close seed=",
    ] {
        assert!(lines.contains(fact), "no golden has {fact:?}");
    }
}

/// Every byte of every golden, changed in several ways, is noticed: by the file's form, its digests,
/// or the rules.
#[test]
fn scenario_38_one_changed_byte_is_found() {
    let (mut changed, mut found_by_rules) = (0u32, 0u32);
    for golden in goldens() {
        let file = golden.book.print().into_bytes();
        for at in 0..file.len() {
            let flips = if golden.name == "mnk" { &[1, 2, 4, 8, 16, 32, 64][..] } else { &[1][..] };
            for flip in flips {
                let mut damaged = file.clone();
                damaged[at] ^= flip;
                changed += 1;
                // What is no UTF-8 is no book either.
                let Ok(text) = String::from_utf8(damaged) else { continue };
                if let Ok(book) = Book::parse(&text) {
                    found_by_rules += 1;
                    assert!(!follows(&book), "{}, byte {at} ^ {flip} goes unnoticed", golden.name);
                }
            }
        }
    }
    assert!(changed > 50_000, "{changed} bytes were changed, {found_by_rules} found by the rules alone");
}

fn follows(book: &Book) -> bool {
    let Ok(rules) = registry().rules_of(book.header()) else { return false };
    let mut game = Game::new(book.header().clone(), rules);
    book.lines().iter().all(|link| game.apply_line(&link.text, link.digest).is_ok())
}
