//! Who sent a request.
//!
//! Invariant: where authentication is on, a caller comes out of a credential that holds now, or not at all.

use http::{Extensions, HeaderMap};

use super::{AuthConfig, Caller};
use crate::refusal::Refusal;

/// Reads credentials.
#[derive(Debug)]
pub struct Authenticator {
    /// Everybody, where authentication is off.
    anonymous: Option<Caller>,
}

impl Authenticator {
    /// As an operator set it.
    pub fn new(config: &AuthConfig) -> Result<Authenticator, Refusal> {
        let anonymous = (!config.is_on()).then(Caller::anonymous).transpose()?;
        Ok(Authenticator { anonymous })
    }

    /// The caller where it is known without looking at anything.
    pub fn everybody(&self) -> Option<&Caller> {
        self.anonymous.as_ref()
    }

    /// Who sent a request with these headers, over a connection that has put in these extensions.
    pub async fn caller(&self, headers: &HeaderMap, extensions: &Extensions) -> Result<Caller, Refusal> {
        let _ = extensions;
        if headers.contains_key(http::header::AUTHORIZATION) {
            return Err(Refusal::CredentialsInvalid { why: "it is none that this node takes" });
        }
        Err(Refusal::CredentialsMissing)
    }
}
