//! Contenders measured in turn, round after round.
//!
//! Invariant: whoever is compared is measured in the same rounds, slice beside slice, so that what the machine
//! does besides befalls all of them alike. A first round warms up and is not counted.

use std::time::Duration;

use super::contender::Contender;
use super::row::Row;
use super::site::Site;
use super::slice::Slice;

/// Shorter slices are noise.
const SLICE_AT_LEAST: Duration = Duration::from_millis(20);

/// Who is measured together.
#[derive(Default)]
pub(super) struct Course {
    contenders: Vec<Box<dyn Contender>>,
    /// Whose figures are wanted, and beside whom.
    subjects: Vec<(usize, Vec<usize>)>,
}

impl Course {
    /// Adds somebody for others to stand beside; answers its place.
    pub(super) fn floor(&mut self, floor: Box<dyn Contender>) -> usize {
        self.contenders.push(floor);
        self.contenders.len() - 1
    }

    /// Adds somebody whose figures are wanted, beside these floors.
    pub(super) fn subject(&mut self, subject: Box<dyn Contender>, floors: Vec<usize>) {
        let place = self.floor(subject);
        self.subjects.push((place, floors));
    }

    /// Wants the figures of floors themselves, each beside all of them.
    pub(super) fn subjects_of_floors(&mut self, floors: &[usize]) {
        self.subjects.extend(floors.iter().map(|floor| (*floor, floors.to_vec())));
    }

    /// Measures for so long in all, in so many rounds.
    pub(super) async fn run(mut self, site: Option<&Site>, lasts: Duration, rounds: u32) -> anyhow::Result<Vec<Row>> {
        let names: Vec<_> = self.contenders.iter().map(|contender| contender.name()).collect();
        let many = self.contenders.len();
        let slices = (rounds + 1) * u32::try_from(many).unwrap_or(u32::MAX).max(1);
        let slice = (lasts / slices).max(SLICE_AT_LEAST);
        let mut measured: Vec<Vec<Slice>> = vec![Vec::new(); many];
        for round in 0..=rounds {
            for place in order(many, round as usize) {
                let one = one_slice(self.contenders[place].as_mut(), site, slice).await?;
                if round > 0 {
                    measured[place].push(one);
                }
            }
        }
        let row = |(place, floors): &(usize, Vec<usize>)| {
            let floors = floors.iter().map(|floor| (&names[*floor], measured[*floor].as_slice()));
            Row::of(&names[*place], &measured[*place], &floors.collect::<Vec<_>>())
        };
        Ok(self.subjects.iter().map(row).collect())
    }
}

/// Who comes after whom in a round: everybody begins in turn, and every other round goes the way of the one before backwards. What one
/// leaves behind, such as a disk that is still busy, befalls the two beside it alike, but for a round that is left over.
fn order(many: usize, round: usize) -> impl Iterator<Item = usize> {
    let place = move |turn: usize| if round.is_multiple_of(2) { turn } else { many - 1 - turn };
    (0..many).map(move |turn| (place(turn) + round / 2) % many)
}

async fn one_slice(contender: &mut dyn Contender, site: Option<&Site>, lasts: Duration) -> anyhow::Result<Slice> {
    contender.ready(lasts).await?;
    let Some(floor) = site.and_then(Site::floor) else { return contender.slice(lasts).await };
    let (wal, books) = (floor.wal_bytes().await?, floor.book_bytes().await?);
    let mut slice = contender.slice(lasts).await?;
    slice.wal_bytes = Some(floor.wal_bytes().await?.saturating_sub(wal));
    slice.book_bytes = Some(floor.book_bytes().await?.saturating_sub(books));
    Ok(slice)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::order;

    #[test]
    fn nobody_is_always_behind_the_same_one() {
        for many in 2..8 {
            let (mut first, mut behind) = (HashMap::new(), HashMap::new());
            for round in 0..2 * many {
                let order: Vec<usize> = order(many, round).collect();
                let mut all = order.clone();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..many), "everybody once: {order:?}");
                *first.entry(order[0]).or_insert(0) += 1;
                order.windows(2).for_each(|two| *behind.entry((two[0], two[1])).or_insert(0) += 1);
            }
            assert!((0..many).all(|one| first.get(&one) == Some(&2)), "{many}: {first:?}");
            assert!(behind.iter().all(|((one, other), times)| behind.get(&(*other, *one)) == Some(times)), "{many}: {behind:?}");
        }
    }
}
