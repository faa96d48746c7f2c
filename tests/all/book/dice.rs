//! Dice against published vectors made by another program, and what a face depends on.

use std::path::Path;

use plybook_core::dice::Throw;
use plybook_core::{Dice, Digest, Seat, Seed};
use plybook_tests::random::repeat;
use plybook_tests::table::table;

fn here(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

fn seed_of(hex: &str) -> Seed {
    Seed::new(Digest::parse(hex).expect("a seed has 64 hexadecimal digits").0)
}

/// `throws <seats> <dice> <sides> <faces>…`
fn check_throws(seed: &Seed, rest: &str) -> usize {
    let mut words = rest.split(' ');
    let mut number = || words.next().and_then(|word| word.parse::<u8>().ok()).expect("three numbers");
    let (seats, throw) = (number(), Throw { dice: number(), sides: number() });
    let dice = Dice::without_nonces(seed.clone(), seats);
    let mut throws = 0;
    for (draw, faces) in words.enumerate() {
        let want: Vec<u8> = faces.split(',').map(|face| face.parse().unwrap()).collect();
        let seat = Seat((draw % usize::from(seats)) as u8);
        assert_eq!(dice.throw(draw as u64, seat, throw), want, "throw {draw} of {seats} seats with {throw:?}");
        throws += 1;
    }
    throws
}

#[test]
fn scenario_37_published_vectors_never_change() {
    let (mut seed, mut seeds, mut tables) = (None, 0, 0);
    for line in here("vectors/dice.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.split_once(' ') {
            Some(("seed", hex)) => {
                seed = Some(seed_of(hex));
                seeds += 1;
            }
            Some(("commitment", hex)) => assert_eq!(seed.as_ref().map(|seed| seed.commitment().to_string()).as_deref(), Some(hex)),
            Some(("throws", rest)) => {
                assert_eq!(check_throws(seed.as_ref().expect("a seed comes first"), rest), 64);
                tables += 1;
            }
            _ => panic!("no vector: {line}"),
        }
    }
    assert_eq!((seeds, tables), (3, 21), "every table was checked");
}

#[test]
fn scenario_37_the_published_page_says_the_same() {
    let page = here("../proto/dice-vectors.md");
    let seeds = page.lines().filter_map(|line| line.strip_prefix("- seed `")?.strip_suffix('`'));
    let commitments = page.lines().filter_map(|line| line.strip_prefix("- commitment `")?.strip_suffix('`'));
    let tables = page.split("```").skip(1).step_by(2);
    let mut seen = 0;
    for ((seed, commitment), table) in seeds.zip(commitments).zip(tables) {
        let seed = seed_of(seed);
        assert_eq!(seed.commitment().to_string(), commitment);
        let faces = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(check_throws(&seed, &format!("2 1 6 {faces}")), 64);
        seen += 1;
    }
    assert_eq!(seen, 3, "every seed of the page was checked");
}

#[test]
fn a_face_depends_on_draw_seat_die_seed_and_nonces() {
    let throw = Throw { dice: 8, sides: 100 };
    let dice = Dice::without_nonces(Seed::new([1; 32]), 2);
    let base = dice.throw(0, Seat(0), throw);
    assert_eq!(dice.throw(0, Seat(0), throw), base, "the same throw shows the same faces");
    assert_ne!(dice.throw(1, Seat(0), throw), base, "draw");
    assert_ne!(dice.throw(0, Seat(1), throw), base, "seat");
    assert!(base.iter().any(|face| *face != base[0]), "die");
    assert_ne!(Dice::without_nonces(Seed::new([2; 32]), 2).throw(0, Seat(0), throw), base, "seed");
    assert_ne!(Dice::without_nonces(Seed::new([1; 32]), 3).throw(0, Seat(0), throw), base, "number of seats");
    assert_ne!(Dice::new(Seed::new([1; 32]), &[b"a", b""]).throw(0, Seat(0), throw), base, "nonces");
    assert_ne!(
        Dice::new(Seed::new([1; 32]), &[b"a", b""]).throw(0, Seat(0), throw),
        Dice::new(Seed::new([1; 32]), &[b"", b"a"]).throw(0, Seat(0), throw),
        "whose nonce it is"
    );
}

#[test]
fn scenario_29_an_undo_cannot_fish_for_another_throw() {
    repeat(50, |random| {
        let table = table().snakes(100, &[]).undo_over_throw().seed(random.bytes()).roll(1 + random.below(8) as usize);
        let (line, digest) = (facts(table.last_line()), table.digest());
        let again = table.undo(1).roll(1);
        assert_eq!((facts(again.last_line()), again.digest()), (line, digest));
    });
    table().snakes(100, &[]).roll(2).refuses_undo(1, "CHANCE_REVEALED").refuses_undo(2, "CHANCE_REVEALED").ply(2);
}

/// What a line says after its number and time.
fn facts(line: &str) -> String {
    line.splitn(3, ' ').nth(2).expect("a line has facts").to_owned()
}

#[test]
fn a_seed_shows_only_in_the_entry_that_closes_the_game() {
    let seed = "07".repeat(32);
    assert!(!format!("{:?}", Seed::new([7; 32])).contains('7'));
    let table = table().snakes(20, &[]).roll(1);
    assert!(!table.book().print().contains(&seed));
    let mut table = table;
    while table.game().outcome().is_none() {
        assert!(!table.book().print().contains(&seed));
        table = table.roll(1);
    }
    assert!(table.last_line().ends_with(&format!(" seed={seed}")));
}
