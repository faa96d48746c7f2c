//! The one place that makes a `Status`.
//!
//! Invariants: the matches are exhaustive, so a new refusal cannot be forgotten; every status carries
//! ErrorInfo, and it is its first detail; details stay under 2 KiB; an INTERNAL error says its trace id and nothing else.

use std::collections::HashMap;
use std::time::Duration;

use plybook_core::presence::ClaimRefusal;
use plybook_core::{Outcome, Rejection, RulesetId, Seq};
use plybook_proto::ERROR_DOMAIN;
use plybook_proto::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{BadRequest, ErrorDetail, ErrorInfo, RetryInfo, StatusExt};
use uuid::Uuid;

use crate::limits;
use crate::refusal::{Original, Refusal, cut, echo};
use crate::telemetry;

/// How soon a caller may try again what another moment or another node can do.
const RETRY_SOON: Duration = Duration::from_millis(200);
/// How soon a caller may try again where a limit is reached.
const RETRY_LATER: Duration = Duration::from_secs(5);

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Status {
        Answer::of(refusal).status()
    }
}

/// A status in the making.
struct Answer {
    code: Code,
    reason: ErrorReason,
    message: String,
    metadata: Vec<(String, String)>,
    field: Option<(String, String)>,
    retry: Option<Duration>,
}

impl Answer {
    fn new(code: Code, reason: ErrorReason, message: impl Into<String>) -> Answer {
        Answer { code, reason, message: message.into(), metadata: Vec::new(), field: None, retry: None }
    }

    fn with(mut self, key: &str, value: impl ToString) -> Answer {
        self.metadata.push((key.to_owned(), value.to_string()));
        self
    }

    fn retry(mut self, after: Duration) -> Answer {
        self.retry = Some(after);
        self
    }

    fn of(refusal: Refusal) -> Answer {
        use ErrorReason as R;
        match refusal {
            Refusal::CredentialsMissing => Answer::no_credential(),
            Refusal::CredentialsInvalid { why } => Answer::bad_credential(why),
            Refusal::IssuerUnavailable => Answer::no_issuer(),
            Refusal::AccessDenied { rpc, role } => Answer::denied(rpc, role),
            Refusal::SeatTokensUnavailable => Answer::no_seat_tokens(),
            Refusal::InvalidField { field, why } => Answer::field(field, why),
            Refusal::InvalidRequestId => {
                Answer::new(Code::InvalidArgument, R::InvalidRequestId, "request_id: a UUID is required; repeat the same one to retry")
            }
            Refusal::UnknownRuleset { name, known } => Answer::unknown(R::UnknownRuleset, "ruleset", &name, &known.join(",")),
            Refusal::RulesetVersion { id, known } => {
                let known = known.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                Answer::new(Code::Unimplemented, R::RulesetVersionUnsupported, format!("ruleset {} is not in this build", echo(&id)))
                    .with("known", known)
            }
            Refusal::UnknownStrategy { asked, known } => Answer::unknown(R::UnknownStrategy, "strategy", &asked, &known.join(",")),
            Refusal::GameNotFound => Answer::new(Code::NotFound, R::GameNotFound, "there is no such game"),
            Refusal::Rejected { rejection, head, missed } => {
                let mut answer = Answer::rejected(rejection).with("head_seq", head);
                for (seq, line) in missed {
                    answer = answer.with(&format!("missed_{seq}"), line);
                }
                answer
            }
            Refusal::RequestIdReused(original) => Answer::reused(original),
            Refusal::CursorBeyondHead { head } => {
                Answer::new(Code::OutOfRange, R::CursorBeyondHead, format!("the last entry is {head}")).with("head_seq", head)
            }
            Refusal::ResumeTokenInvalid { why } => Answer::token_invalid(why),
            Refusal::ResumeTokenExpired => Answer::token_expired(),
            Refusal::ReceiptsUnavailable => Answer::no_receipts(),
            Refusal::GameReadOnly { head } => Answer::read_only(head),
            Refusal::GameNotOver { head } => Answer::not_over(head),
            Refusal::GameExists { game } => Answer::exists(game),
            Refusal::Limit { limit, most } => Answer::limit(limit, most),
            Refusal::Busy { limit, most } => Answer::limit(limit, most).retry(RETRY_SOON),
            Refusal::TooManyStreams { limit, most } => Answer::too_many_streams(limit, most),
            Refusal::RateLimited { limit, wait } => Answer::too_often(limit, wait),
            Refusal::Deadline => Answer::too_late(),
            Refusal::StoreUnavailable => {
                Answer::new(Code::Unavailable, R::StoreUnavailable, "the store is away; retry, with the same request_id if there was one")
                    .retry(RETRY_SOON)
            }
            Refusal::Draining => {
                Answer::new(Code::Unavailable, R::ServerDraining, "this node is going away; another one serves").retry(RETRY_SOON)
            }
            Refusal::BookCorrupt { first_bad, why } => {
                tracing::error!(rpc.method = telemetry::current_method(), game.id = telemetry::current_game().map(display), %first_bad, %why, "a book is corrupt");
                Answer::new(Code::DataLoss, R::BookCorrupt, format!("the book does not follow from itself at entry {first_bad}"))
                    .with("first_bad_seq", first_bad)
            }
            Refusal::EntryIllegalNow { first_bad, ruleset, rule, why } => {
                tracing::error!(rpc.method = telemetry::current_method(), game.id = telemetry::current_game().map(display), %first_bad, %ruleset, %why, "an entry that was accepted is illegal now");
                Answer::illegal_now(first_bad, &ruleset, rule, &why)
            }
            Refusal::Internal { detail } => {
                let trace_id = telemetry::trace_id();
                tracing::error!(rpc.method = telemetry::current_method(), game.id = telemetry::current_game().map(display), %detail, %trace_id, "internal error");
                Answer::new(Code::Internal, R::Internal, "internal error").with("trace_id", trace_id)
            }
        }
    }

