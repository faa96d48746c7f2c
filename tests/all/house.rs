//! The house stands as ARCHITECTURE.md draws it.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`dependencies`] | who may know whom |
//! | [`sources`] | purity, size and names of the source files |
//! | [`pages`] | README.md and ARCHITECTURE.md speak of what is there |
//! | [`reference`] | the page of the contract is the contract's own comments |
//!
//! Invariant: each rule is checked against the files themselves, so that no page has to be believed.

mod dependencies;
mod pages;
mod reference;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

use plybook_tests::node::root;

/// A text file of the repository.
pub(crate) struct Page {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

fn page(path: &str) -> Page {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    Page { path: path.to_owned(), text }
}

/// Every Rust file below a folder of the repository.
pub(crate) fn rust_files(folder: &str) -> Vec<Page> {
    let mut paths = Vec::new();
    walk(&root().join(folder), &mut paths);
    paths.sort();
    let relative = |path: PathBuf| path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    let pages: Vec<Page> = paths.into_iter().map(|path| page(&relative(path))).collect();
    assert!(!pages.is_empty(), "{folder} has Rust files");
    pages
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// A text's words: letters, digits and underscores.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
