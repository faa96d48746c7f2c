//! Tenants and API keys of a store whose answers are timed.

use async_trait::async_trait;
use plybook_core::Time;
use plybook_store::{ApiKey, ApiKeyId, Credentials, Error, Tenant, TenantId};

use super::Timed;

#[async_trait]
impl Credentials for Timed {
    async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Error> {
        self.timed("tenant", self.inner.tenant(name)).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        self.timed("tenants", self.inner.tenants()).await
    }

    async fn create_tenant(&self, name: &str) -> Result<TenantId, Error> {
        self.timed("create_tenant", self.inner.create_tenant(name)).await
    }

    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<ApiKey>, Error> {
        self.timed("api_key", self.inner.api_key(id)).await
    }

    async fn api_keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>, Error> {
        self.timed("api_keys", self.inner.api_keys(tenant)).await
    }

    async fn create_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        self.timed("create_api_key", self.inner.create_api_key(key)).await
    }

    async fn revoke_api_key(&self, id: &ApiKeyId, at: Time) -> Result<bool, Error> {
        self.timed("revoke_api_key", self.inner.revoke_api_key(id, at)).await
    }
}