    fn no_credential() -> Answer {
        let why = "a credential is required: metadata \"authorization\" with \"Bearer\" and a token or an API key";
        Answer::new(Code::Unauthenticated, ErrorReason::CredentialsMissing, why)
    }

    fn bad_credential(why: &str) -> Answer {
        Answer::new(Code::Unauthenticated, ErrorReason::CredentialsInvalid, format!("the credential does not hold: {why}"))
    }

    fn no_issuer() -> Answer {
        let why = "the keys of the issuer of tokens could not be had; retry, with the same request_id if there was one";
        Answer::new(Code::Unavailable, ErrorReason::StoreUnavailable, why).retry(RETRY_LATER)
    }

    fn no_seat_tokens() -> Answer {
        let why = "this server mints no tokens for seats: it has no --seat-token-key";
        Answer::new(Code::FailedPrecondition, ErrorReason::SeatTokensUnavailable, why)
    }

    fn denied(rpc: &str, role: &str) -> Answer {
        let why = format!("the role {role} may not call {rpc}, or not for this game or seat");
        Answer::new(Code::PermissionDenied, ErrorReason::AccessDenied, why).with("role", role)
    }

    fn unknown(reason: ErrorReason, what: &str, asked: &str, known: &str) -> Answer {
        Answer::new(Code::NotFound, reason, format!("there is no {what} {:?}", echo(asked))).with("known", known)
    }

    fn field(field: String, why: String) -> Answer {
        let mut answer = Answer::new(Code::InvalidArgument, ErrorReason::InvalidParameter, format!("{field}: {why}"));
        answer.field = Some((field, why));
        answer
    }

