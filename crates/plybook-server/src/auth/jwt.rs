//! Tokens of an issuer: JWTs.
//!
//! Invariants: the algorithm is the key's, not the token's; what a token says is read only after its signature held; the
//! issuer and the audience are checked wherever they are set.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode};
use plybook_core::Time;
use serde::de::DeserializeOwned;

use super::claims::{Claimed, Claims};
use super::config::JwtConfig;
use super::jwks::Jwks;
use crate::refusal::Refusal;

/// Checks tokens of one issuer.
#[derive(Debug)]
pub struct Tokens {
    config: JwtConfig,
    keys: Arc<Jwks>,
}

impl Tokens {
    /// Of an issuer with these keys.
    pub const fn new(config: JwtConfig, keys: Arc<Jwks>) -> Tokens {
        Tokens { config, keys }
    }

    /// The issuer's keys.
    pub const fn keys(&self) -> &Arc<Jwks> {
        &self.keys
    }

    /// What a token with this header comes to now, and under which generation of the keys.
    pub async fn check(&self, token: &str, header: &Header, now: Time) -> Result<(Claimed, u64), Refusal> {
        let refuse = |why| Refusal::CredentialsInvalid { why };
        if !matches!(header.alg, Algorithm::EdDSA | Algorithm::ES256 | Algorithm::RS256) {
            return Err(refuse("its algorithm is none of EdDSA, ES256, RS256"));
        }
        let (generation, key) = self.keys.find(header.kid.as_deref(), header.alg).await?;
        let claims: Claims = checked(token, &key.key, &self.validation(key.algorithm)).map_err(refuse)?;
        let leeway = u64::try_from(self.config.leeway.as_millis()).unwrap_or(u64::MAX);
        Ok((claims.read(now, leeway).map_err(refuse)?, generation))
    }

    /// Times are checked by the service's own clock, with the claims.
    fn validation(&self, algorithm: Algorithm) -> Validation {
        let mut validation = untimed(algorithm);
        let mut required = Vec::new();
        if let Some(issuer) = &self.config.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        validation.validate_aud = self.config.audience.is_some();
        if let Some(audience) = &self.config.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        validation
    }
}

/// Checks the signature, by this algorithm alone, and no time.
pub(super) fn untimed(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    validation
}

/// The claims of a token whose signature holds.
pub(super) fn checked<T: DeserializeOwned>(token: &str, key: &DecodingKey, validation: &Validation) -> Result<T, &'static str> {
    use jsonwebtoken::errors::ErrorKind as E;
    decode::<T>(token, key, validation).map(|data| data.claims).map_err(|error| match error.kind() {
        E::InvalidIssuer => "its issuer is another one",
        E::InvalidAudience => "it is for another audience",
        E::MissingRequiredClaim(claim) if claim == "iss" => "the claim iss is missing",
        E::MissingRequiredClaim(claim) if claim == "aud" => "the claim aud is missing",
        E::Json(_) | E::InvalidClaimFormat(_) => "its claims cannot be read",
        _ => "its signature does not hold",
    })
}
