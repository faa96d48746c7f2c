//! Tokens that the service mints for players' own clients and for watchers.
//!
//! Invariants: a token is bound to a tenant, a game and a seat, and ends soon; every node that has the key checks it without
//! asking anybody; its type stands in its header, so that it is never taken for an issuer's token, nor one of those for it.

use std::fmt;
use std::time::Duration;

use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, encode};
use plybook_core::receipt::PublicKey;
use plybook_core::{Seat, Time};
use plybook_store::TenantId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Role, jwt, principal};
use crate::config::ConfigError;
use crate::refusal::Refusal;
use crate::signing::SigningKey;

/// The type in the header of these tokens.
pub const TYPE: &str = "plybook-seat+jwt";

const ISSUER: &str = "plybook";

/// The claims of such a token.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    iss: String,
    /// The tenant's number.
    tenant: i32,
    role: String,
    game: Uuid,
    seat: Option<u8>,
    /// Seconds.
    iat: u64,
    exp: u64,
}

/// What a token comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seated {
    /// Whose game it is.
    pub tenant: TenantId,
    /// A seat or a spectator of the game.
    pub role: Role,
    /// From when on it does not hold any more.
    pub until: Time,
}

/// A token that was minted.
pub struct Minted {
    /// The token.
    pub token: String,
    /// From when on it does not hold any more.
    pub until: Time,
}

/// Mints and checks tokens.
#[derive(Clone)]
pub struct SeatTokens {
    kid: String,
    mints: EncodingKey,
    /// By their names: its own, and those of before or after it.
    checks: Vec<(String, DecodingKey)>,
}

impl fmt::Debug for SeatTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeatTokens({}, hidden)", self.kid)
    }
}

impl SeatTokens {
    /// With a key to mint by, and public ones of other nodes whose tokens are taken as well.
    pub fn new(key: &SigningKey, others: &[PublicKey]) -> Result<SeatTokens, ConfigError> {
        let der = key.dalek().to_pkcs8_der().map_err(|error| ConfigError(format!("the key of seat tokens: {error}")))?;
        let own = key.public();
        let check = |key: &PublicKey| (key.id().to_string(), DecodingKey::from_ed_der(&key.bytes()));
        let checks = std::iter::once(own).chain(others).map(check).collect();
        Ok(SeatTokens { kid: own.id().to_string(), mints: EncodingKey::from_ed_der(der.as_bytes()), checks })
    }

    /// A token for whoever has this role in a game of this tenant.
    pub fn mint(&self, tenant: TenantId, role: Role, now: Time, ttl: Duration) -> Result<Minted, Refusal> {
        let game = role.game().ok_or_else(|| Refusal::internal("a token for no game"))?;
        let iat = now.unix_ms() / 1_000;
        let exp = iat.saturating_add(ttl.as_secs());
        let claims = Claims {
            iss: ISSUER.to_owned(),
            tenant: tenant.0,
            role: role.name().to_owned(),
            game,
            seat: role.seat().map(|seat| seat.0),
            iat,
            exp,
        };
        let header = Header { typ: Some(TYPE.to_owned()), kid: Some(self.kid.clone()), ..Header::new(Algorithm::EdDSA) };
        let token = encode(&header, &claims, &self.mints).map_err(|error| Refusal::internal(format!("a token is not minted: {error}")))?;
        Ok(Minted { token, until: Time::from_unix_ms(exp.saturating_mul(1_000)) })
    }

    /// What a token whose header names this type and key comes to now.
    pub fn check(&self, token: &str, header: &Header, now: Time) -> Result<Seated, &'static str> {
        if header.alg != Algorithm::EdDSA {
            return Err("its algorithm is not EdDSA");
        }
        let key = self.checks.iter().find(|(kid, _)| header.kid.as_ref() == Some(kid)).ok_or("its key is none of this server's")?;
        let claims: Claims = jwt::checked(token, &key.1, &jwt::untimed(Algorithm::EdDSA))?;
        if claims.iss != ISSUER {
            return Err("its issuer is another one");
        }
        let until = Time::from_unix_ms(claims.exp.saturating_mul(1_000));
        if now >= until {
            return Err("it has expired");
        }
        let role = Role::read(&claims.role, Some(claims.game), claims.seat.map(Seat))?;
        Ok(Seated { tenant: TenantId(claims.tenant), role, until })
    }
}

impl Seated {
    /// The name that stands in books.
    pub fn principal(&self) -> Result<plybook_core::header::Principal, Refusal> {
        let name = match self.role.seat() {
            Some(seat) => principal::of_seat(seat),
            None => principal::of_spectator(),
        };
        name.ok_or_else(|| Refusal::internal("the principal's name is not one"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jsonwebtoken::decode_header;

    use super::*;

    const NOW: Time = Time::from_unix_ms(1_700_000_000_500);

    fn tokens(seed: u8, others: &[PublicKey]) -> SeatTokens {
        SeatTokens::new(&SigningKey::from_seed(&[seed; 32]).unwrap(), others).unwrap()
    }

    fn check(tokens: &SeatTokens, token: &str, now: Time) -> Result<Seated, &'static str> {
        tokens.check(token, &decode_header(token).unwrap(), now)
    }

    #[test]
    fn a_token_is_what_it_was_minted_for_until_it_ends() {
        let role = Role::Seat { game: Uuid::from_u128(9), seat: Seat(3) };
        let tokens = tokens(1, &[]);
        let minted = tokens.mint(TenantId(5), role, NOW, Duration::from_secs(60)).unwrap();
        let seated = check(&tokens, &minted.token, NOW).unwrap();
        assert_eq!(seated, Seated { tenant: TenantId(5), role, until: minted.until });
        assert_eq!(seated.principal().unwrap().as_str(), "seat/3");
        let before = Time::from_unix_ms(minted.until.unix_ms() - 1);
        assert!(check(&tokens, &minted.token, before).is_ok());
        assert_eq!(check(&tokens, &minted.token, minted.until), Err("it has expired"));
    }

    #[test]
    fn another_key_mints_for_itself_alone_unless_it_is_known() {
        let role = Role::Spectator { game: Some(Uuid::from_u128(9)) };
        let theirs = tokens(2, &[]).mint(TenantId(5), role, NOW, Duration::from_secs(60)).unwrap();
        assert!(check(&tokens(1, &[]), &theirs.token, NOW).is_err());
        let known = *SigningKey::from_seed(&[2; 32]).unwrap().public();
        assert_eq!(check(&tokens(1, &[known]), &theirs.token, NOW).unwrap().role, role);
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_none() {
        let tokens = tokens(1, &[]);
        let role = Role::Seat { game: Uuid::from_u128(9), seat: Seat(0) };
        let minted = tokens.mint(TenantId(5), role, NOW, Duration::from_secs(60)).unwrap();
        for at in 0..minted.token.len() {
            let mut bytes = minted.token.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            let held = decode_header(&changed).ok().and_then(|header| tokens.check(&changed, &header, NOW).ok());
            // The last digit of a signature has bits that mean nothing; whoever changes those changes nothing.
            assert!(held.is_none() || held.is_some_and(|held| held.role == role && at + 1 == minted.token.len()), "{at}");
        }
    }
}
