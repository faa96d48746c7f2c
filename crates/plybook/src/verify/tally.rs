//! What a walk over a database has counted.
//!
//! Invariant: every game visited is counted once, under one verdict and under the rules that its header pins.

use std::collections::BTreeMap;

use plybook_core::Uuid;
use plybook_core::verify::Kind;
use serde_json::{Value, json};

/// The verdict on a stored game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Of {
    Verified,
    IllegalNow,
    Broken,
    Unsupported,
    Unreadable,
    /// An imported book that is whole and that does not verify: it came like that, and stays so for ever.
    Evidence,
    /// A bot chooses otherwise than the book says.
    BotDiffers,
    /// This build has not the strategy of a bot.
    BotUnknown,
}

impl Of {
    const ALL: [Of; 6] = [Of::Verified, Of::IllegalNow, Of::Broken, Of::Unsupported, Of::Unreadable, Of::Evidence];
    /// Where bots are asked.
    const OF_BOTS: [Of; 2] = [Of::BotDiffers, Of::BotUnknown];

    /// For machines.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Of::Verified => "verified",
            Of::IllegalNow => Kind::IllegalNow.name(),
            Of::Broken => Kind::Broken.name(),
            Of::Unsupported => Kind::Unsupported.name(),
            Of::Unreadable => "unreadable",
            Of::Evidence => "evidence",
            Of::BotDiffers => "bot_differs",
            Of::BotUnknown => "bot_unknown",
        }
    }

    /// For people.
    pub(super) fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

/// Games by verdict.
type Counts = BTreeMap<Of, u64>;

/// What a walk has seen.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: Counts,
    rulesets: BTreeMap<String, Counts>,
    entries: u64,
    /// The game named last.
    pub(super) last: Option<Uuid>,
    /// Whether bots are asked.
    pub(super) bots: bool,
}

impl Tally {
    /// Nothing yet, of a walk that goes on after this game.
    pub(super) fn after(last: Option<Uuid>, bots: bool) -> Tally {
        Tally { last, bots, ..Tally::default() }
    }

    /// One more game, with so many right entries.
    pub(super) fn count(&mut self, verdict: Of, ruleset: &str, right: u32) {
        *self.counts.entry(verdict).or_default() += 1;
        *self.rulesets.entry(ruleset.to_owned()).or_default().entry(verdict).or_default() += 1;
        self.entries += u64::from(right);
    }

    pub(super) fn games(&self) -> u64 {
        self.counts.values().sum()
    }

    pub(super) fn failed(&self) -> u64 {
        self.games() - of(&self.counts, Of::Verified) - of(&self.counts, Of::Evidence)
    }

    /// For machines.
    pub(super) fn as_json(&self, finished: bool, by_ruleset: bool) -> Value {
        let mut told = self.all(&self.counts);
        told["games"] = self.games().into();
        told["entries"] = self.entries.into();
        told["finished"] = finished.into();
        told["last_game"] = self.last.map(|game| game.to_string()).into();
        if by_ruleset {
            told["build"] = env!("CARGO_PKG_VERSION").into();
            told["rulesets"] = self.rulesets.iter().map(|(ruleset, counts)| (ruleset.clone(), self.all(counts))).collect();
        }
        told
    }

    fn all(&self, counts: &Counts) -> Value {
        let of_bots = Of::OF_BOTS.iter().filter(|_| self.bots);
        Of::ALL.iter().chain(of_bots).map(|verdict| (verdict.name().to_owned(), json!(of(counts, *verdict)))).collect()
    }

    /// For people.
    pub(super) fn in_words(&self, by_ruleset: bool) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let rulesets = if by_ruleset { self.rulesets.iter().map(line).collect() } else { String::new() };
        let [verified, illegal, broken, unsupported, unreadable, evidence] = Of::ALL.map(|verdict| of(&self.counts, verdict));
        let beside = if evidence > 0 { format!(", {evidence} kept as evidence that does not verify") } else { String::new() };
        let [differ, unknown] = Of::OF_BOTS.map(|verdict| of(&self.counts, verdict));
        let bots = if self.bots { format!(", {differ} whose bots differ, {unknown} by strategies that it has not") } else { String::new() };
        format!(
            "{rulesets}{} games, {} right entries: {verified} verified, {illegal} illegal now, {broken} broken, \
             {unsupported} by rules that plybook {version} has not, {unreadable} unreadable{beside}{bots}",
            self.games(),
            self.entries,
        )
    }
}

fn line((ruleset, counts): (&String, &Counts)) -> String {
    let counts: Vec<String> = counts.iter().map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
    format!("{ruleset}: {}\n", counts.join(", "))
}

fn of(counts: &Counts, verdict: Of) -> u64 {
    counts.get(&verdict).copied().unwrap_or(0)
}
