//! A test over each store.

use crate::injected::{Local, over_postgres, over_sqlite};
use crate::postgres;

/// Runs it with a server over SQLite, and with one over Postgres.
pub async fn on_both(test: impl AsyncFn(&Local)) {
    let local = over_sqlite().await.start().await;
    test(&local).await;
    let database = postgres::database().await;
    let local = over_postgres(&database).await.start().await;
    test(&local).await;
}
