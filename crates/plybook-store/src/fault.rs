//! What a database's complaint means to a caller.
//!
//! Invariant: whatever leaves an append's outcome open is [`Error::Unavailable`], so it is repeated
//! with the same request id and never reported as failed.

use sqlx::error::DatabaseError;

use crate::error::Error;

/// SQLSTATE of a unique key that is already there.
pub(crate) const UNIQUE_VIOLATION: &str = "23505";
/// SQLSTATE of a table that is not there.
pub(crate) const UNDEFINED_TABLE: &str = "42P01";

/// SQLSTATE of a statement that the session's role may not run.
pub(crate) const INSUFFICIENT_PRIVILEGE: &str = "42501";

/// Sorts any error of the driver, or of the database behind it.
pub(crate) fn classify(error: sqlx::Error) -> Error {
    let text = error.to_string();
    match error {
        sqlx::Error::Database(database) => classify_database(&*database),
        sqlx::Error::Configuration(_) | sqlx::Error::ConfigFile(_) => Error::Config(text),
        sqlx::Error::RowNotFound
        | sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::Decode(_)
        | sqlx::Error::TypeNotFound { .. }
        | sqlx::Error::ColumnIndexOutOfBounds { .. }
        | sqlx::Error::ColumnNotFound(_) => Error::Corrupt(text),
        sqlx::Error::Encode(_) | sqlx::Error::InvalidArgument(_) | sqlx::Error::InvalidSavePointStatement => Error::Failed(text),
        // The line is cut, slow, or speaks nonsense: what was sent may have arrived.
        _ => Error::Unavailable(text),
    }
}

fn classify_database(error: &dyn DatabaseError) -> Error {
    let text = error.message().to_owned();
    match error.code() {
        // A SQLSTATE has five characters, a code of SQLite fewer.
        Some(code) if code.len() == 5 => classify_sqlstate(&code, text),
        Some(code) => classify_sqlite(&code, text),
        None => Error::Failed(text),
    }
}

fn classify_sqlstate(code: &str, text: String) -> Error {
    let text = format!("{text} ({code})");
    match (code.get(..2).unwrap_or(code), code) {
        // Data or index corrupted, as against any other internal error.
        (_, "XX001" | "XX002") => Error::Corrupt(text),
        // A read-only transaction is what a failover leaves behind until the address follows it;
        // a lock or an idle transaction ran out of time.
        (_, "25006" | "25P03" | "25P04" | "55P03" | "55006") => Error::Unavailable(text),
        // Connection, rolled back by the server, resources, operator, system.
        ("08" | "40" | "53" | "57" | "58", _) => Error::Unavailable(text),
        // Credentials; a database that does not exist.
        ("28" | "3D", _) => Error::Config(text),
        _ => Error::Failed(text),
    }
}

fn classify_sqlite(code: &str, text: String) -> Error {
    // The low byte of an extended code is the plain one.
    let primary = code.parse::<u32>().map_or(0, |code| code & 0xff);
    let text = format!("{text} (SQLite {code})");
    match primary {
        // Busy, locked, interrupted, input or output, disk full, cannot open, a race for the log that was lost too often.
        5 | 6 | 9 | 10 | 13 | 14 | 15 => Error::Unavailable(text),
        // Corrupt; not a database.
        11 | 26 => Error::Corrupt(text),
        // Read-only.
        8 => Error::Config(text),
        _ => Error::Failed(text),
    }
}

/// Whether a statement may have failed for the sake of one of its rows, or of another transaction in its way: nothing of
/// it was stored, and without that row, or once more, it may succeed.
pub(crate) fn of_an_entry(error: &sqlx::Error) -> bool {
    // Cardinality, data, constraint, check option, limits, a trigger's exception; rolled back for a reason that is known.
    sqlstate(error).is_some_and(|code| {
        matches!(code.get(..2), Some("21" | "22" | "23" | "44" | "54" | "P0")) || matches!(&*code, "40001" | "40002" | "40P01")
    })
}

/// Whether a statement failed for a key that was there before: nothing of it was stored.
pub(crate) fn is_taken(error: &sqlx::Error) -> bool {
    sqlstate(error).as_deref() == Some(UNIQUE_VIOLATION)
}

/// The SQLSTATE of an error, where it has one.
pub(crate) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error()?.code().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_outcome_is_unavailable() {
        for code in ["08006", "08P01", "40001", "40P01", "40003", "53300", "53100", "57014", "57P01", "57P03", "58030", "25006"] {
            assert!(matches!(classify_sqlstate(code, String::new()), Error::Unavailable(_)), "{code}");
        }
        for error in [sqlx::Error::PoolTimedOut, sqlx::Error::PoolClosed, sqlx::Error::WorkerCrashed, sqlx::Error::BeginFailed] {
            assert!(matches!(classify(error), Error::Unavailable(_)));
        }
        assert!(matches!(classify(sqlx::Error::Io(std::io::ErrorKind::BrokenPipe.into())), Error::Unavailable(_)));
        assert!(matches!(classify(sqlx::Error::Protocol("cut".into())), Error::Unavailable(_)));
        for code in ["5", "261", "13", "15", "778"] {
            assert!(matches!(classify_sqlite(code, String::new()), Error::Unavailable(_)), "{code}");
        }
    }

    #[test]
    fn the_rest_is_told_apart() {
        for code in ["42P01", "42501", "23514", "22021", "XX000"] {
            assert!(matches!(classify_sqlstate(code, String::new()), Error::Failed(_)), "{code}");
        }
        for code in ["28P01", "3D000"] {
            assert!(matches!(classify_sqlstate(code, String::new()), Error::Config(_)), "{code}");
        }
        assert!(classify_sqlstate("42501", "permission denied for table api_key".into()).is_denied());
        assert!(!classify_sqlstate("42P01", String::new()).is_denied());
        assert!(matches!(classify_sqlstate("XX001", String::new()), Error::Corrupt(_)));
        assert!(matches!(classify_sqlite("11", String::new()), Error::Corrupt(_)));
        assert!(matches!(classify_sqlite("1", String::new()), Error::Failed(_)));
    }
}
