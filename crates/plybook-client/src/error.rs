//! What a call comes back with when it is not an answer.
//!
//! Invariant: a refusal is final, the same request will be refused again; everything else may be sent
//! again with the same request id.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use plybook_proto::ERROR_DOMAIN;
use plybook_proto::v1::ErrorReason;
pub use tonic::Code;
use tonic::Status;
use tonic_types::StatusExt;

use crate::untrusted;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server said no.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No server answered while patience lasted. What was asked may have been done: ask again with the
    /// same request id, which is [`Unavailable::request_id`].
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// A refusal with its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Name of an [`ErrorReason`] without its prefix, such as `ILLEGAL_MOVE`; empty where a refusal is
    /// not Plybook's own.
    pub reason: String,
    /// The status code.
    pub code: Code,
    /// For people.
    pub message: String,
    /// What the caller needs to go on; the keys stand with each [`ErrorReason`].
    pub metadata: BTreeMap<String, String>,
    /// Fields of the request that are wrong, and why.
    pub fields: Vec<(String, String)>,
}

/// Nobody answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer after {attempts} attempts in {waited:?}: {last}")]
pub struct Unavailable {
    /// Requests sent.
    pub attempts: u32,
    /// Time waited.
    pub waited: Duration,
    /// What went wrong last.
    pub last: String,
    /// The id that the request had, the caller's or the one that was filled in, where it was one that
    /// appends. Put it into the same request to learn what became of it: with a new id a move that did
    /// arrive would be made, or refused, a second time.
    pub request_id: Option<String>,
}

impl Error {
    /// The same, telling the id of the request.
    pub(crate) fn to(mut self, request_id: String) -> Error {
        if let Error::Unavailable(unavailable) = &mut self {
            unavailable.request_id = Some(request_id);
        }
        self
    }

    /// The refusal, if it is one.
    pub const fn refused(&self) -> Option<&Refused> {
        match self {
            Error::Refused(refused) => Some(refused),
            Error::Unavailable(_) => None,
        }
    }
}

impl Refused {
    /// Whether it is refused for this reason.
    pub fn is(&self, reason: ErrorReason) -> bool {
        reason.as_str_name().strip_prefix("ERROR_REASON_") == Some(self.reason.as_str())
    }

    /// A number among the metadata, such as `head_seq`.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.metadata.get(key)?.parse().ok()
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.reason.is_empty() { format!("{:?}", self.code) } else { self.reason.clone() };
        write!(f, "{reason}: {}", self.message)?;
        for (field, why) in &self.fields {
            if !self.message.contains(why.as_str()) {
                write!(f, " ({field}: {why})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

/// What one attempt came back with.
#[derive(Debug)]
pub(crate) enum Failure {
    Final(Refused),
    Again { why: String, not_before: Option<Duration> },
}

impl Failure {
    /// Plybook's own statuses carry its reason. One without comes from the way there: everything that
    /// appends has a request id, so sending it again is safe even where it did arrive.
    pub(crate) fn of(status: &Status) -> Failure {
        if let Some(refused) = untrusted::refusal(status) {
            return Failure::Final(refused);
        }
        let details = status.get_error_details();
        let info = details.error_info().filter(|info| info.domain == ERROR_DOMAIN);
        let passes = matches!(
            (info, status.code()),
            (_, Code::Unavailable | Code::DeadlineExceeded) | (None, Code::Cancelled | Code::Unknown | Code::Internal)
        );
        let not_before = details.retry_info().and_then(|retry| retry.retry_delay);
        // A limit that tells when to come back is one of what goes on at once, or in a while.
        let busy = not_before.is_some() && info.is_some() && status.code() == Code::ResourceExhausted;
        if passes || busy {
            return Failure::Again { why: tell(status), not_before };
        }
        let fields = details.bad_request().map_or_else(Vec::new, |bad| {
            bad.field_violations.iter().map(|violation| (violation.field.clone(), violation.description.clone())).collect()
        });
        Failure::Final(Refused {
            reason: info.map_or_else(String::new, |info| info.reason.clone()),
            code: status.code(),
            message: status.message().to_owned(),
            metadata: info.map_or_else(BTreeMap::new, |info| info.metadata.clone().into_iter().collect()),
            fields,
        })
    }
}

fn tell(status: &Status) -> String {
    let mut text = format!("{:?}: {}", status.code(), status.message());
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(&format!(": {more}"));
        }
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::HashMap;
    use std::time::Duration;

    use tonic_types::ErrorDetails;

    use super::*;

    fn status(code: Code, reason: &str, domain: &str) -> Status {
        let metadata = HashMap::from([("head_seq".to_owned(), "7".to_owned())]);
        let mut details = ErrorDetails::with_error_info(reason, domain, metadata);
        details.set_retry_info(Some(Duration::from_millis(250)));
        details.add_bad_request_violation("seat", "is missing");
        Status::with_error_details(code, "no", details)
    }

    #[test]
    fn a_refusal_keeps_its_type() {
        let Failure::Final(refused) = Failure::of(&status(Code::FailedPrecondition, "ILLEGAL_MOVE", "plybook")) else {
            panic!("it is final")
        };
        assert!(refused.is(ErrorReason::IllegalMove) && !refused.is(ErrorReason::StaleSeq));
        assert_eq!(refused.number("head_seq"), Some(7));
        assert_eq!(refused.fields, [("seat".to_owned(), "is missing".to_owned())]);
        assert_eq!(refused.to_string(), "ILLEGAL_MOVE: no (seat: is missing)");
    }

    #[test]
    fn what_passes_is_sent_again_and_not_before_its_time() {
        // The limit of what goes on at once passes, that of what is asked for does not.
        let again = |status: &Status| match Failure::of(status) {
            Failure::Again { not_before, .. } => Some(not_before),
            Failure::Final(_) => None,
        };
        let wait = Some(Some(Duration::from_millis(250)));
        assert_eq!(again(&status(Code::Unavailable, "SERVER_DRAINING", "plybook")), wait);
        assert_eq!(again(&status(Code::DeadlineExceeded, "DEADLINE", "plybook")), wait);
        assert_eq!(again(&Status::unknown("transport error")), Some(None));
        assert_eq!(again(&status(Code::ResourceExhausted, "LIMIT_EXCEEDED", "plybook")), wait);
        assert_eq!(again(&status(Code::ResourceExhausted, "TOO_MANY_STREAMS", "plybook")), wait);
        assert_eq!(again(&status(Code::ResourceExhausted, "RATE_LIMITED", "plybook")), wait);
        assert_eq!(again(&status(Code::ResourceExhausted, "", "elsewhere")), None);
        let info = ErrorDetails::with_error_info("LIMIT_EXCEEDED", "plybook", HashMap::new());
        assert_eq!(again(&Status::with_error_details(Code::ResourceExhausted, "no", info)), None);
        assert_eq!(again(&status(Code::Internal, "INTERNAL", "plybook")), None);
        assert_eq!(again(&status(Code::FailedPrecondition, "ILLEGAL_MOVE", "elsewhere")), None);
    }
}
