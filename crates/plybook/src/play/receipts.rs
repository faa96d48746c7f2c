//! A file of receipts, a line each.
//!
//! Invariant: lines are only added, so receipts of several games can be kept in one file, and none is lost.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use plybook_client::receipt;
use plybook_proto::v1;

/// A file of receipts.
#[derive(Clone, Debug)]
pub(super) struct Receipts {
    path: PathBuf,
    /// Each line is added by one write, so clones may add at once.
    file: Arc<File>,
}

impl Receipts {
    /// To add to; made where it is not there.
    pub(super) fn open(path: &Path) -> anyhow::Result<Receipts> {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let file = file.with_context(|| format!("--receipts: {} cannot be opened to keep receipts", path.display()))?;
        Ok(Receipts { path: path.to_owned(), file: Arc::new(file) })
    }

    /// Adds one.
    pub(super) fn keep(&self, receipt: &v1::Receipt) -> anyhow::Result<()> {
        let line = format!("{}\n", receipt::line(receipt));
        self.file.as_ref().write_all(line.as_bytes()).with_context(|| format!("a receipt could not be written to {}", self.path.display()))
    }
}
