//! Which Plybook this is: its version, its commit, and the schema that it wants.

use std::sync::LazyLock;

/// The commit that it was built from.
pub(crate) const COMMIT: &str = env!("PLYBOOK_COMMIT");

/// What `plybook --version` says behind the name.
pub(crate) static LONG: LazyLock<String> =
    LazyLock::new(|| format!("{} (commit {COMMIT}, schema {}, books of format 1)", env!("CARGO_PKG_VERSION"), plybook_store::schema()));
