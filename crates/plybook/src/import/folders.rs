//! Folders among the files to import.
//!
//! Invariant: the files of a folder come in the order of their names, so that the same folder is the same import.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use super::format::Format;
use crate::exit::usage;

/// The files, and in the place of a folder those in it whose extension is a format's.
pub(super) fn files(given: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in given {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let inside = inside(&path).map_err(|error| usage(format!("{}: {error}", path.display())))?;
        if inside.is_empty() {
            return Err(usage(format!("{}: this folder holds no file whose extension is a format's", path.display())));
        }
        files.extend(inside);
    }
    Ok(files)
}

fn inside(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_file() && Format::from_str(extension, true).is_ok() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
