//! Games that others have recorded.

use plybook_records::{Choice, Parsed, Record, lines, rehearse};
use plybook_rulesets::Registry;

use crate::text;

/// So many games of a file are played; a later one is as good as these.
const GAMES: usize = 4;
/// Longer numbers make boards that are as right, and take a thousand times as long.
const DIGITS_MAX: usize = 2;

/// SGF.
pub fn sgf(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(games) = plybook_records::sgf::read(text) {
        play(games);
    }
}

/// JSON, an object a line.
pub fn jsonl(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    play(plybook_records::jsonl::read(text));
}

/// Plain text, a game a line: its first byte says of what.
pub fn transcript(bytes: &[u8]) {
    let Some((first, Some(text))) = bytes.split_first().map(|(first, rest)| (first, text(rest))) else { return };
    play(match first % 3 {
        0 => lines::connect_four(text),
        1 => lines::othello(text),
        _ => lines::gomoku(text),
    });
}

fn play(games: Vec<Parsed>) {
    let registry = Registry::standard();
    for record in games.into_iter().filter_map(|parsed| parsed.record.ok()).take(GAMES) {
        if !small(&record) {
            continue;
        }
        if let Ok(rehearsed) = rehearse(&record, &Choice::default(), &registry) {
            assert_eq!(rehearsed.moves.len(), record.moves.len(), "every move was played");
        }
    }
}

fn small(record: &Record) -> bool {
    record.params.values().all(|value| value.len() <= DIGITS_MAX || value.parse::<i64>().is_err())
}
