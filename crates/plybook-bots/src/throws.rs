//! What a bot expects of dice that it cannot see.
//!
//! Invariant: expected faces come from counting all, or from the bot's own chance where they are too
//! many; never from the game's dice.

use plybook_core::dice::{Face, Throw};

use crate::chance::Chance;
use crate::score::Score;

/// More combinations of faces than this are sampled.
const COUNTED_MOST: u32 = 64;
/// So many samples.
const SAMPLES: u32 = 32;

/// Faces, each combination as likely as the next.
pub(crate) fn expected(throw: Throw, chance: &mut Chance) -> Vec<Vec<Face>> {
    let sides = u32::from(throw.sides);
    match sides.checked_pow(u32::from(throw.dice)).filter(|count| *count <= COUNTED_MOST) {
        Some(count) => (0..count).map(|number| combination(throw, number)).collect(),
        None => (0..SAMPLES).map(|_| chance.throw(throw)).collect(),
    }
}

fn combination(throw: Throw, number: u32) -> Vec<Face> {
    let sides = u32::from(throw.sides).max(1);
    (0..u32::from(throw.dice)).map(|die| (number / sides.pow(die) % sides) as Face + 1).collect()
}

/// What a throw is worth that leads to these scores, equally likely: a win or a loss only if every one is.
pub(crate) fn average(scores: &[Score]) -> Score {
    let sum: i64 = scores.iter().map(|score| i64::from(score.0)).sum();
    let mean = sum / (scores.len().max(1) as i64);
    let certain = scores.iter().all(|score| score.is_win()) || scores.iter().all(|score| score.is_loss());
    if certain && !scores.is_empty() { Score(mean as i32) } else { Score::estimate(mean) }
}

#[cfg(test)]
mod tests {
    use plybook_core::dice::Throw;
    use plybook_core::{Seat, Seed};

    use super::{Score, average, expected};
    use crate::chance::Chance;

    #[test]
    fn few_faces_are_counted_and_many_sampled() {
        let mut chance = Chance::new(Seed::new([0; 32]).bot_key(Seat(0), 0));
        assert_eq!(expected(Throw { dice: 1, sides: 3 }, &mut chance), [[1], [2], [3]]);
        assert_eq!(expected(Throw { dice: 2, sides: 2 }, &mut chance), [[1, 1], [2, 1], [1, 2], [2, 2]]);
        assert_eq!(expected(Throw { dice: 2, sides: 6 }, &mut chance).len(), 36);
        for throw in [Throw { dice: 1, sides: 100 }, Throw { dice: 8, sides: 100 }] {
            let faces = expected(throw, &mut chance);
            assert_eq!(faces.len(), 32);
            assert!(faces.iter().all(|faces| faces.len() == usize::from(throw.dice)));
        }
    }

    #[test]
    fn a_chance_to_win_is_no_win() {
        let mixed = average(&[Score::win_in(1), Score::win_in(1), Score::win_in(1), Score::EVEN]);
        assert!(mixed > Score::EVEN && !mixed.is_win());
        assert!(average(&[Score::win_in(1), Score::win_in(3)]).is_win());
        assert_eq!(average(&[]), Score::EVEN);
    }
}
