//! Credentials for calls to a server of this process: its tenants, API keys, an issuer's tokens, tokens for seats.

use std::path::Path;
use std::time::Duration;

use plybook_core::{Seat, Time, Uuid};
use plybook_server::auth::api_key::KeyText;
use plybook_server::auth::config::JwtConfig;
use plybook_server::auth::jwks::JwksSource;
use plybook_server::auth::seat_token::SeatTokens;
use plybook_server::auth::{AuthConfig, Role};
use plybook_server::clock::Clock as _;
use plybook_server::signing::SigningKey;
use plybook_store::{ApiKey, Credentials as _, TenantId};
use serde_json::Value;

use crate::injected::Local;
use crate::issuer::{IssuerKey, claims, jwks};
use crate::wire::{Wire, connect};

/// What the tests' tokens name as their issuer and audience.
pub const ISSUER: &str = "https://id.example";
/// The same.
pub const AUDIENCE: &str = "plybook";

/// The key that mints tokens for seats.
pub fn seat_tokens() -> SeatTokens {
    SeatTokens::new(&SigningKey::from_seed(&[0x5e; 32]).unwrap(), &[]).unwrap()
}

/// API keys and tokens for seats are taken; a revoked key dies almost at once.
pub fn keys_alone() -> AuthConfig {
    AuthConfig { required: true, seat_tokens: Some(seat_tokens()), key_trust: Duration::from_millis(50), ..AuthConfig::default() }
}

/// The same, and tokens of the issuer whose keys stand in this file.
pub fn keys_and_tokens(file: &Path) -> AuthConfig {
    let source = JwksSource::File(file.to_owned());
    let (issuer, audience) = (Some(ISSUER.to_owned()), Some(AUDIENCE.to_owned()));
    AuthConfig { jwt: Some(JwtConfig { source, issuer, audience, leeway: Duration::from_secs(10) }), ..keys_alone() }
}

/// Writes a file of keys, whole or not at all.
pub fn show(file: &Path, keys: &[&IssuerKey]) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, jwks(keys)).unwrap();
    std::fs::rename(beside, file).unwrap();
}

impl Local {
    /// The tenant of this name, made where there is none.
    pub async fn tenant(&self, name: &str) -> TenantId {
        self.store.create_tenant(name).await.unwrap()
    }

    /// Seconds by the server's clock.
    pub fn seconds(&self) -> u64 {
        self.clock.now().unix_ms() / 1_000
    }

    /// An API key that never ends.
    pub async fn api_key(&self, tenant: TenantId, role: Role, name: &str) -> String {
        self.api_key_until(tenant, role, name, None).await
    }

    /// An API key that ends.
    pub async fn api_key_until(&self, tenant: TenantId, role: Role, name: &str, expires: Option<Time>) -> String {
        let key = KeyText::generate(tenant).unwrap();
        let kept = ApiKey {
            id: key.id().clone(),
            name: name.to_owned(),
            role: role.name().to_owned(),
            game: role.game(),
            seat: role.seat().map(|seat| seat.0),
            secret_hash: key.secret_hash(),
            created: self.clock.now(),
            expires,
            revoked: None,
        };
        self.store.create_api_key(&kept).await.unwrap();
        key.reveal()
    }

    /// Revokes an API key.
    pub async fn revokes(&self, key: &str) {
        let id = KeyText::parse(key).unwrap().id().clone();
        assert!(self.store.revoke_api_key(&id, self.clock.now()).await.unwrap());
    }

    /// The service of a tenant, by an API key.
    pub async fn service(&self, tenant: &str) -> Wire {
        let tenant = self.tenant(tenant).await;
        let key = self.api_key(tenant, Role::Service, "svc/rooms").await;
        connect(self.address()).await.bearing(&key)
    }

    /// Claims of this role in this tenant, for ten minutes.
    pub fn claims(&self, tenant: &str, role: &str) -> Value {
        let mut claims = claims(tenant, role, &format!("idp/{role}"), self.seconds());
        (claims["iss"], claims["aud"]) = (ISSUER.into(), AUDIENCE.into());
        claims
    }
}

/// A player at a seat of this game.
pub fn at_seat(game: &str, seat: u8) -> Role {
    Role::Seat { game: game.parse::<Uuid>().unwrap(), seat: Seat(seat) }
}

/// Somebody who watches this game and no other.
pub fn watching(game: &str) -> Role {
    Role::Spectator { game: Some(game.parse::<Uuid>().unwrap()) }
}
