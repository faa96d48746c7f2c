//! Request ids of an import.
//!
//! Invariant: the same step of the same game of the same batch has the same id, today and after any
//! number of interruptions. That alone makes a repeated import add nothing.

use uuid::Uuid;

/// Of every id below; it never changes.
const NAMESPACE: Uuid = Uuid::from_u128(0x8b6a_4f0e_52d1_5c3b_9a57_0f1d_6e2c_7a94);

/// The request ids of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids(Uuid);

/// The request ids of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GameIds(Uuid);

impl Ids {
    /// Of a file that is known by what it holds.
    pub(crate) fn of_content(text: &str) -> Ids {
        Ids(Uuid::new_v5(&NAMESPACE, format!("content {text}").as_bytes()))
    }

    /// Of a file that is known by the name of its batch and its own: its content may grow.
    pub(crate) fn of_batch(batch: &str, file: &str) -> Ids {
        Ids(Uuid::new_v5(&Uuid::new_v5(&NAMESPACE, format!("batch {batch}").as_bytes()), file.as_bytes()))
    }

    /// Of the `n`th game of the file.
    pub(crate) fn game(self, n: usize) -> GameIds {
        GameIds(Uuid::new_v5(&self.0, format!("game {n}").as_bytes()))
    }
}

impl GameIds {
    /// For the creation.
    pub(crate) fn create(self) -> String {
        Uuid::new_v5(&self.0, b"create").to_string()
    }

    /// For the `n`th step.
    pub(crate) fn step(self, n: usize) -> String {
        Uuid::new_v5(&self.0, format!("step {n}").as_bytes()).to_string()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_distinct_and_never_change() {
        let files = [Ids::of_content("a"), Ids::of_content("b"), Ids::of_batch("a", "x"), Ids::of_batch("a", "y"), Ids::of_batch("b", "x")];
        let games = files.iter().flat_map(|file| (0..3).map(|n| file.game(n)));
        let ids: Vec<String> = games.flat_map(|game| [game.create(), game.step(0), game.step(1), game.step(10)]).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 5 * 3 * 4);
        assert_eq!(Ids::of_content("a").game(2).step(7), Ids::of_content("a").game(2).step(7));
        // A later release that changes these would import everything a second time.
        assert_eq!(Ids::of_content("4453\n").game(0).create(), "04a13d96-9f2d-5df6-9012-5f1d9f3de7d3");
        assert_eq!(Ids::of_batch("pons", "games.c4").game(1).step(3), "e5dc5730-1cac-5feb-8a45-c3de537f1fd7");
    }
}
