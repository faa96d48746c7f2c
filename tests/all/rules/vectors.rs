//! Games of other engines, replayed move by move: legality, boards, ends, scores and values.
//!
//! The committed part is always run. `PLYBOOK_VECTORS=<folder>` adds all that a folder with
//! `openspiel`, `variants` and `solver` holds, and `PLYBOOK_WRITE_VECTORS=1` besides commits a part
//! of it anew.

use std::fmt::Write as _;

use plybook_core::action::Column;
use plybook_core::{Action, Cell, Digest, Play, Seat, SeatSet};
use plybook_tests::vectors::{End, Source, Vector, committed, folder, given, print};

/// Games of a file that are committed.
const COMMITTED: usize = 20;
/// Vacant cells from which an end game is searched to its end; with more, only legality is checked.
const SEARCHED: usize = 9;
/// Fewer where it is always run.
const SEARCHED_ALWAYS: usize = 6;

/// An action as vectors write it.
fn told(action: Action, play: &Play) -> String {
    match action {
        Action::Place(cell) => {
            let (row, col) = play.position().board().place(cell);
            format!("{row},{col}")
        }
        Action::Drop(column) => column.0.to_string(),
        other => panic!("{other:?} is in no vector"),
    }
}

fn read(text: &str, play: &Play) -> Action {
    match text.split_once(',') {
        Some((row, col)) => {
            let (row, col): (u32, u32) = (row.parse().unwrap(), col.parse().unwrap());
            Action::Place(Cell(row * u32::from(play.position().board().cols()) + col))
        }
        None => Action::Drop(Column(text.parse().unwrap())),
    }
}

fn legal(play: &Play) -> Vec<String> {
    let mut legal: Vec<String> = play.legal().into_iter().map(|action| told(action, play)).collect();
    legal.sort_unstable();
    legal
}

/// Replays a game on a grid; answers the position and the lines of legal moves before every ply.
fn replay(vector: &Vector) -> (Play, String) {
    let mut play = vector.deal.play();
    let mut lines = String::new();
    let mut skipped = SeatSet::EMPTY;
    for (ply, text) in vector.moves.iter().enumerate() {
        if text == "pass" {
            let seat = skipped.iter().next().unwrap_or_else(|| panic!("{}: nobody is skipped before ply {ply}", vector.id));
            skipped = skipped.without(seat);
            let _ = writeln!(lines, "{ply}:{seat}:pass");
            continue;
        }
        assert!(skipped.is_empty(), "{}: seat {skipped} is skipped before ply {ply}", vector.id);
        let seat = play.position().to_move().unwrap_or_else(|| panic!("{}: over before ply {ply}", vector.id));
        let legal = legal(&play);
        assert!(legal.contains(text), "{}: {text} is not legal at ply {ply}", vector.id);
        let _ = writeln!(lines, "{ply}:{seat}:{}", legal.join(";"));
        let changes = play.resolve(read(text, &play), &[]).unwrap();
        skipped = play.step(changes, false).skipped();
    }
    (play, lines)
}

/// Throws the dice of a race; the trace says where each token came to.
fn race(vector: &Vector) -> Play {
    let mut play = vector.deal.play();
    for (throw, (face, (seat, square))) in vector.moves.iter().zip(&vector.trace).enumerate() {
        assert_eq!(play.position().to_move(), Some(Seat(*seat)), "{}: throw {throw}", vector.id);
        play.play(Action::Roll, &[face.parse().unwrap()]).unwrap();
        let scores = play.rules().scores(play.position());
        assert_eq!(scores[usize::from(*seat)], *square, "{}: throw {throw}", vector.id);
    }
    assert_eq!(vector.moves.len(), vector.trace.len(), "{}", vector.id);
    play
}

fn drawn(play: &Play) -> String {
    let marks = ["0", "1", "2", "3", "4", "5", "6", "7"];
    plybook_core::diagram::draw(play.position().board(), &marks).replace('\n', "/")
}

fn check_end(vector: &Vector, play: &Play) {
    let outcome = play.position().outcome().map(|outcome| outcome.winning_seats());
    let (winners, to_move) = match vector.end {
        End::Win(seat) => (Some(SeatSet::only(Seat(seat))), None),
        End::Draw => (Some(SeatSet::EMPTY), None),
        End::Open(seat) => (None, Some(Seat(seat))),
    };
    assert_eq!((outcome, play.position().to_move()), (winners, to_move), "{}\n{}", vector.id, drawn(play));
}

/// What the seat to move wins at best: discs ahead with vacant cells for the winner in Othello, ±1
/// elsewhere.
fn search(play: &mut Play) -> i64 {
    let seat = play.position().to_move().unwrap();
    let values: Vec<i64> = play.legal().into_iter().map(|action| value_of(play, seat, action)).collect();
    values.into_iter().max().unwrap()
}

fn value_of(play: &mut Play, seat: Seat, action: Action) -> i64 {
    play.play(action, &[]).unwrap();
    let value = match play.position().to_move() {
        Some(next) if next == seat => search(play),
        Some(_) => -search(play),
        None => payoff(play, seat),
    };
    play.back();
    value
}