    fn rejected(rejection: Rejection) -> Answer {
        use ErrorReason as R;
        let message = rejection.to_string();
        match rejection {
            Rejection::NoSuchSeat { .. } | Rejection::SeatNeeded => Answer::field("seat".to_owned(), message),
            Rejection::InvalidAction { accepted, .. } => {
                Answer::new(Code::InvalidArgument, R::InvalidAction, message).with("accepted", accepted.join(","))
            }
            Rejection::Finished { outcome, closed } => Answer::new(Code::FailedPrecondition, R::GameFinished, message)
                .with("closed", closed)
                .with("winners", winners(&outcome))
                .with("outcome_reason", outcome.reason),
            Rejection::NotFinished => Answer::new(Code::FailedPrecondition, R::GameNotFinished, message),
            Rejection::Stale { expected, .. } => Answer::new(Code::Aborted, R::StaleSeq, message).with("expected_seq", expected),
            Rejection::NotJoined { step, waiting, deadline } => Answer::new(Code::FailedPrecondition, R::NotJoined, message)
                .with("step", step.code())
                .with("waiting_seats", waiting)
                .with("deadline", deadline),
            Rejection::JoinNotAllowed(why) => Answer::new(Code::FailedPrecondition, R::JoinNotAllowed, message).with("cause", why.code()),
            Rejection::NotYourTurn { to_move } => {
                Answer::new(Code::FailedPrecondition, R::NotYourTurn, message).with("seat_to_move", to_move)
            }
            Rejection::Illegal(illegal) => Answer::new(Code::FailedPrecondition, R::IllegalMove, illegal.detail).with("rule", illegal.rule),
            Rejection::NothingToUndo => Answer::new(Code::FailedPrecondition, R::NothingToUndo, message),
            Rejection::UndoNotAllowed(why) => Answer::new(Code::FailedPrecondition, R::UndoNotAllowed, message).with("cause", why.code()),
            Rejection::Limit { limit, most } => Answer::limit(limit, most),
            Rejection::SeatLeft { seat } => Answer::new(Code::FailedPrecondition, R::SeatLeft, message).with("seat", seat),
            Rejection::BotSeat { seat } => Answer::new(Code::FailedPrecondition, R::SeatIsBot, message).with("seat", seat),
            Rejection::OfferNotAllowed(why) => Answer::new(Code::FailedPrecondition, R::OfferNotAllowed, message).with("cause", why.code()),
            Rejection::AbortNotAllowed { before } => {
                Answer::new(Code::FailedPrecondition, R::AbortNotAllowed, message).with("before_plies", before)
            }
            Rejection::ClaimNotAllowed(why) => {
                let answer = Answer::new(Code::FailedPrecondition, R::ClaimNotAllowed, message).with("cause", why.code());
                match why {
                    ClaimRefusal::Grace { until } => answer.with("grace_until", until),
                    ClaimRefusal::Policy | ClaimRefusal::NotThere | ClaimRefusal::NobodyAway => answer,
                }
            }
            Rejection::PresenceNotKept => Answer::new(Code::FailedPrecondition, R::PresenceNotKept, message),
            // Whoever reports it is answered that it is so, and whoever appends settles deadlines first.
            Rejection::PresenceUnchanged | Rejection::Unsettled { .. } => Answer::of(Refusal::internal(message)),
            // Whoever decides lengthens the way back and asks again: nobody is told this.
            Rejection::WayBack { .. } => Answer::of(Refusal::internal(message)),
        }
    }

    fn illegal_now(first_bad: Seq, ruleset: &RulesetId, rule: Option<&str>, why: &str) -> Answer {
        let message = format!("{ruleset} of this build refuses entry {first_bad}, which whoever wrote the book accepted: {why}");
        let answer = Answer::new(Code::FailedPrecondition, ErrorReason::EntryIllegalNow, message)
            .with("first_bad_seq", first_bad)
            .with("ruleset", ruleset);
        match rule {
            Some(rule) => answer.with("rule", rule),
            None => answer,
        }
    }

    fn token_invalid(why: &str) -> Answer {
        Answer::new(Code::InvalidArgument, ErrorReason::ResumeTokenInvalid, format!("resume_token: {why}"))
    }

