//! The schema of this build, embedded, and whether a database has it.
//!
//! Invariant: a migration that was released never changes; a later one is added at the end.

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use crate::error::Error;
use crate::fault::classify;

/// Number, name and text of each migration, ascending.
type Script = (i64, &'static str, &'static str);

pub(crate) const POSTGRES: &[Script] = &[(1, "books", include_str!("../../../migrations/postgres/0001_books.sql"))];
pub(crate) const SQLITE: &[Script] = &[(1, "books", include_str!("../../../migrations/sqlite/0001_books.sql"))];

/// What brings a database up to these scripts, each in its own transaction, one process at a time.
pub(crate) fn migrator(scripts: &'static [Script]) -> Migrator {
    let migration =
        |&(version, name, text): &Script| Migration::new(version, name.into(), MigrationType::Simple, text.into_sql_str(), false);
    Migrator::with_migrations(scripts.iter().map(migration).collect())
}

/// Says in a sentence why a schema that is at `found` does not serve this build.
pub(crate) fn check(scripts: &'static [Script], found: Option<i64>) -> Result<(), Error> {
    let wanted = scripts.iter().map(|script| script.0).max().unwrap_or(0);
    match found {
        Some(found) if found == wanted => Ok(()),
        Some(found) if found > wanted => {
            Err(Error::Config(format!("the database's schema {found} is newer than schema {wanted} of this plybook: use a newer plybook")))
        }
        Some(found) => Err(Error::Config(format!(
            "the database's schema {found} is older than schema {wanted} of this plybook: run `plybook migrate`"
        ))),
        None => Err(Error::Config("the database has no Plybook schema: run `plybook migrate`".to_owned())),
    }
}

/// A sentence for each way in which a migration is refused.
pub(crate) fn refused(error: MigrateError) -> Error {
    match error {
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => classify(error),
        MigrateError::VersionMissing(version) => {
            Error::Config(format!("the database's schema {version} is newer than this plybook knows: use a newer plybook"))
        }
        MigrateError::VersionMismatch(version) => {
            Error::Config(format!("the database was brought to schema {version} by another plybook: its migration differs from this one's"))
        }
        other => Error::Failed(other.to_string()),
    }
}
