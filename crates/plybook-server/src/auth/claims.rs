//! What a token of an issuer says of its holder.
//!
//! Invariant: nothing is taken for granted: tenant, role and end are in the token, or it is none.

use plybook_core::header::Principal;
use plybook_core::{Seat, Time};
use serde::Deserialize;
use serde_json::Number;
use uuid::Uuid;

use super::{Role, principal};

/// What scopes of ours begin with: `plybook:service`.
const SCOPE: &str = "plybook:";

/// The claims that are read; whatever else is in a token is nobody's here.
#[derive(Debug, Deserialize)]
pub struct Claims {
    sub: Option<String>,
    exp: Option<Number>,
    nbf: Option<Number>,
    tenant: Option<String>,
    plybook_role: Option<String>,
    scope: Option<String>,
    game: Option<String>,
    seat: Option<u8>,
}

/// What they come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The tenant's name.
    pub tenant: String,
    /// The name that will stand in books.
    pub principal: Principal,
    /// As what they call.
    pub role: Role,
    /// From when on the token does not hold any more, the leeway included.
    pub until: Time,
}

impl Claims {
    /// What they come to now.
    pub fn read(self, now: Time, leeway_ms: u64) -> Result<Claimed, &'static str> {
        let exp = self.exp.as_ref().ok_or("the claim exp is missing")?;
        let until = Time::from_unix_ms(ms(exp).ok_or("the claim exp is no time")?.saturating_add(leeway_ms));
        if now >= until {
            return Err("it has expired");
        }
        if let Some(nbf) = &self.nbf {
            let from = ms(nbf).ok_or("the claim nbf is no time")?;
            if now.unix_ms().saturating_add(leeway_ms) < from {
                return Err("it does not hold yet");
            }
        }
        let tenant = self.tenant.filter(|name| !name.is_empty()).ok_or("the claim tenant is missing")?;
        let sub = self.sub.ok_or("the claim sub is missing")?;
        let principal = principal::of_caller(&sub).map_err(|_| "the claim sub is no name that a book takes")?;
        let game = self.game.as_deref().map(Uuid::try_parse).transpose().map_err(|_| "the claim game is no UUID")?;
        let role = role(self.plybook_role.as_deref(), self.scope.as_deref())?;
        let role = Role::read(role, game, self.seat.map(Seat))?;
        Ok(Claimed { tenant, principal, role, until })
    }
}

/// The one role that a token names, however often: whichever of two was taken, its issuer may have meant the other.
fn role<'a>(claim: Option<&'a str>, scope: Option<&'a str>) -> Result<&'a str, &'static str> {
    let scopes = scope.unwrap_or_default().split(' ').filter_map(|scope| scope.strip_prefix(SCOPE));
    let mut named = claim.into_iter().chain(scopes);
    let first = named.next().ok_or("it names no role: a claim plybook_role, or a scope plybook:<role>, is required")?;
    if named.all(|role| role == first) { Ok(first) } else { Err("it names more than one role") }
}

/// Seconds, perhaps with a fraction, as milliseconds.
fn ms(seconds: &Number) -> Option<u64> {
    if let Some(whole) = seconds.as_u64() {
        return whole.checked_mul(1_000);
    }
    seconds.as_f64().filter(|seconds| (0.0..1e15).contains(seconds)).map(|seconds| (seconds * 1_000.0) as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    const NOW: Time = Time::from_unix_ms(1_000_000);

    fn read(change: impl FnOnce(&mut Value)) -> Result<Claimed, &'static str> {
        let mut claims = json!({"sub": "svc/rooms", "exp": 1_060, "tenant": "shop", "plybook_role": "service"});
        change(&mut claims);
        serde_json::from_value::<Claims>(claims).unwrap().read(NOW, 5_000)
    }

    #[test]
    fn a_token_holds_from_its_beginning_to_its_end_and_the_leeway() {
        for (claim, value, holds) in [
            ("exp", json!(1_060), true),
            ("exp", json!(1_000.5), true),
            ("exp", json!(996), true),
            ("exp", json!(995), false),
            ("exp", json!(0), false),
            ("exp", json!(-1), false),
            ("exp", json!(1e300), false),
            ("exp", Value::Null, false),
            ("nbf", json!(1_000), true),
            ("nbf", json!(1_005), true),
            ("nbf", json!(1_006), false),
            ("nbf", json!(-7), false),
        ] {
            assert_eq!(read(|claims| claims[claim] = value.clone()).is_ok(), holds, "{claim} {value}");
        }
    }

    #[test]
    fn a_token_without_tenant_subject_or_role_is_none() {
        for claim in ["sub", "exp", "tenant", "plybook_role"] {
            assert!(read(|claims| claims[claim] = Value::Null).is_err(), "{claim}");
        }
        assert!(read(|claims| claims["tenant"] = json!("")).is_err());
        assert!(read(|claims| claims["sub"] = json!("plybook/bot")).is_err());
        assert!(read(|claims| claims["plybook_role"] = json!("root")).is_err());
    }

    #[test]
    fn a_scope_names_one_role() {
        let scoped = |scope: &str| {
            read(|claims| {
                claims["plybook_role"] = Value::Null;
                claims["scope"] = json!(scope);
            })
        };
        assert_eq!(scoped("openid plybook:auditor").unwrap().role, Role::Auditor);
        assert!(scoped("openid").is_err());
        assert!(scoped("plybook:auditor plybook:service").is_err());
    }

    #[test]
    fn a_claim_and_a_scope_name_the_same_role() {
        let both = |role: &str, scope: &str| {
            read(|claims| {
                claims["plybook_role"] = json!(role);
                claims["scope"] = json!(scope);
            })
        };
        assert_eq!(both("service", "openid plybook:service").unwrap().role, Role::Service);
        assert_eq!(both("auditor", "plybook:auditor plybook:auditor").unwrap().role, Role::Auditor);
        for scope in ["plybook:auditor", "plybook:service plybook:auditor", "plybook:"] {
            assert_eq!(both("service", scope), Err("it names more than one role"), "{scope}");
        }
    }

    #[test]
    fn a_seat_has_a_game_and_no_other_role_has_more_than_it_may() {
        let game = Uuid::from_u128(7);
        let bound = |role: &str, game: Value, seat: Value| {
            read(|claims| {
                claims["plybook_role"] = json!(role);
                claims["game"] = game;
                claims["seat"] = seat;
            })
        };
        let id = || json!(game.to_string());
        assert_eq!(bound("seat", id(), json!(1)).unwrap().role, Role::Seat { game, seat: Seat(1) });
        assert_eq!(bound("spectator", id(), Value::Null).unwrap().role, Role::Spectator { game: Some(game) });
        assert_eq!(bound("spectator", Value::Null, Value::Null).unwrap().role, Role::Spectator { game: None });
        for (role, game, seat) in [
            ("seat", Value::Null, json!(1)),
            ("seat", id(), Value::Null),
            ("seat", json!("seven"), json!(1)),
            ("spectator", id(), json!(1)),
            ("service", id(), Value::Null),
            ("auditor", Value::Null, json!(1)),
        ] {
            assert!(bound(role, game, seat).is_err(), "{role}");
        }
    }
}