    fn token_expired() -> Answer {
        let why = "the entry at which the feed was left is not in the books: begin again";
        Answer::new(Code::OutOfRange, ErrorReason::ResumeTokenExpired, why)
    }

    fn no_receipts() -> Answer {
        Answer::new(Code::FailedPrecondition, ErrorReason::ReceiptsUnavailable, "a receipt is due, and this node has no signing key")
    }

    fn reused(original: Original) -> Answer {
        let answer = Answer::new(Code::AlreadyExists, ErrorReason::RequestIdReused, "another request had this request_id");
        match original {
            Original::Entry { seq, .. } => answer.with("original_seq", seq),
            Original::Game(game) => answer.with("original_game_id", game),
        }
    }

    fn read_only(head: Seq) -> Answer {
        let why = "the game was played elsewhere: its book was imported as evidence, and nothing is appended to it";
        Answer::new(Code::FailedPrecondition, ErrorReason::GameReadOnly, why).with("head_seq", head)
    }

    fn not_over(head: Seq) -> Answer {
        let why = "the game goes on; a rematch follows its end";
        Answer::new(Code::FailedPrecondition, ErrorReason::GameNotOver, why).with("head_seq", head)
    }

    fn exists(game: Uuid) -> Answer {
        let why = format!("a game {game} is there: this server's own, or one that was imported from another file");
        Answer::new(Code::AlreadyExists, ErrorReason::GameExists, why).with("game_id", game)
    }

    fn too_late() -> Answer {
        let message = "the deadline passed; it may have committed: retry, with the same request_id if it had one";
        Answer::new(Code::DeadlineExceeded, ErrorReason::Deadline, message)
    }

    fn too_often(limit: &str, wait: Duration) -> Answer {
        let message = format!("{limit} is used up: come back in {} ms", wait.as_millis() + 1);
        Answer::new(Code::ResourceExhausted, ErrorReason::RateLimited, message).with("limit", limit).retry(wait)
    }

    fn too_many_streams(limit: &str, most: u64) -> Answer {
        Answer::new(Code::ResourceExhausted, ErrorReason::TooManyStreams, format!("{most} streams are open: {limit} has no more"))
            .with("limit", limit)
            .with("most", most)
            .retry(RETRY_LATER)
    }

    fn limit(limit: &str, most: u64) -> Answer {
        Answer::new(Code::ResourceExhausted, ErrorReason::LimitExceeded, format!("{limit} is limited to {most}"))
            .with("limit", limit)
            .with("most", most)
    }

    fn status(self) -> Status {
        let metadata: HashMap<String, String> = self.metadata.into_iter().collect();
        // Clients read the first detail, without looking what it is.
        let mut details: Vec<ErrorDetail> = vec![ErrorInfo::new(reason_name(self.reason), ERROR_DOMAIN, metadata).into()];
        if let Some((field, why)) = self.field {
            details.push(BadRequest::with_violation(echo(&field), cut(&why, limits::MESSAGE_BYTES_MAX)).into());
        }
        if let Some(after) = self.retry {
            details.push(RetryInfo::new(Some(after)).into());
        }
        telemetry::record_refusal(self.reason.as_str_name());
        Status::with_error_details_vec(self.code, cut(&self.message, limits::MESSAGE_BYTES_MAX), details)
    }
}

/// What a game or its policy says to a request, for the record.
pub struct Verdict {
    /// The reason, as it stands in ErrorInfo.
    pub reason: &'static str,
    /// The message, after the rule or the cause where there is one.
    pub detail: String,
    /// The head against which it was said.
    pub head: Seq,
}

