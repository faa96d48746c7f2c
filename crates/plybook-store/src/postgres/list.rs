//! Pages of games.
//!
//! Invariant: the headers and last entries of a page are looked up for its games alone: each LIMIT keeps
//! its subquery from becoming a join over all books.

use plybook_core::Uuid;

use super::import::FOREIGN_COLUMNS;
use super::{Link, packed};
use crate::error::Error;
use crate::fault::classify;
use crate::page::page;
use crate::row::Columns;
use crate::store::{Filter, State, Summary, TenantId};

pub(super) async fn list(link: &Link, tenant: TenantId, filter: &Filter, before: Option<Uuid>, limit: u32) -> Result<Vec<Summary>, Error> {
    let mut sql = page("JOIN", tenant, filter, before, limit);
    sql.push(
        "SELECT page.id, page.state,
               h.seq AS header_seq, h.line AS header_line, h.digest AS header_digest, h.request_id AS header_request_id,
               l.seq AS last_seq, l.line AS last_line, l.digest AS last_digest, l.request_id AS last_request_id,
               b.seq AS before_seq, b.line AS before_line, b.digest AS before_digest, b.request_id AS before_request_id, ",
    )
    .push(FOREIGN_COLUMNS)
    .push(
        " FROM page
        LEFT JOIN foreign_book f ON f.tenant_id = page.tenant_id AND f.game_id = page.id
        LEFT JOIN LATERAL (SELECT seq, line, digest, request_id FROM book_entry
              WHERE tenant_id = page.tenant_id AND game_id = page.id AND seq = 1 LIMIT 1) h ON true
        LEFT JOIN LATERAL (SELECT seq, line, digest, request_id FROM book_entry
              WHERE tenant_id = page.tenant_id AND game_id = page.id ORDER BY seq DESC LIMIT 1) l ON true
        LEFT JOIN LATERAL (SELECT seq, line, digest, request_id FROM book_entry
              WHERE page.state = 'closed' AND tenant_id = page.tenant_id AND game_id = page.id AND seq = l.seq - 1 LIMIT 1) b ON true
        ORDER BY page.id DESC",
    );
    let rows = link.rows(sql.build()).await.map_err(classify)?;
    let mut list: Vec<Summary> = rows.iter().map(Columns::summary).collect::<Result<_, _>>()?;
    let is_gone = |summary: &Summary| summary.header.is_none() && summary.last.is_none();
    let gone: Vec<Uuid> = list.iter().filter(|summary| is_gone(summary)).map(|summary| summary.game).collect();
    let mut ends = packed::ends(link, tenant, &gone).await?;
    for summary in &mut list {
        let Some(ends) = ends.remove(&summary.game) else { continue };
        summary.before_last = ends.before_last.filter(|_| summary.state == State::Closed);
        (summary.header, summary.last) = (ends.header, ends.last);
    }
    Ok(list)
}
