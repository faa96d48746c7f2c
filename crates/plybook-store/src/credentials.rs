//! Tenants, and the API keys that are kept of them.
//!
//! Invariant: of a key's secret only a hash comes in and goes out; a key is found under its own tenant or not at all.

use async_trait::async_trait;
use plybook_core::{Time, Uuid};

use crate::error::Error;
use crate::store::TenantId;

/// Longest name of a tenant, in bytes.
pub const TENANT_NAME_BYTES_MAX: usize = 64;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its number.
    pub id: TenantId,
    /// Its name, which credentials give.
    pub name: String,
}

/// Under what an API key is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ApiKeyId {
    /// Whose.
    pub tenant: TenantId,
    /// Which: 16 hexadecimal digits.
    pub id: String,
}

/// An API key as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// Which.
    pub id: ApiKeyId,
    /// The principal that it gives its holder.
    pub name: String,
    /// The role that it gives its holder.
    pub role: String,
    /// The only game that it is for, where it is one.
    pub game: Option<Uuid>,
    /// The only seat that it is for, where it is one.
    pub seat: Option<u8>,
    /// SHA-256 of its secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created: Time,
    /// From when on it does not hold any more.
    pub expires: Option<Time>,
    /// When it was revoked.
    pub revoked: Option<Time>,
}

/// Where tenants and API keys are kept.
#[async_trait]
pub trait Credentials: Send + Sync + 'static {
    /// The tenant of this name.
    async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Error>;

    /// Every tenant, by number.
    async fn tenants(&self) -> Result<Vec<Tenant>, Error>;

    /// Makes a tenant, or finds the one that has the name. A number is never given again.
    async fn create_tenant(&self, name: &str) -> Result<TenantId, Error>;

    /// The API key of this id, also one that does not hold any more.
    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<ApiKey>, Error>;

    /// The API keys of a tenant, the oldest first.
    async fn api_keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>, Error>;

    /// Keeps a new API key of a tenant that is there.
    async fn create_api_key(&self, key: &ApiKey) -> Result<(), Error>;

    /// Revokes an API key, for ever; whether there is such a key. The first time is the one that stays.
    async fn revoke_api_key(&self, id: &ApiKeyId, at: Time) -> Result<bool, Error>;
}
