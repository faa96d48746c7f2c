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

/// The oldest schema whose books this build can read: what reads them names no column that came later.
const OLDEST_READ: i64 = 1;

/// Says in a sentence why a schema that is at `found` does not serve this build.
pub(crate) fn check(scripts: &'static [Script], found: Option<i64>) -> Result<(), Error> {
    let wanted = newest(scripts);
    check_from(wanted, wanted, found)
}

/// The same, for a build that only reads books.
pub(crate) fn check_read(scripts: &'static [Script], found: Option<i64>) -> Result<(), Error> {
    check_from(OLDEST_READ, newest(scripts), found)
}

fn newest(scripts: &[Script]) -> i64 {
    scripts.iter().map(|script| script.0).max().unwrap_or(0)
}

fn check_from(oldest: i64, wanted: i64, found: Option<i64>) -> Result<(), Error> {
    match found {
        Some(found) if (oldest..=wanted).contains(&found) => Ok(()),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    /// A build of after this one: whoever only reads books takes what it still can, whoever serves does not.
    #[test]
    fn an_older_schema_is_read_and_not_served() {
        const LATER: &[Script] = &[(1, "books", ""), (2, "more", ""), (3, "yet more", "")];
        for (found, serves, reads) in [
            (None, false, false),
            (Some(0), false, false),
            (Some(1), false, true),
            (Some(2), false, true),
            (Some(3), true, true),
            (Some(4), false, false),
        ] {
            assert_eq!(check(LATER, found).is_ok(), serves, "{found:?}");
            assert_eq!(check_read(LATER, found).is_ok(), reads, "{found:?}");
        }
        assert!(check(LATER, Some(2)).unwrap_err().to_string().contains("plybook migrate"));
        assert!(check_read(LATER, Some(4)).unwrap_err().to_string().contains("newer"));
    }
}
