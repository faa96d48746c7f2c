//! What wins a game of lines: the word in the header, such as `run+four_corners`.
//!
//! Invariant: one rule has one word. Parts stand in the order of [`PARTS`], each at most once.

use super::run::Length;

/// The parts that a win rule is made of, in the order in which they are written.
const PARTS: [&str; 4] = ["run", "exact", "full_line", "four_corners"];

/// Longest word that a refusal repeats.
const QUOTED_BYTES_MAX: usize = 32;

/// What wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WinRule {
    /// A run of this length.
    pub(crate) run: Option<Length>,
    /// A whole row, column or main diagonal.
    pub(crate) full_line: bool,
    /// All four corners.
    pub(crate) four_corners: bool,
}

impl WinRule {
    /// A run and nothing else.
    pub(crate) const fn run(length: Length) -> WinRule {
        WinRule { run: Some(length), full_line: false, four_corners: false }
    }

    /// The rule that `word` names, with runs of `k`; or why there is none.
    pub(crate) fn parse(word: &str, k: u32) -> Result<WinRule, String> {
        let mut places = Vec::new();
        for part in word.split('+') {
            let Some(place) = PARTS.iter().position(|known| *known == part) else {
                return Err(refuse_part(part));
            };
            if places.contains(&place) {
                return Err(format!("{part} stands twice"));
            }
            places.push(place);
        }
        let has = |part: &str| places.iter().any(|place| PARTS[*place] == part);
        if has("run") && has("exact") {
            return Err("run and exact exclude each other".to_owned());
        }
        if !places.is_sorted() {
            places.sort_unstable();
            let parts: Vec<&str> = places.iter().map(|place| PARTS[*place]).collect();
            return Err(format!("is written {}", parts.join("+")));
        }
        let run = match (has("run"), has("exact")) {
            (true, _) => Some(Length::AtLeast(k)),
            (_, true) => Some(Length::Exactly(k)),
            _ => None,
        };
        Ok(WinRule { run, full_line: has("full_line"), four_corners: has("four_corners") })
    }
}

fn refuse_part(part: &str) -> String {
    let known = "is run or exact, full_line, four_corners, or several joined by +";
    if part.is_empty() {
        format!("a part is missing; it {known}")
    } else if part.len() <= QUOTED_BYTES_MAX {
        format!("{part:?} is unknown; it {known}")
    } else {
        format!("a part is unknown; it {known}")
    }
}

#[cfg(test)]
mod tests {
    use super::{Length, WinRule};

    #[test]
    fn words_name_rules() {
        let rule = |run, full_line, four_corners| Ok(WinRule { run, full_line, four_corners });
        assert_eq!(WinRule::parse("run", 3), rule(Some(Length::AtLeast(3)), false, false));
        assert_eq!(WinRule::parse("exact", 3), rule(Some(Length::Exactly(3)), false, false));
        assert_eq!(WinRule::parse("full_line", 3), rule(None, true, false));
        assert_eq!(WinRule::parse("four_corners", 3), rule(None, false, true));
        assert_eq!(WinRule::parse("run+four_corners", 3), rule(Some(Length::AtLeast(3)), false, true));
        assert_eq!(WinRule::parse("exact+full_line+four_corners", 3), rule(Some(Length::Exactly(3)), true, true));
    }

    #[test]
    fn other_words_are_refused() {
        let long = "x".repeat(100_000);
        for bad in ["", "+", "run+", "+run", "Run", "run ", "run+run", "run+exact", "exact+run", "four_corners+run", "lines", &long] {
            let why = WinRule::parse(bad, 3).err();
            assert!(why.as_ref().is_some_and(|why| why.len() < 200), "{bad:.20}: {why:?}");
        }
    }
}
