//! The one map of snakes and ladders.
//!
//! Invariant: a square starts at most one jump, every jump lies on the board and goes somewhere
//! else, and following jumps comes to an end.

use std::collections::BTreeMap;

use plybook_core::limits;
use plybook_core::params::BadParam;

/// What a jump that ends where another starts means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// It is refused.
    Forbid,
    /// The token stays where the first jump ends.
    Stop,
    /// The token follows the second, too.
    Follow,
}

/// Where a token that comes to a square ends up.
#[derive(Clone, Debug)]
pub(super) struct Jumps {
    pairs: BTreeMap<u16, u16>,
    ends: BTreeMap<u16, u16>,
}

impl Jumps {
    /// Reads flattened pairs for a board whose squares are 1 to `last`.
    pub(super) fn read(flat: &[i64], last: u16, chain: Chain, edges: bool) -> Result<Jumps, BadParam> {
        let (couples, rest) = flat.as_chunks::<2>();
        if !rest.is_empty() {
            return refuse(format!("{} numbers make no pairs", flat.len()));
        }
        if couples.len() > limits::JUMPS_MAX {
            return refuse(format!("{} jumps are more than {}", couples.len(), limits::JUMPS_MAX));
        }
        let mut pairs = BTreeMap::new();
        for [from, to] in couples {
            let (from, to) = (square(*from, last)?, square(*to, last)?);
            check_pair(from, to, last, edges)?;
            if pairs.insert(from, to).is_some() {
                return refuse(format!("square {from} starts two jumps"));
            }
        }
        let ends = match chain {
            Chain::Forbid => {
                if let Some((from, to)) = pairs.iter().find(|(_, to)| pairs.contains_key(to)) {
                    return refuse(format!("the jump from {from} to {to} ends where another starts, which chain=forbid does not allow"));
                }
                pairs.clone()
            }
            Chain::Stop => pairs.clone(),
            Chain::Follow => followed(&pairs)?,
        };
        Ok(Jumps { pairs, ends })
    }

    /// Where a token that comes to `square` ends up: there, or at the end of its jump.
    pub(super) fn end(&self, square: u16) -> u16 {
        self.ends.get(&square).copied().unwrap_or(square)
    }

    /// The jumps as they were given, by their first square.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u16, u16)> {
        self.pairs.iter().map(|(from, to)| (*from, *to))
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

fn refuse<T>(why: String) -> Result<T, BadParam> {
    Err(BadParam::new("jumps", why))
}

fn square(number: i64, last: u16) -> Result<u16, BadParam> {
    match u16::try_from(number) {
        Ok(square) if (1..=last).contains(&square) => Ok(square),
        _ => refuse(format!("square {number} is not between 1 and {last}")),
    }
}

fn check_pair(from: u16, to: u16, last: u16, edges: bool) -> Result<(), BadParam> {
    if from == to {
        return refuse(format!("the jump from {from} goes nowhere"));
    }
    if from == last {
        return refuse(format!("a jump starts on the last square {last}, where the game is over"));
    }
    if !edges && (from == 1 || to == 1 || to == last) {
        return refuse(format!("the jump from {from} to {to} touches the first or last square, which needs edge_jumps"));
    }
    Ok(())
}

/// Every jump's end once the jumps that start there are followed, too.
fn followed(pairs: &BTreeMap<u16, u16>) -> Result<BTreeMap<u16, u16>, BadParam> {
    let mut ends = BTreeMap::new();
    for from in pairs.keys() {
        let mut end = *from;
        let mut steps = 0;
        while let Some(to) = pairs.get(&end) {
            end = *to;
            steps += 1;
            if steps > pairs.len() {
                return refuse(format!("the jumps from {from} go round in a circle"));
            }
        }
        ends.insert(*from, end);
    }
    Ok(ends)
}
