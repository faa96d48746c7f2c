//! Who sent a request.
//!
//! Invariants: where authentication is on, a caller comes out of a credential that holds now, or not at all; a token that was
//! checked costs no second check while it and the keys are the same, and no look into the database.

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{Extensions, HeaderMap};
use jsonwebtoken::decode_header;
use moka::future::Cache;
use plybook_core::header::Principal;
use plybook_core::{Seat, Time};
use plybook_store::{Store, TenantId};
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::api_key::{self, KeyText};
use super::cert_list::CertList;
use super::jwks::Jwks;
use super::jwt::Tokens;
use super::records::Records;
use super::seat_token::{self, SeatTokens};
use super::tenure::Tenure;
use super::{AuthConfig, Caller, PeerIdentity, Role, principal};
use crate::clock::Clock;
use crate::limits::{BEARER_BYTES_MAX, TOKEN_IDLE, TOKENS_REMEMBERED};
use crate::refusal::Refusal;
use crate::server::ServeError;

/// Reads credentials.
pub struct Authenticator {
    /// Everybody, where authentication is off.
    anonymous: Option<Caller>,
    clock: Arc<dyn Clock>,
    records: Arc<Records>,
    tokens: Option<Tokens>,
    seats: Option<SeatTokens>,
    certs: Option<CertList>,
    /// By their hash: whoever reads this node's memory finds none.
    held: Cache<[u8; 32], Held>,
}

/// A token that was checked.
#[derive(Clone)]
struct Held {
    tenant: TenantId,
    principal: Principal,
    role: Role,
    until: Time,
    /// Of the issuer's keys, where it is an issuer's.
    generation: Option<u64>,
}

