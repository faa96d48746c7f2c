//! Something that is measured: a workload at one number of callers, or a floor.
//!
//! Invariant: what a contender needs for a slice it gets ready before, outside the time that is measured.

use std::time::Duration;

use async_trait::async_trait;

use super::slice::Slice;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Moves,
    Entries,
    Events,
    Choices,
    Calls,
}

impl Unit {
    /// For people.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Unit::Moves => "moves",
            Unit::Entries => "entries",
            Unit::Events => "events",
            Unit::Choices => "choices",
            Unit::Calls => "calls",
        }
    }
}

/// Who is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The workload, or `floor`.
    pub(super) workload: &'static str,
    /// Which of several, such as a strategy.
    pub(super) kind: Option<String>,
    /// Callers at once.
    pub(super) callers: usize,
    /// Numbers that belong to it, such as streams.
    pub(super) setting: Vec<(&'static str, u64)>,
    /// What its rate counts.
    pub(super) unit: Unit,
}

impl Name {
    pub(super) const fn new(workload: &'static str, callers: usize, unit: Unit) -> Name {
        Name { workload, kind: None, callers, setting: Vec::new(), unit }
    }

    #[must_use]
    pub(super) fn kind(mut self, kind: impl Into<String>) -> Name {
        self.kind = Some(kind.into());
        self
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, number: u64) -> Name {
        self.setting.push((name, number));
        self
    }

    /// For people.
    pub(super) fn label(&self) -> String {
        let kind = self.kind.as_ref().map_or_else(String::new, |kind| format!(" {kind}"));
        let setting: String = self.setting.iter().map(|(name, number)| format!(" {name}={number}")).collect();
        format!("{}{kind}{setting}", self.workload)
    }
}

/// Somebody who can be measured again and again.
#[async_trait]
pub(super) trait Contender: Send {
    fn name(&self) -> Name;

    /// Gets ready for a slice of this length.
    async fn ready(&mut self, lasts: Duration) -> anyhow::Result<()>;

    /// Works for so long.
    async fn slice(&mut self, lasts: Duration) -> anyhow::Result<Slice>;
}
