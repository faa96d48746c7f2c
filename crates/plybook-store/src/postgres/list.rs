//! Pages of games.
//!
//! Invariant: a page costs what it holds, not what the tenant owns: each filter leads through an index
//! in the order of the ids.

use plybook_core::Uuid;
use sqlx::QueryBuilder;

use super::Link;
use crate::error::Error;
use crate::fault::classify;
use crate::row::{Columns, state_column};
use crate::store::{Filter, Summary, TenantId};

pub(super) async fn list(link: &Link, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
    let rows = link.rows(page(tenant, filter, before, limit).build()).await.map_err(classify)?;
    rows.iter().map(Columns::summary).collect()
}

/// The text depends on which filters there are, so that each combination gets a plan of its own.
fn page(tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> QueryBuilder<sqlx::Postgres> {
    let mut sql = QueryBuilder::new("WITH page AS (SELECT g.tenant_id, g.id, g.state FROM ");
    let id = if let Some(player) = &filter.player {
        sql.push("game_player p JOIN game g ON g.tenant_id = p.tenant_id AND g.id = p.game_id WHERE p.player = ")
            .push_bind(player.clone())
            .push(" AND p.tenant_id = ")
            .push_bind(tenant.0);
        "p.game_id"
    } else {
        sql.push("game g WHERE g.tenant_id = ").push_bind(tenant.0);
        "g.id"
    };
    if let Some(ruleset) = &filter.ruleset {
        sql.push(" AND g.ruleset = ").push_bind(ruleset.clone());
    }
    if let Some(state) = filter.state {
        sql.push(" AND g.state = ").push_bind(state_column(state));
    }
    if let Some(before) = before {
        sql.push(" AND ").push(id).push(" < ").push_bind(before);
    }
    sql.push(" ORDER BY ").push(id).push(" DESC LIMIT ").push_bind(i64::from(limit));
    sql.push(
        ")
        SELECT page.id, page.state,
               h.seq AS header_seq, h.line AS header_line, h.digest AS header_digest, h.request_id AS header_request_id,
               l.seq AS last_seq, l.line AS last_line, l.digest AS last_digest, l.request_id AS last_request_id
        FROM page
        LEFT JOIN LATERAL (SELECT seq, line, digest, request_id FROM book_entry
              WHERE tenant_id = page.tenant_id AND game_id = page.id AND seq = 1) h ON true
        LEFT JOIN LATERAL (SELECT seq, line, digest, request_id FROM book_entry
              WHERE tenant_id = page.tenant_id AND game_id = page.id ORDER BY seq DESC LIMIT 1) l ON true
        ORDER BY page.id DESC",
    );
    sql
}
