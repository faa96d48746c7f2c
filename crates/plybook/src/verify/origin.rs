//! `plybook verify --origin`: the book that forks are held against.

use std::path::Path;

use anyhow::Context;
use plybook_core::{Book, Origin};

/// The other game's book.
#[derive(Debug)]
pub(super) struct OriginBook(Book);

impl OriginBook {
    /// Reads it; its form and digests must hold.
    pub(super) fn read(file: &Path) -> anyhow::Result<OriginBook> {
        let told = || format!("--origin {}", file.display());
        let bytes = super::read(file).map_err(anyhow::Error::msg).with_context(told)?;
        let text = String::from_utf8(bytes).map_err(|error| anyhow::Error::msg(super::not_text(&error).to_string())).with_context(told)?;
        Book::parse(&text).map(OriginBook).with_context(told)
    }

    /// Whether this verified book begins with what stood in the other one.
    pub(super) fn begins(&self, fork: &str) -> Result<(), String> {
        let fork = Book::parse(fork).map_err(|error| error.to_string())?;
        Origin::check_against(&fork, &self.0)
    }
}

/// What a fork's book does not prove: it has the digest of the book that does, and that one may have been compared.
pub(super) fn told(origin: &Origin, compared: bool) -> String {
    let Origin { game, seq, digest, given } = origin;
    let shown = if compared { "and that book, which was compared, has them" } else { "whose book proves them and their dice" };
    format!("  a fork: {given} moves were given by entry {seq} (digest {digest}) of game {game}, {shown}\n")
}
