//! What an operator sets of authentication.

use std::time::Duration;

use super::cert_list::CertList;
use super::jwks::JwksSource;
use super::seat_token::SeatTokens;
use crate::config::ConfigError;

/// What an operator sets of authentication. By default it is off, and everybody may do everything.
#[derive(Clone, Debug)]
pub struct AuthConfig {
    /// Whether every call needs a credential. API keys of the database are taken then, and what else is set here.
    pub required: bool,
    /// The issuer whose tokens are taken, if any.
    pub jwt: Option<JwtConfig>,
    /// What mints and checks tokens for seats, if anything.
    pub seat_tokens: Option<SeatTokens>,
    /// Whom client certificates stand for, if for anybody.
    pub client_certs: Option<CertList>,
    /// For how long what the database says of an API key is believed: so late a revoked one dies.
    pub key_trust: Duration,
    /// The longest that a token for a seat may hold.
    pub seat_token_ttl_max: Duration,
}

/// An issuer of tokens.
#[derive(Clone, Debug)]
pub struct JwtConfig {
    /// Where its keys are.
    pub source: JwksSource,
    /// What its tokens must name as their issuer, where anything.
    pub issuer: Option<String>,
    /// What its tokens must name as their audience, where anything.
    pub audience: Option<String>,
    /// How far its clock may be off.
    pub leeway: Duration,
}

/// The greatest leeway: a clock that is farther off is to be set right.
const LEEWAY_MAX: Duration = Duration::from_secs(300);
/// The longest that a revoked key may live.
const KEY_TRUST_MAX: Duration = Duration::from_secs(600);

impl Default for AuthConfig {
    fn default() -> AuthConfig {
        AuthConfig {
            required: false,
            jwt: None,
            seat_tokens: None,
            client_certs: None,
            key_trust: Duration::from_secs(10),
            seat_token_ttl_max: Duration::from_secs(24 * 3600),
        }
    }
}

impl AuthConfig {
    /// Whether every call needs a credential.
    pub const fn is_on(&self) -> bool {
        self.required
    }

    /// Checks what types cannot.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |what: &str| Err(ConfigError(what.to_owned()));
        let given = self.jwt.is_some() || self.seat_tokens.is_some() || self.client_certs.is_some();
        if given && !self.required {
            return refuse("--auth none takes no credential, and --jwks, --seat-token-key or --client-certs is given");
        }
        if self.key_trust.is_zero() || self.key_trust > KEY_TRUST_MAX {
            return refuse("api-key-trust must be longer than nothing, and 10 minutes at most: so long a revoked key lives on");
        }
        if self.seat_token_ttl_max < Duration::from_secs(1) {
            return refuse("seat-token-ttl-max must be a second at least");
        }
        if self.jwt.as_ref().is_some_and(|jwt| jwt.leeway > LEEWAY_MAX) {
            return refuse("jwt-leeway must be 5 minutes at most: a clock that is farther off is to be set right");
        }
        Ok(())
    }
}
