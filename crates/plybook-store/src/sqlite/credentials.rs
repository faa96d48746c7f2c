//! Tenants and API keys.

use async_trait::async_trait;
use plybook_core::Time;
use sqlx::{query, query_scalar};

use super::Sqlite;
use crate::credentials::{ApiKey, ApiKeyId, Credentials, Tenant};
use crate::error::Error;
use crate::fault::classify;
use crate::row::Columns;
use crate::store::TenantId;

const KEY: &str = "
    SELECT tenant_id, id, name, role, game_id, seat, secret_hash, created_at, expires_at, revoked_at
    FROM api_key WHERE tenant_id = $1 AND id = $2";
const KEYS: &str = "
    SELECT tenant_id, id, name, role, game_id, seat, secret_hash, created_at, expires_at, revoked_at
    FROM api_key WHERE tenant_id = $1 ORDER BY created_at, id";
const NEW_KEY: &str = "
    INSERT INTO api_key (tenant_id, id, name, role, game_id, seat, secret_hash, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
/// One statement of the one writer: nobody comes between the number and its row.
const NEW_TENANT: &str = "INSERT INTO tenant (id, name) SELECT max(id) + 1, $1 FROM tenant WHERE true ON CONFLICT (name) DO NOTHING";

#[async_trait]
impl Credentials for Sqlite {
    async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Error> {
        let found = query_scalar("SELECT id FROM tenant WHERE name = $1").bind(name).fetch_optional(&self.readers).await;
        Ok(found.map_err(classify)?.map(TenantId))
    }

    async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        let rows = query("SELECT id, name FROM tenant ORDER BY id").fetch_all(&self.readers).await.map_err(classify)?;
        rows.iter().map(|row| Ok(Tenant { id: TenantId(row.number("id")?), name: row.text("name")? })).collect()
    }

    async fn create_tenant(&self, name: &str) -> Result<TenantId, Error> {
        let (writer, name) = (self.writer.clone(), name.to_owned());
        self.write(async move {
            query(NEW_TENANT).bind(&name).execute(&writer).await.map_err(classify)?;
            query_scalar("SELECT id FROM tenant WHERE name = $1").bind(&name).fetch_one(&writer).await.map(TenantId).map_err(classify)
        })
        .await
    }

    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<ApiKey>, Error> {
        let row = query(KEY).bind(id.tenant.0).bind(&id.id).fetch_optional(&self.readers).await.map_err(classify)?;
        row.as_ref().map(read).transpose()
    }

    async fn api_keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>, Error> {
        let rows = query(KEYS).bind(tenant.0).fetch_all(&self.readers).await.map_err(classify)?;
        rows.iter().map(read).collect()
    }

    async fn create_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let (writer, key) = (self.writer.clone(), key.clone());
        self.write(async move {
            let question = query(NEW_KEY)
                .bind(key.id.tenant.0)
                .bind(key.id.id)
                .bind(key.name)
                .bind(key.role)
                .bind(key.game)
                .bind(key.seat.map(i32::from))
                .bind(key.secret_hash.to_vec())
                .bind(key.created.to_string())
                .bind(key.expires.map(|at| at.to_string()));
            question.execute(&writer).await.map(drop).map_err(classify)
        })
        .await
    }

    async fn revoke_api_key(&self, id: &ApiKeyId, at: Time) -> Result<bool, Error> {
        let (writer, id) = (self.writer.clone(), id.clone());
        self.write(async move {
            let question = query("UPDATE api_key SET revoked_at = coalesce(revoked_at, $3) WHERE tenant_id = $1 AND id = $2")
                .bind(id.tenant.0)
                .bind(id.id)
                .bind(at.to_string());
            question.execute(&writer).await.map(|done| done.rows_affected() == 1).map_err(classify)
        })
        .await
    }
}

fn read<R: Columns>(row: &R) -> Result<ApiKey, Error> {
    let at = |column: &str| row.text_if_any(column)?.is_some().then(|| row.time_text(column)).transpose();
    row.api_key(row.time_text("created_at")?, at("expires_at")?, at("revoked_at")?)
}
