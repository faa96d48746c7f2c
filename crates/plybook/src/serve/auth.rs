//! Who may call a node, as flags.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use plybook_server::auth::AuthConfig;
use plybook_server::auth::cert_list::CertList;
use plybook_server::auth::config::JwtConfig;
use plybook_server::auth::jwks::{self, JwksSource};
use plybook_server::auth::seat_token::SeatTokens;
use plybook_server::key_file;

use crate::exit::usage;
use crate::keys::public_key_list;

/// Who may call.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Credentials")]
pub(crate) struct AuthArgs {
    /// Whether calls need a credential: an API key of the database, and what else is set here. Where anything is, they do
    #[arg(long, env = "PLYBOOK_AUTH", value_name = "none|required")]
    auth: Option<Auth>,
    /// The public keys of an issuer of tokens (JWT by EdDSA, ES256 or RS256): a JWK set, read again when it changes
    #[arg(long, env = "PLYBOOK_JWKS", value_name = "FILE|URL", value_parser = source)]
    jwks: Option<JwksSource>,
    /// What tokens must name as their issuer
    #[arg(long, env = "PLYBOOK_JWT_ISSUER", requires = "jwks")]
    jwt_issuer: Option<String>,
    /// What tokens must name as their audience
    #[arg(long, env = "PLYBOOK_JWT_AUDIENCE", requires = "jwks")]
    jwt_audience: Option<String>,
    /// How far the issuer's clock may be off, in seconds
    #[arg(long, env = "PLYBOOK_JWT_LEEWAY_SECONDS", default_value_t = 30)]
    jwt_leeway_seconds: u64,
    /// The private key that mints tokens for seats, as `plybook keygen` writes it; the same on every node
    #[arg(long, env = "PLYBOOK_SEAT_TOKEN_KEY", value_name = "FILE")]
    seat_token_key: Option<PathBuf>,
    /// Public keys of nodes whose tokens for seats are taken as well, while the key changes; may be repeated
    #[arg(long, env = "PLYBOOK_SEAT_TOKEN_PUBLIC_KEY", value_delimiter = ',', value_name = "FILE", requires = "seat_token_key")]
    seat_token_public_key: Vec<PathBuf>,
    /// The longest that a token for a seat may hold, in seconds
    #[arg(long, env = "PLYBOOK_SEAT_TOKEN_TTL_MAX_SECONDS", default_value_t = AuthConfig::default().seat_token_ttl_max.as_secs())]
    seat_token_ttl_max_seconds: u64,
    /// Whom client certificates stand for: a JSON object a line with name, tenant, principal and role; read again when it changes
    #[arg(long, env = "PLYBOOK_CLIENT_CERTS", value_name = "FILE")]
    client_certs: Option<PathBuf>,
    /// For how long what the database says of an API key is believed, in seconds: so late a revoked one dies
    #[arg(long, env = "PLYBOOK_API_KEY_TRUST_SECONDS", default_value_t = AuthConfig::default().key_trust.as_secs())]
    api_key_trust_seconds: u64,
}

/// Whether calls need a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Auth {
    None,
    Required,
}

#[allow(clippy::unnecessary_wraps, reason = "a parser of clap's answers a result")]
fn source(text: &str) -> Result<JwksSource, String> {
    Ok(JwksSource::parse(text))
}

impl AuthArgs {
    /// Reads the files.
    pub(crate) fn read(&self) -> anyhow::Result<AuthConfig> {
        let seat_tokens = match &self.seat_token_key {
            Some(file) => {
                let key = key_file::signing(file).map_err(|error| usage(format!("--seat-token-key: {error}")))?;
                let others = public_key_list("--seat-token-public-key", &self.seat_token_public_key)?;
                Some(SeatTokens::new(&key, &others).map_err(|error| usage(error.to_string()))?)
            }
            None => None,
        };
        let open = |file: &PathBuf| CertList::open(file).map_err(|error| usage(format!("--client-certs: {error}")));
        let client_certs = self.client_certs.as_ref().map(open).transpose()?;
        let given = self.jwks.is_some() || seat_tokens.is_some() || client_certs.is_some();
        Ok(AuthConfig {
            required: self.auth.map_or(given, |auth| auth == Auth::Required),
            jwt: self.jwt()?,
            seat_tokens,
            client_certs,
            key_trust: Duration::from_secs(self.api_key_trust_seconds),
            seat_token_ttl_max: Duration::from_secs(self.seat_token_ttl_max_seconds),
        })
    }

    fn jwt(&self) -> anyhow::Result<Option<JwtConfig>> {
        let Some(source) = self.jwks.clone() else { return Ok(None) };
        jwks::check(&source).map_err(|error| usage(format!("--jwks: {error}")))?;
        Ok(Some(JwtConfig {
            source,
            issuer: self.jwt_issuer.clone(),
            audience: self.jwt_audience.clone(),
            leeway: Duration::from_secs(self.jwt_leeway_seconds),
        }))
    }
}
