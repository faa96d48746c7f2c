//! A book to look through, as far as it is one.
//!
//! Invariant: what is kept holds in form and digests; where the text stops to be a book is kept too, and
//! nothing after it.

use std::path::Path;

use anyhow::{Context, bail};
use plybook_core::book::Link;
use plybook_core::{Book, Header, Seq};

/// The entries that are right in form, and what is wrong after them.
#[derive(Debug)]
pub(super) struct Pages {
    /// Entry 1.
    pub(super) header: Header,
    /// The lines of the others.
    pub(super) lines: Vec<Link>,
    /// What follows them and is wrong.
    pub(super) fault: Option<Fault>,
}

/// Where a book stops to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The first wrong entry, where it is one.
    pub(super) seq: Option<Seq>,
    /// What stands there.
    pub(super) line: Option<String>,
    /// What it claims, and what should be.
    pub(super) why: String,
}

impl Pages {
    /// The book of a file.
    pub(super) fn open(file: &Path) -> anyhow::Result<Pages> {
        let bytes = crate::verify::read(file).map_err(anyhow::Error::msg).with_context(|| format!("{} cannot be read", file.display()))?;
        Pages::read(&String::from_utf8_lossy(&bytes)).with_context(|| file.display().to_string())
    }

    /// The book that this text is, as far as it is one.
    pub(super) fn read(text: &str) -> anyhow::Result<Pages> {
        let error = match Book::parse(text) {
            Ok(book) => return Ok(Pages { header: book.header().clone(), lines: book.lines().to_vec(), fault: None }),
            Err(error) => error,
        };
        if error.seq == Some(Seq::FIRST) {
            bail!("there is nothing to show, the header is wrong: {error}");
        }
        let mut lines = text.split('\n');
        let header: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("= ")).collect();
        let mut book = Book::new(Header::parse(&header.join("\n"))?);
        // An entry is a line and its digest; all before the wrong one were found right.
        let rest: Vec<&str> = lines.collect();
        let right = match error.seq {
            Some(wrong) => wrong.0 as usize - 2,
            None => rest.iter().step_by(2).take_while(|line| !line.starts_with("end ")).count(),
        };
        rest.iter().step_by(2).take(right).for_each(|line| book.push(*line));
        let line = error.seq.and_then(|_| rest.get(2 * right)).filter(|line| !line.is_empty());
        let fault = Fault { seq: error.seq, line: line.map(|line| (*line).to_owned()), why: error.why };
        Ok(Pages { header: book.header().clone(), lines: book.lines().to_vec(), fault: Some(fault) })
    }
}
