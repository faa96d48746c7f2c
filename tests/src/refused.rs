//! A refusal as a client reads it.
//!
//! Invariant: whoever reads one checks what every refusal promises: ErrorInfo of our domain with a
//! reason of the contract before every other detail, details under 2 KiB, a message of one short line.

use std::collections::HashMap;
use std::fmt::Debug;
use std::time::Duration;

use plybook_proto::ERROR_DOMAIN;
use plybook_proto::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{ErrorDetail, StatusExt as _};

/// The most that error details may take, in bytes.
pub const DETAILS_BYTES_MAX: usize = 2 * 1024;
/// The most that a message may take: 300 bytes and an ellipsis.
pub const MESSAGE_BYTES_MAX: usize = 303;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The reason, without its prefix.
    pub reason: String,
    /// The status code.
    pub code: Code,
    /// For people.
    pub message: String,
    /// Facts of ErrorInfo.
    pub metadata: HashMap<String, String>,
    /// The violated field of BadRequest, with why.
    pub field: Option<(String, String)>,
    /// When to come back.
    pub retry: Option<Duration>,
}

impl Refused {
    /// Fails where the call went well.
    pub fn by<T: Debug>(answer: Result<T, Status>) -> Refused {
        match answer {
            Ok(answer) => panic!("accepted, and should be refused: {answer:?}"),
            Err(status) => Refused::of(&status),
        }
    }

    /// Reads a status; fails where it is not one of ours.
    pub fn of(status: &Status) -> Refused {
        let details = status.get_error_details();
        let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo: {status:?}"));
        assert_eq!(info.domain, ERROR_DOMAIN);
        let first = status.get_error_details_vec().into_iter().next();
        assert!(matches!(first, Some(ErrorDetail::ErrorInfo(_))), "ErrorInfo is not the first detail: {first:?}");
        assert!(ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason)).is_some(), "{} is no reason", info.reason);
        assert!(status.details().len() < DETAILS_BYTES_MAX, "{} bytes of details: {status:?}", status.details().len());
        assert!(status.message().len() <= MESSAGE_BYTES_MAX, "{} bytes of message", status.message().len());
        assert!(!status.message().contains('\n'), "a message is one line: {:?}", status.message());
        let field = details.bad_request().and_then(|bad| bad.field_violations.first());
        Refused {
            reason: info.reason.clone(),
            code: status.code(),
            message: status.message().to_owned(),
            metadata: info.metadata.clone(),
            field: field.map(|violation| (violation.field.clone(), violation.description.clone())),
            retry: details.retry_info().and_then(|retry| retry.retry_delay),
        }
    }

    /// For this reason, with the code that the contract's comment on it begins with.
    pub fn with(&self, reason: &str) -> &Refused {
        assert_eq!(self.reason, reason, "{self:?}");
        assert_eq!(self.code, code_of(reason), "{self:?}");
        self
    }

    /// With this fact.
    pub fn meta(&self, key: &str, value: impl ToString) -> &Refused {
        assert_eq!(self.metadata.get(key), Some(&value.to_string()), "{key} of {self:?}");
        self
    }

    /// With these facts and no other.
    pub fn only(&self, keys: &[&str]) -> &Refused {
        let mut known: Vec<&str> = self.metadata.keys().map(String::as_str).collect();
        known.sort_unstable();
        assert_eq!(known, keys, "{self:?}");
        self
    }

    /// Naming this field, with this piece of why.
    pub fn field(&self, name: &str, why: &str) -> &Refused {
        let (field, text) = self.field.as_ref().unwrap_or_else(|| panic!("no field: {self:?}"));
        assert_eq!(field, name, "{self:?}");
        assert!(text.contains(why), "{text:?} does not say {why:?}");
        self
    }

    /// Saying when to come back.
    pub fn later(&self) -> &Refused {
        assert!(self.retry.is_some_and(|after| !after.is_zero()), "no RetryInfo: {self:?}");
        self
    }
}

/// The code with which the contract's comment on a reason begins.
pub fn code_of(reason: &str) -> Code {
    let contract = include_str!("../../proto/plybook/v1/error_reason.proto");
    let at = contract.find(&format!("  ERROR_REASON_{reason} = ")).unwrap_or_else(|| panic!("{reason} is no reason"));
    let comment = contract[..at].lines().last().unwrap();
    let name = comment.trim_start_matches([' ', '/']).split(':').next().unwrap();
    match name {
        "NOT_FOUND" => Code::NotFound,
        "UNIMPLEMENTED" => Code::Unimplemented,
        "INVALID_ARGUMENT" => Code::InvalidArgument,
        "FAILED_PRECONDITION" => Code::FailedPrecondition,
        "ABORTED" => Code::Aborted,
        "ALREADY_EXISTS" => Code::AlreadyExists,
        "OUT_OF_RANGE" => Code::OutOfRange,
        "RESOURCE_EXHAUSTED" => Code::ResourceExhausted,
        "DEADLINE_EXCEEDED" => Code::DeadlineExceeded,
        "UNAVAILABLE" => Code::Unavailable,
        "DATA_LOSS" => Code::DataLoss,
        "INTERNAL" => Code::Internal,
        "UNAUTHENTICATED" => Code::Unauthenticated,
        "PERMISSION_DENIED" => Code::PermissionDenied,
        other => panic!("{other} is no code"),
    }
}
