//! The schema of this build, embedded, and whether a database has one that it can serve.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`applied`] | what was done to a database so far, and whether this build can go on from there |
//!
//! Invariant: a migration that was released never changes; a later one is added at the end, and its name begins with what it is to
//! the build before it: `expand: ` where that build goes on beside it, `contract: ` where it does not.

pub(crate) mod applied;

use sqlx::SqlSafeStr;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use crate::error::Error;
use crate::fault::classify;

/// Number, name and text of each migration, ascending.
type Script = (i64, &'static str, &'static str);

pub(crate) const POSTGRES: &[Script] = &[
    (1, "books", include_str!("../../../migrations/postgres/0001_books.sql")),
    (2, "expand: credentials", include_str!("../../../migrations/postgres/0002_credentials.sql")),
];
pub(crate) const SQLITE: &[Script] = &[
    (1, "books", include_str!("../../../migrations/sqlite/0001_books.sql")),
    (2, "expand: credentials", include_str!("../../../migrations/sqlite/0002_credentials.sql")),
];

/// How the name of a migration begins that the build before it goes on beside.
const EXPANDS: &str = "expand: ";

/// The newest schema that this build knows, the same number on both stores.
pub fn schema() -> i64 {
    POSTGRES.iter().map(|script| script.0).max().unwrap_or(0)
}

/// What brings a database up to these scripts, each in its own transaction, one process at a time. What a later build added is left
/// alone: whether this one can go on beside it is asked before.
pub(crate) fn migrator(scripts: &'static [Script]) -> Migrator {
    let mut migrator = Migrator::with_migrations(scripts.iter().map(migration).collect());
    migrator.set_ignore_missing(true);
    migrator
}

fn migration(&(version, name, text): &Script) -> Migration {
    Migration::new(version, name.into(), MigrationType::Simple, text.into_sql_str(), false)
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
    use super::*;

    /// Words that take something from the build before, or from who reads the tables by hand.
    const TAKES: [&str; 6] = ["DROP TABLE", "DROP COLUMN", "DROP FUNCTION", "RENAME ", "SET NOT NULL", "TRUNCATE TABLE"];

    #[test]
    fn a_later_migration_says_what_it_is_and_an_expansion_takes_nothing() {
        for scripts in [POSTGRES, SQLITE] {
            for (version, name, text) in scripts.iter().filter(|script| script.0 > 1) {
                assert!(name.starts_with(EXPANDS) || name.starts_with("contract: "), "{version} {name}");
                let said: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect();
                let said = said.join(" ").to_uppercase();
                for word in TAKES.iter().filter(|_| name.starts_with(EXPANDS)) {
                    assert!(!said.contains(word), "{version} {name}: {word} is no expansion");
                }
            }
            assert!(scripts.is_sorted_by_key(|script| script.0) && scripts.iter().zip(1..).all(|(script, number)| script.0 == number));
        }
    }

    /// Whoever waits for a table's lock stops everybody who comes after.
    #[test]
    fn a_later_migration_of_postgres_waits_for_no_lock_for_long() {
        for (version, name, text) in POSTGRES.iter().filter(|script| script.0 > 1) {
            assert!(text.contains("SET LOCAL lock_timeout"), "{version} {name}");
        }
    }
}