impl Verdict {
    /// Nothing where it is not the game that refuses, but this node, its store, or the request's own shape.
    pub fn of(refusal: &Refusal) -> Option<Verdict> {
        let (answer, head) = match refusal {
            // Nobody is refused: whoever reports what was reported is answered that it is so, and the others are ours.
            Refusal::Rejected {
                rejection: Rejection::PresenceUnchanged | Rejection::Unsettled { .. } | Rejection::WayBack { .. }, ..
            } => {
                return None;
            }
            Refusal::Rejected { rejection, head, .. } => (Answer::rejected(rejection.clone()), *head),
            Refusal::RequestIdReused(original @ Original::Entry { head, .. }) => (Answer::reused(*original), *head),
            Refusal::GameReadOnly { head } => (Answer::read_only(*head), *head),
            Refusal::CredentialsMissing
            | Refusal::CredentialsInvalid { .. }
            | Refusal::AccessDenied { .. }
            | Refusal::IssuerUnavailable
            | Refusal::SeatTokensUnavailable
            | Refusal::RequestIdReused(Original::Game(_))
            | Refusal::InvalidField { .. }
            | Refusal::InvalidRequestId
            | Refusal::UnknownRuleset { .. }
            | Refusal::RulesetVersion { .. }
            | Refusal::UnknownStrategy { .. }
            | Refusal::GameNotFound
            | Refusal::CursorBeyondHead { .. }
            | Refusal::ReceiptsUnavailable
            | Refusal::ResumeTokenInvalid { .. }
            | Refusal::ResumeTokenExpired
            | Refusal::GameNotOver { .. }
            | Refusal::GameExists { .. }
            | Refusal::Busy { .. }
            | Refusal::Limit { .. }
            | Refusal::TooManyStreams { .. }
            | Refusal::RateLimited { .. }
            | Refusal::Deadline
            | Refusal::StoreUnavailable
            | Refusal::Draining
            | Refusal::BookCorrupt { .. }
            | Refusal::EntryIllegalNow { .. }
            | Refusal::Internal { .. } => return None,
        };
        let named = ["rule", "cause", "original_seq"];
        let code = answer.metadata.iter().find(|(key, _)| named.contains(&key.as_str()));
        let detail = match code {
            Some((key, seq)) if key == "original_seq" => format!("{}: it is entry {seq}", answer.message),
            Some((_, code)) => format!("{code}: {}", answer.message),
            None => answer.message,
        };
        Some(Verdict { reason: reason_name(answer.reason), detail, head })
    }
}

/// The reason as it stands in ErrorInfo: the enum's name less its prefix.
fn reason_name(reason: ErrorReason) -> &'static str {
    let name = reason.as_str_name();
    name.strip_prefix("ERROR_REASON_").unwrap_or(name)
}

/// The reason with this name.
pub fn reason_named(name: &str) -> ErrorReason {
    ErrorReason::from_str_name(&format!("ERROR_REASON_{name}")).unwrap_or(ErrorReason::Unspecified)
}

fn winners(outcome: &Outcome) -> String {
    outcome.winning_seats().to_string()
}

#[cfg(test)]
mod tests {
    use tonic_types::BadRequest;

    use super::*;

    /// Who reads the first detail finds the reason, whatever else is said.
    #[test]
    fn the_reason_stands_before_every_other_detail() {
        let (limit, most, wait) = ("streams", 1, Duration::from_millis(7));
        let comes_back = [
            Refusal::IssuerUnavailable,
            Refusal::Busy { limit, most },
            Refusal::TooManyStreams { limit, most },
            Refusal::RateLimited { limit, wait },
            Refusal::StoreUnavailable,
            Refusal::Draining,
        ];
        for refusal in comes_back {
            let told = format!("{refusal:?}");
            let details = Status::from(refusal).get_error_details_vec();
            assert!(matches!(details[..], [ErrorDetail::ErrorInfo(_), ErrorDetail::RetryInfo(_)]), "{told}: {details:?}");
        }
        let details = Status::from(Refusal::field("seat", "is missing")).get_error_details_vec();
        let [ErrorDetail::ErrorInfo(_), ErrorDetail::BadRequest(BadRequest { field_violations })] = &details[..] else {
            panic!("{details:?}")
        };
        assert_eq!(field_violations.len(), 1);
    }
}