impl Authenticator {
    /// As an operator set it.
    pub async fn start(config: &AuthConfig, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Result<Authenticator, ServeError> {
        let nameless = |_| crate::config::ConfigError("the principal's name is not one".to_owned());
        let anonymous = (!config.is_on()).then(Caller::anonymous).transpose().map_err(nameless)?;
        let tokens = match &config.jwt {
            Some(jwt) => Some(Tokens::new(jwt.clone(), Arc::new(Jwks::open(&jwt.source).await?))),
            None => None,
        };
        Ok(Authenticator {
            anonymous,
            clock,
            records: Arc::new(Records::new(store, config.key_trust)),
            tokens,
            seats: config.seat_tokens.clone(),
            certs: config.client_certs.clone(),
            held: Cache::builder().max_capacity(TOKENS_REMEMBERED).time_to_idle(TOKEN_IDLE).build(),
        })
    }

    /// What goes on beside calls: keys and the list of certificates are looked at again.
    pub fn background(&self) -> Vec<JoinHandle<()>> {
        if self.anonymous.is_some() {
            return Vec::new();
        }
        let keys = self.tokens.as_ref().map(|tokens| tokio::spawn(Arc::clone(tokens.keys()).follow()));
        let certs = self.certs.clone().map(|certs| tokio::spawn(certs.follow()));
        keys.into_iter().chain(certs).chain([tokio::spawn(Arc::clone(&self.records).watch())]).collect()
    }

    /// The caller where it is known without looking at anything.
    pub const fn everybody(&self) -> Option<&Caller> {
        self.anonymous.as_ref()
    }

    /// Who sent a request with these headers, over a connection that has put in these extensions. A token counts for more
    /// than the connection's certificate: it was put into this very request.
    pub async fn caller(&self, headers: &HeaderMap, extensions: &Extensions) -> Result<Caller, Refusal> {
        match bearer(headers)? {
            Some(text) if text.starts_with(api_key::PREFIX) => Ok(self.by_api_key(text).await?.bearing(text)),
            Some(text) => Ok(self.by_token(text).await?.bearing(text)),
            None => match (&self.certs, extensions.get::<PeerIdentity>()) {
                (Some(certs), Some(peer)) => self.by_certificate(certs, peer).await,
                _ => Err(Refusal::CredentialsMissing),
            },
        }
    }

    async fn by_api_key(&self, text: &str) -> Result<Caller, Refusal> {
        // The same words for a key that is made up, wrong, revoked or over: whoever tries keys learns nothing.
        let none = || refuse("the API key is none that holds");
        let text = KeyText::parse(text).ok_or_else(none)?;
        let found = self.records.api_key(text.id()).await?.ok_or_else(none)?;
        let (key, now) = (&found.key, self.clock.now());
        if !text.is(key) || key.revoked.is_some() || key.expires.is_some_and(|end| now >= end) {
            return Err(none());
        }
        let broken = |why: &str| Refusal::internal(format!("the API key {} {why}", api_key::print_id(&key.id)));
        let role = Role::read(&key.role, key.game, key.seat.map(Seat)).map_err(broken)?;
        let principal = principal::of_caller(&key.name).map_err(broken)?;
        let until = key.expires.map(|end| instant(now, end));
        let tenure = Tenure { until, revoked: Some(Arc::clone(&found.revoked)) };
        Ok(Caller { tenant: key.id.tenant, principal, role, tenure, bearer: None })
    }

    async fn by_token(&self, text: &str) -> Result<Caller, Refusal> {
        let (hash, now): ([u8; 32], Time) = (Sha256::digest(text).into(), self.clock.now());
        if let Some(held) = self.held.get(&hash).await.filter(|held| self.still_holds(held, now)) {
            return Ok(held.caller(now));
        }
        let held = self.check(text, now).await?;
        self.held.insert(hash, held.clone()).await;
        Ok(held.caller(now))
    }

    fn still_holds(&self, held: &Held, now: Time) -> bool {
        let generation = self.tokens.as_ref().map(|tokens| tokens.keys().generation());
        now < held.until && (held.generation.is_none() || held.generation == generation)
    }

    async fn check(&self, text: &str, now: Time) -> Result<Held, Refusal> {
        let header = decode_header(text).map_err(|_| refuse("it is no token that can be read"))?;
        if header.typ.as_deref() == Some(seat_token::TYPE) {
            let seats = self.seats.as_ref().ok_or_else(|| refuse("this node takes no tokens for seats"))?;
            let seated = seats.check(text, &header, now).map_err(refuse)?;
            let principal = seated.principal()?;
            return Ok(Held { tenant: seated.tenant, principal, role: seated.role, until: seated.until, generation: None });
        }
        let tokens = self.tokens.as_ref().ok_or_else(|| refuse("this node takes no tokens of an issuer"))?;
        let (claimed, generation) = tokens.check(text, &header, now).await?;
        let tenant = self.records.tenant(&claimed.tenant).await?.ok_or_else(|| refuse("its tenant is none of this server's"))?;
        Ok(Held { tenant, principal: claimed.principal, role: claimed.role, until: claimed.until, generation: Some(generation) })
    }

    async fn by_certificate(&self, certs: &CertList, peer: &PeerIdentity) -> Result<Caller, Refusal> {
        let (holder, revoked) = certs.holder(peer).ok_or_else(|| refuse("the client certificate stands for nobody"))?;
        let tenant = self.records.tenant(&holder.tenant).await?;
        let tenant = tenant.ok_or_else(|| refuse("the client certificate's tenant is none of this server's"))?;
        let tenure = Tenure { until: None, revoked: Some(revoked) };
        Ok(Caller { tenant, principal: holder.principal, role: holder.role, tenure, bearer: None })
    }
}

impl Held {
    fn caller(self, now: Time) -> Caller {
        let tenure = Tenure { until: Some(instant(now, self.until)), revoked: None };
        Caller { tenant: self.tenant, principal: self.principal, role: self.role, tenure, bearer: None }
    }
}

/// What a request bears, if anything.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(refuse("there is more than one"));
    }
    if value.len() > BEARER_BYTES_MAX {
        return Err(refuse("it is too long"));
    }
    let (scheme, text) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(|| refuse("it is no bearer's"))?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(Some(text.trim())) } else { Err(refuse("it is no bearer's")) }
}

const fn refuse(why: &'static str) -> Refusal {
    Refusal::CredentialsInvalid { why }
}

/// A time of the service's clock by this process's own.
fn instant(now: Time, then: Time) -> Instant {
    // Farther off than any stream lives.
    const FAR: u64 = 10 * 365 * 24 * 3600 * 1_000;
    Instant::now() + Duration::from_millis(then.unix_ms().saturating_sub(now.unix_ms()).min(FAR))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn one_bearer_is_read_and_nothing_else() {
        let read = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            values.iter().for_each(|value| {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            });
            bearer(&headers).map(|text| text.map(str::to_owned))
        };
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&["Bearer abc"]).unwrap().as_deref(), Some("abc"));
        assert_eq!(read(&["bearer abc"]).unwrap().as_deref(), Some("abc"));
        for wrong in [&["Basic YTpi"][..], &["Bearer"], &["abc"], &["Bearer a", "Bearer b"], &[""]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert!(read(&[&format!("Bearer {}", "a".repeat(BEARER_BYTES_MAX))]).is_err());
    }
}
