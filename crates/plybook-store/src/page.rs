//! Which games a page of a list has, as SQL that both databases read.
//!
//! Invariant: a page costs what it holds, not what the tenant owns: each filter leads through an index
//! in the order of the ids. The text depends on which filters there are, so that each combination gets
//! a plan of its own.

use plybook_core::Uuid;
use sqlx::{Database, Encode, QueryBuilder, Type};

use crate::row::state_column;
use crate::store::{Filter, TenantId};

/// `WITH page AS (…)`: tenant, id and state of the page's games. `join` is how the database must be
/// told to go from a player to the player's games.
pub(crate) fn page<DB: Database>(join: &str, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> QueryBuilder<DB>
where
    for<'q> String: Encode<'q, DB> + Type<DB>,
    for<'q> &'static str: Encode<'q, DB> + Type<DB>,
    for<'q> Uuid: Encode<'q, DB> + Type<DB>,
    for<'q> i32: Encode<'q, DB> + Type<DB>,
    for<'q> i64: Encode<'q, DB> + Type<DB>,
{
    let mut sql = QueryBuilder::new("WITH page AS (SELECT g.tenant_id, g.id, g.state FROM ");
    let id = if let Some(player) = &filter.player {
        sql.push("game_player p ")
            .push(join)
            .push(" game g ON g.tenant_id = p.tenant_id AND g.id = p.game_id WHERE p.player = ")
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
    sql.push(" ORDER BY ").push(id).push(" DESC LIMIT ").push_bind(i64::from(limit)).push(")");
    sql
}
