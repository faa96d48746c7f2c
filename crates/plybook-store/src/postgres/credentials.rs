//! Tenants and API keys.
//!
//! Invariant: a server's own role can read them and nothing else; they are made by whoever owns the schema.

use async_trait::async_trait;
use plybook_core::Time;
use sqlx::postgres::PgRow;
use sqlx::query;

use super::Postgres;
use crate::credentials::{ApiKey, ApiKeyId, Credentials, Tenant};
use crate::error::Error;
use crate::fault::classify;
use crate::row::Columns as _;
use crate::store::TenantId;

const KEY: &str = "
    SELECT tenant_id, id, name, role, game_id, seat, secret_hash, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
           (extract(epoch FROM expires_at) * 1000)::bigint AS expires_ms, (extract(epoch FROM revoked_at) * 1000)::bigint AS revoked_ms
    FROM api_key WHERE tenant_id = $1 AND id = $2";
const KEYS: &str = "
    SELECT tenant_id, id, name, role, game_id, seat, secret_hash, (extract(epoch FROM created_at) * 1000)::bigint AS created_ms,
           (extract(epoch FROM expires_at) * 1000)::bigint AS expires_ms, (extract(epoch FROM revoked_at) * 1000)::bigint AS revoked_ms
    FROM api_key WHERE tenant_id = $1 ORDER BY created_at, id";
const NEW_KEY: &str = "
    INSERT INTO api_key (tenant_id, id, name, role, game_id, seat, secret_hash, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, timestamptz 'epoch' + $8::bigint * interval '1 millisecond',
            timestamptz 'epoch' + $9::bigint * interval '1 millisecond')
    RETURNING id";
const REVOKE: &str = "
    UPDATE api_key SET revoked_at = coalesce(revoked_at, timestamptz 'epoch' + $3::bigint * interval '1 millisecond')
    WHERE tenant_id = $1 AND id = $2
    RETURNING id";
/// Two who come at once take the same number, and one of them finds its row in the way and asks again.
const NEW_TENANT: &str = "
    INSERT INTO tenant (id, name) SELECT max(id) + 1, $1 FROM tenant HAVING NOT EXISTS (SELECT 1 FROM tenant WHERE name = $1)
    ON CONFLICT DO NOTHING RETURNING id";
/// How often somebody comes first.
const TRIES: u32 = 32;

#[async_trait]
impl Credentials for Postgres {
    async fn tenant(&self, name: &str) -> Result<Option<TenantId>, Error> {
        let row = self.link.row(query("SELECT id FROM tenant WHERE name = $1").bind(name)).await.map_err(classify)?;
        row.map(|row| row.number("id").map(TenantId)).transpose()
    }

    async fn tenants(&self) -> Result<Vec<Tenant>, Error> {
        let rows = self.link.rows(query("SELECT id, name FROM tenant ORDER BY id")).await.map_err(classify)?;
        rows.iter().map(|row| Ok(Tenant { id: TenantId(row.number("id")?), name: row.text("name")? })).collect()
    }

    async fn create_tenant(&self, name: &str) -> Result<TenantId, Error> {
        for _ in 0..TRIES {
            self.link.row(query(NEW_TENANT).bind(name)).await.map_err(classify)?;
            if let Some(there) = self.tenant(name).await? {
                return Ok(there);
            }
        }
        Err(Error::Unavailable("many make tenants at once".to_owned()))
    }

    async fn api_key(&self, id: &ApiKeyId) -> Result<Option<ApiKey>, Error> {
        let row = self.link.row(query(KEY).bind(id.tenant.0).bind(&id.id)).await.map_err(classify)?;
        row.as_ref().map(read).transpose()
    }

    async fn api_keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>, Error> {
        let rows = self.link.rows(query(KEYS).bind(tenant.0)).await.map_err(classify)?;
        rows.iter().map(read).collect()
    }

    async fn create_api_key(&self, key: &ApiKey) -> Result<(), Error> {
        let question = query(NEW_KEY)
            .bind(key.id.tenant.0)
            .bind(&key.id.id)
            .bind(&key.name)
            .bind(&key.role)
            .bind(key.game)
            .bind(key.seat.map(i32::from))
            .bind(key.secret_hash.to_vec())
            .bind(key.created.unix_ms().cast_signed())
            .bind(key.expires.map(|at| at.unix_ms().cast_signed()));
        self.link.row(question).await.map(drop).map_err(classify)
    }

    async fn revoke_api_key(&self, id: &ApiKeyId, at: Time) -> Result<bool, Error> {
        let question = query(REVOKE).bind(id.tenant.0).bind(&id.id).bind(at.unix_ms().cast_signed());
        self.link.row(question).await.map(|row| row.is_some()).map_err(classify)
    }
}

fn read(row: &PgRow) -> Result<ApiKey, Error> {
    let at = |column: &str| row.wide_if_any(column).map(|ms| ms.map(|ms| Time::from_unix_ms(ms.max(0).cast_unsigned())));
    row.api_key(row.time_ms("created_ms")?, at("expires_ms")?, at("revoked_ms")?)
}
