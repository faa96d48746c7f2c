//! Tenants and API keys of a store whose calls are counted, and go wrong on demand.

use async_trait::async_trait;
use plybook_core::Time;
use plybook_store::{ApiKey, ApiKeyId, Credentials, Error, Tenant, TenantId};

use super::{Call, Handled};

#[async_trait]
impl Credentials for Handled {
    async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Error> {
        self.through(Call::Credentials, self.inner().tenant(name)).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        self.through(Call::Credentials, self.inner().tenants()).await
    }

    async fn create_tenant(&self, name: &str) -> Result<TenantId, Error> {
        self.through(Call::Credentials, self.inner().create_tenant(name)).await
    }

    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<ApiKey>, Error> {
        self.through(Call::Credentials, self.inner().api_key(id)).await
    }

    async fn api_keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>, Error> {
        self.through(Call::Credentials, self.inner().api_keys(tenant)).await
    }

    async fn create_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        self.through(Call::Credentials, self.inner().create_api_key(key)).await
    }

    async fn revoke_api_key(&self, id: &ApiKeyId, at: Time) -> Result<bool, Error> {
        self.through(Call::Credentials, self.inner().revoke_api_key(id, at)).await
    }
}
