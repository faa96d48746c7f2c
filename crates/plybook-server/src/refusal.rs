//! Why a call is refused.
//!
//! Invariant: every refusal has a variant; nothing outside [`crate::status`] turns one into a
//! `Status`, and no text of a database or of another tenant is in any of them.

use std::time::Duration;

use plybook_bots::StrategyId;
use plybook_bots::registry::UnknownStrategy;
use plybook_core::params::BadParam;
use plybook_core::{Rejection, RulesetId, Seq};
use plybook_rulesets::RegistryError;
use uuid::Uuid;

use crate::{limits, telemetry};

/// Why a call is refused.
#[derive(Debug)]
pub enum Refusal {
    /// No credential was sent.
    CredentialsMissing,
    /// The credential does not hold.
    CredentialsInvalid {
        /// Why, in one clause, as far as whoever has it may know.
        why: &'static str,
    },
    /// The keys of the issuer of tokens could not be had.
    IssuerUnavailable,
    /// A token for a seat was asked for, and this node has no key to mint one with.
    SeatTokensUnavailable,
    /// The caller may not do this, whether the game is there or not.
    AccessDenied {
        /// The call.
        rpc: &'static str,
        /// As what they call.
        role: &'static str,
    },
    /// A field has a value that no request may have.
    InvalidField {
        /// The field, in the contract's names, dotted.
        field: String,
        /// Why, in one clause.
        why: String,
    },
    /// The request id is not a UUID.
    InvalidRequestId,
    /// There is no such ruleset.
    UnknownRuleset {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The ruleset has no such version here.
    RulesetVersion {
        /// Name and version asked for.
        id: String,
        /// The versions there are.
        known: Vec<u32>,
    },
    /// There is no such strategy.
    UnknownStrategy {
        /// What was asked for, with its version if one was named.
        asked: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The tenant has no such game.
    GameNotFound,
    /// The game refuses.
    Rejected {
        /// Why.
        rejection: Rejection,
        /// The head when it was refused.
        head: Seq,
        /// The lines after the entry that the caller expected, where that is why.
        missed: Vec<(Seq, String)>,
    },
    /// The request id belongs to another request.
    RequestIdReused(Original),
    /// The cursor points beyond the head.
    CursorBeyondHead {
        /// The head.
        head: Seq,
    },
    /// The resume token is not of this server, this tenant or this filter.
    ResumeTokenInvalid {
        /// Why, in one clause.
        why: &'static str,
    },
    /// The entry at which a feed was left is not there.
    ResumeTokenExpired,
    /// The game goes on, so there is no rematch of it yet.
    GameNotOver {
        /// The head.
        head: Seq,
    },
    /// A receipt was asked for, and this node has no key to sign one with.
    ReceiptsUnavailable,
    /// A limit of this node.
    Limit {
        /// Its name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// The game was imported as evidence: nothing is appended to it.
    GameReadOnly {
        /// The head.
        head: Seq,
    },
    /// A game with the id of an imported book is there, and is not that book.
    GameExists {
        /// Its id.
        game: Uuid,
    },
    /// As many as may are at work on this node.
    Busy {
        /// The limit's name.
        limit: &'static str,
        /// Its value.
        most: u64,
    },
    /// The caller calls too often.
    RateLimited {
        /// The limit's name.
        limit: &'static str,
        /// How long until a call is let in.
        wait: Duration,
    },
    /// Too many streams are open.
    TooManyStreams {
        /// The limit's name.
        limit: &'static str,
        /// How many may be.
        most: u64,
    },
    /// The caller's time is over.
    Deadline,
    /// The store cannot answer now.
    StoreUnavailable,
    /// This node is going away.
    Draining,
    /// The book in the store does not follow from itself.
    BookCorrupt {
        /// The first wrong entry.
        first_bad: Seq,
        /// Why: for the log.
        why: String,
    },
    /// An entry that was accepted once is against its own pinned rules as this build has them.
    EntryIllegalNow {
        /// That entry.
        first_bad: Seq,
        /// The rules, as the header pins them.
        ruleset: RulesetId,
        /// The code of the rule that a move breaks, where it is that.
        rule: Option<&'static str>,
        /// Why.
        why: String,
    },
    /// A fault of ours.
    Internal {
        /// What: for the log.
        detail: String,
    },
}

/// What a reused request id was answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Original {
    /// An entry of the same game.
    Entry {
        /// Which.
        seq: Seq,
        /// The head when the request was refused.
        head: Seq,
    },
    /// This game.
    Game(Uuid),
}

impl Refusal {
    /// A fault of ours.
    pub fn internal(detail: impl Into<String>) -> Refusal {
        Refusal::Internal { detail: detail.into() }
    }

    /// A field with a value that no request may have.
    pub fn field(field: impl Into<String>, why: impl Into<String>) -> Refusal {
        Refusal::InvalidField { field: field.into(), why: why.into() }
    }
}

impl Refusal {
    /// Callers that waited for one load share its refusal; each gets one of its own.
    pub(crate) fn shared(&self) -> Refusal {
        match self {
            Refusal::GameNotFound => Refusal::GameNotFound,
            Refusal::GameReadOnly { head } => Refusal::GameReadOnly { head: *head },
            Refusal::StoreUnavailable => Refusal::StoreUnavailable,
            Refusal::Busy { limit, most } => Refusal::Busy { limit, most: *most },
            Refusal::ResumeTokenExpired => Refusal::ResumeTokenExpired,
            Refusal::RulesetVersion { id, known } => Refusal::RulesetVersion { id: id.clone(), known: known.clone() },
            Refusal::UnknownRuleset { name, known } => Refusal::UnknownRuleset { name: name.clone(), known: known.clone() },
            Refusal::BookCorrupt { first_bad, why } => Refusal::BookCorrupt { first_bad: *first_bad, why: why.clone() },
            Refusal::EntryIllegalNow { first_bad, ruleset, rule, why } => {
                Refusal::EntryIllegalNow { first_bad: *first_bad, ruleset: ruleset.clone(), rule: *rule, why: why.clone() }
            }
            other => Refusal::internal(format!("{other:?}")),
        }
    }
}

impl From<plybook_store::Error> for Refusal {
    fn from(error: plybook_store::Error) -> Refusal {
        use plybook_store::Error;
        match error {
            Error::Unavailable(detail) => {
                tracing::warn!(rpc.method = telemetry::current_method(), game.id = telemetry::current_game().map(display), %detail, "the store is unavailable");
                Refusal::StoreUnavailable
            }
            Error::Busy { limit, most } => Refusal::Busy { limit, most },
            Error::Expired => Refusal::ResumeTokenExpired,
            Error::Missing { seq, .. } => Refusal::BookCorrupt { first_bad: seq, why: error.to_string() },
            Error::Corrupt(detail) | Error::Failed(detail) | Error::Config(detail) => Refusal::Internal { detail },
        }
    }
}

impl From<UnknownStrategy> for Refusal {
    fn from(UnknownStrategy { asked, known }: UnknownStrategy) -> Refusal {
        Refusal::UnknownStrategy { asked, known: known.iter().map(StrategyId::to_string).collect() }
    }
}

impl From<RegistryError> for Refusal {
    fn from(error: RegistryError) -> Refusal {
        match error {
            RegistryError::Unknown { name, known } => Refusal::UnknownRuleset { name, known },
            RegistryError::Version { id, known } => Refusal::RulesetVersion { id: id.to_string(), known },
            RegistryError::Param(BadParam { name, why }) if name == "seats" => Refusal::field("seats", why),
            RegistryError::Param(BadParam { name, why }) => Refusal::field(format!("ruleset.params.{name}"), why),
        }
    }
}

/// A caller's text, cut to a length that fits into a refusal.
pub fn echo(text: &str) -> String {
    cut(text, limits::ECHO_BYTES_MAX)
}

/// The same as [`cut`], with its ellipsis inside the length.
pub fn cut_to(text: &str, most: usize) -> String {
    let whole = cut(text, most);
    if whole.len() <= most { whole } else { cut(text, most.saturating_sub('…'.len_utf8())) }
}

/// One line of text that is no longer: whatever a caller sent, logs and terminals show it as text.
pub fn cut(text: &str, most: usize) -> String {
    let mut line = String::new();
    for c in text.chars() {
        let c = if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        if line.len() + c.len_utf8() > most {
            line.push('…');
            break;
        }
        line.push(c);
    }
    line
}
