//! What gamblers, clocks and other people's generators would say.
//!
//! Invariant: a guess is made of [`Public`] alone, and is always a face.

use plybook_core::dice::Face;

use super::generators::GENERATORS;
use super::public::{Public, SIDES};

type Guess = fn(&Public<'_>) -> Face;

/// By name.
pub(super) const GUESSES: &[(&str, Guess)] = &[
    ("always 1", |_| 1),
    ("always 2", |_| 2),
    ("always 3", |_| 3),
    ("always 4", |_| 4),
    ("always 5", |_| 5),
    ("always 6", |_| 6),
    ("the last face", |public| back(public, 1)),
    ("the face before the last", |public| back(public, 2)),
    ("the third last face", |public| back(public, 3)),
    ("one more than the last face", |public| wrapped(u64::from(back(public, 1)))),
    ("one less than the last face", |public| wrapped(u64::from(back(public, 1)) + u64::from(SIDES) - 2)),
    ("the last face's other side", |public| SIDES + 1 - back(public, 1)),
    ("the sum of the last two", |public| wrapped(u64::from(back(public, 1)) + u64::from(back(public, 2)))),
    ("the difference of the last two", |public| wrapped(u64::from(SIDES) + u64::from(back(public, 1)) - u64::from(back(public, 2)))),
    ("going on as from the last but one to the last", |public| {
        wrapped(u64::from(SIDES) + 2 * u64::from(back(public, 1)) - u64::from(back(public, 2)) - 1)
    }),
    ("the last face plus the number of the throw", |public| wrapped(u64::from(back(public, 1)) + public.draw)),
    ("the sum of all faces", |public| wrapped(public.faces.iter().map(|face| u64::from(*face)).sum())),
    ("the hottest face", |public| most(&counts(public.faces))),
    ("the coldest face", |public| least(&counts(public.faces))),
    ("the face that is due", due),
    ("what brings the mean back", mean_back),
    ("what mostly followed the last face", |public| most(&followers(public.faces, 1))),
    ("what seldom followed the last face", |public| least(&followers(public.faces, 1))),
    ("what mostly followed the last two", |public| most(&followers(public.faces, 2))),
    ("what followed the last time", after_last_time),
    ("what the game before showed here", |public| elsewhere(public, |faces| faces.get(public.faces.len()).copied())),
    ("what mostly followed in the game before", |public| {
        elsewhere(public, |faces| Some(most(&followers(&[faces, &public.faces[public.faces.len().saturating_sub(1)..]].concat(), 1))))
    }),
    ("the number of the throw", |public| wrapped(public.draw)),
    ("the number of the face", |public| wrapped(public.faces.len() as u64)),
    ("the number of the entry and the seat", |public| wrapped(public.links.len() as u64 + 1 + u64::from(public.seat))),
    ("throw, seat and die together", |public| wrapped(public.draw + u64::from(public.seat) + u64::from(public.die))),
    ("the millisecond of the throw", |public| wrapped(public.now.unix_ms())),
    ("the second of the throw", |public| wrapped(public.now.unix_ms() / 1000)),
    ("the second of creation and the throw", |public| wrapped(public.header.created.unix_ms() / 1000 + public.draw)),
];

type Start = fn(&Public<'_>) -> u64;

/// What a generator may have been started with, and the outputs that were taken from it since.
pub(super) const STARTS: &[(&str, Start)] = &[
    ("the millisecond of creation", |public| public.header.created.unix_ms()),
    ("the second of creation", |public| public.header.created.unix_ms() / 1000),
    ("the first bytes of the commitment", |public| u64::from_be_bytes(std::array::from_fn(|at| public.header.commitment.0[at]))),
    ("the last bytes of the commitment", |public| u64::from_be_bytes(std::array::from_fn(|at| public.header.commitment.0[24 + at]))),
    ("the first bytes of the game's id", |public| public.header.game.as_u64_pair().0),
    ("the last bytes of the game's id", |public| public.header.game.as_u64_pair().1),
    ("the game's two seats", |_| 2),
];

/// What this generator gives, started with this when the game began.
pub(super) fn generated(generator: usize, start: u64, public: &Public<'_>) -> Face {
    wrapped(GENERATORS[generator].1(start, public.faces.len()))
}

/// A number as a face.
fn wrapped(number: u64) -> Face {
    (number % u64::from(SIDES)) as Face + 1
}

/// The face so many faces ago; 1 where there is none.
fn back(public: &Public<'_>, ago: usize) -> Face {
    public.faces.len().checked_sub(ago).map_or(1, |at| public.faces[at])
}

type Counts = [usize; SIDES as usize];

fn counts(faces: &[Face]) -> Counts {
    let mut counts = Counts::default();
    faces.iter().for_each(|face| counts[usize::from(*face) - 1] += 1);
    counts
}

/// How often each face came after the same faces as the last `deep`.
fn followers(faces: &[Face], deep: usize) -> Counts {
    let Some(begin) = faces.len().checked_sub(deep) else { return Counts::default() };
    let last = &faces[begin..];
    let found: Vec<Face> = faces.windows(deep + 1).filter(|window| &window[..deep] == last).map(|window| window[deep]).collect();
    counts(&found)
}

fn most(counts: &Counts) -> Face {
    (1..=SIDES).rev().max_by_key(|face| counts[usize::from(*face) - 1]).unwrap_or(1)
}

fn least(counts: &Counts) -> Face {
    (1..=SIDES).min_by_key(|face| counts[usize::from(*face) - 1]).unwrap_or(1)
}

fn due(public: &Public<'_>) -> Face {
    (1..=SIDES).min_by_key(|face| public.faces.iter().rposition(|seen| seen == face).map_or(0, |at| at + 1)).unwrap_or(1)
}

fn mean_back(public: &Public<'_>) -> Face {
    let sum: usize = public.faces.iter().map(|face| usize::from(*face)).sum();
    if 2 * sum > public.faces.len() * usize::from(SIDES + 1) { 1 } else { SIDES }
}

fn after_last_time(public: &Public<'_>) -> Face {
    let Some((last, faces)) = public.faces.split_last() else { return 1 };
    faces.iter().rposition(|face| face == last).map_or(1, |at| public.faces[at + 1])
}

fn elsewhere(public: &Public<'_>, guess: impl Fn(&[Face]) -> Option<Face>) -> Face {
    public.before.and_then(|before| guess(&before.faces)).unwrap_or(1)
}