fn payoff(play: &Play, seat: Seat) -> i64 {
    let winners = play.position().outcome().unwrap().winning_seats();
    let sign = if winners.is_empty() { 0 } else { 2 * i64::from(winners.contains(seat)) - 1 };
    match play.rules().scores(play.position())[..] {
        [black, white] => sign * ((black - white).abs() + i64::from(play.position().board().len()) - black - white),
        _ => sign,
    }
}

fn vacant(play: &Play) -> usize {
    play.position().board().len() as usize - play.position().board().occupied().count()
}

/// Values that a search to the end confirms; answers whether there were any.
fn check_values(vector: &Vector, play: &mut Play, searched: usize) -> bool {
    let seat = play.position().to_move();
    if !vector.values.is_empty() {
        let moves: Vec<String> = { vector.values.iter().map(|(text, _)| text.clone()).collect() };
        let mut sorted = moves;
        sorted.sort_unstable();
        assert_eq!(legal(play), sorted, "{}: legal moves", vector.id);
    }
    let Some(seat) = seat else { return false };
    if vector.deal.ruleset == "connect_four" {
        // With n discs down, a seat that wins with its next disc has 21 − n/2 in hand, that one counted.
        let at_once = 21 - i64::from(play.position().ply()) / 2;
        for (text, score) in &vector.values {
            let mut trial = play.clone();
            let won =
                trial.play(read(text, play), &[]).is_ok() && trial.position().outcome().is_some_and(|o| o.winning_seats().contains(seat));
            assert_eq!(won, *score == at_once, "{}: column {text}", vector.id);
        }
        return !vector.values.is_empty();
    }
    let Some(value) = vector.value else { return false };
    if vector.deal.ruleset == "othello" && vacant(play) > searched {
        return false;
    }
    let found: Vec<(String, i64)> = play.legal().into_iter().map(|action| (told(action, play), value_of(play, seat, action))).collect();
    for (text, value) in &vector.values {
        assert!(found.contains(&(text.clone(), *value)), "{}: {text} is worth {found:?}", vector.id);
    }
    assert_eq!(found.iter().map(|(_, value)| *value).max(), Some(value), "{}: {found:?}", vector.id);
    if vector.best.is_empty() {
        return true;
    }
    let mut best: Vec<&String> = found.iter().filter(|(_, found)| *found == value).map(|(text, _)| text).collect();
    let mut wanted: Vec<&String> = vector.best.iter().collect();
    best.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(best, wanted, "{}: best moves", vector.id);
    true
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Figures {
    games: usize,
    moves: usize,
    legal_lists: usize,
    values: usize,
}

fn check(vector: &Vector, searched: usize, figures: &mut Figures) {
    figures.games += 1;
    figures.moves += vector.moves.len();
    let mut play = if vector.deal.ruleset == "snakes_and_ladders" {
        race(vector)
    } else {
        let (play, lines) = replay(vector);
        if let Some(digest) = &vector.legal {
            assert_eq!(Digest::of(lines.as_bytes()).to_string(), *digest, "{}: legal moves\n{lines}", vector.id);
            figures.legal_lists += vector.moves.len();
        }
        play
    };
    check_end(vector, &play);
    if let Some(board) = &vector.board {
        assert_eq!(drawn(&play), *board, "{}", vector.id);
    }
    if !vector.score.is_empty() {
        assert_eq!(play.rules().scores(play.position()), vector.score, "{}", vector.id);
    }
    figures.values += usize::from(check_values(vector, &mut play, searched));
}

fn check_all(sources: &[Source], searched: usize) -> Figures {
    let mut all = Figures::default();
    for source in sources {
        let mut figures = Figures::default();
        source.vectors.iter().for_each(|vector| check(vector, searched, &mut figures));
        assert!(figures.games > 0 && figures.moves > 0, "{} holds games", source.name);
        println!("{}: {} games, {} moves, {} values searched", source.name, figures.games, figures.moves, figures.values);
        all.games += figures.games;
        all.moves += figures.moves;
        all.legal_lists += figures.legal_lists;
        all.values += figures.values;
    }
    all
}

fn commit_a_part(sources: &[Source]) {
    for source in sources {
        let step = source.vectors.len().div_ceil(COMMITTED);
        let part: Vec<Vector> = source.vectors.iter().step_by(step).cloned().collect();
        std::fs::write(folder().join("games").join(format!("{}.txt", source.name)), print(&part)).unwrap();
    }
}

#[test]
fn games_of_other_engines_are_legal_here_and_end_alike() {
    let given = given();
    if std::env::var_os("PLYBOOK_WRITE_VECTORS").is_some() {
        assert!(!given.is_empty(), "PLYBOOK_VECTORS names the folder to take a part of");
        commit_a_part(&given);
    }
    let figures = check_all(&committed(), SEARCHED_ALWAYS);
    println!("committed: {figures:?}");
    assert!(figures.games >= 400 && figures.legal_lists >= 8_000 && figures.values >= 40, "{figures:?}");
    println!("given by PLYBOOK_VECTORS: {:?}", check_all(&given, SEARCHED));
}
