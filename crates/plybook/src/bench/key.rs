//! A key to sign receipts with, of the run's own.
//!
//! Invariant: its file goes with the run; nobody keeps what it signed.

use std::path::{Path, PathBuf};

use plybook_server::key_file;
use plybook_server::signing::SigningKey;
use uuid::Uuid;

/// A private key in a file.
#[derive(Debug)]
pub(super) struct Key(PathBuf);

impl Key {
    /// Makes one, in this folder.
    pub(super) fn make(folder: &Path) -> anyhow::Result<Key> {
        let path = folder.join(format!("plybook-bench-{}.key", Uuid::new_v4().simple()));
        key_file::write(&path, &SigningKey::generate()?)?;
        Ok(Key(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // It is worth nothing to whoever finds it.
        let _ = std::fs::remove_file(&self.0);
    }
}
