//! Books, and what they are made of.

use plybook_core::compare::compare;
use plybook_core::rules::Topology;
use plybook_core::verify::verify;
use plybook_core::{Book, Header};
use plybook_rulesets::Registry;

use crate::text;

/// Larger boards are as right as these, and take a thousand times as long.
const CELLS_MAX: u32 = 2_500;

/// A file: what is read is printed as it was, and is verified or not.
pub fn book(bytes: &[u8]) {
    let Some(file) = text(bytes) else { return };
    let registry = Registry::standard();
    if let Ok(book) = Book::parse(file) {
        assert_eq!(book.print(), file, "a book is printed as it was read");
        if !small(book.header(), &registry) {
            return;
        }
    }
    let _ = verify(file, &registry);
}

/// A header, an empty line, and lines, chained here: so that more than the digests is looked at.
pub fn game(bytes: &[u8]) {
    let Some((header, lines)) = text(bytes).and_then(|text| text.split_once("\n\n")) else { return };
    let Ok(header) = Header::parse(header) else { return };
    let registry = Registry::standard();
    if !small(&header, &registry) {
        return;
    }
    let mut book = Book::new(header);
    lines.lines().for_each(|line| book.push(line));
    let file = book.print();
    if let Ok(report) = verify(&file, &registry) {
        assert_eq!(report.entries as usize, book.links().len(), "every entry was looked at");
    }
    if let Ok(read) = Book::parse(&file) {
        assert_eq!(read.digest(), book.digest());
        let _ = compare(&read, &book);
    }
}

/// A header: what is read is printed as it was.
pub fn header(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(header) = Header::parse(text) else { return };
    assert_eq!(header.to_string(), text, "a header is printed as it was read");
    let _ = Registry::standard().rules_of(&header);
}

/// The lines of a book, one after another and each alone.
pub fn line(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    for line in text.lines() {
        if let Ok(entry) = plybook_core::entry::read_format_1(line) {
            assert_eq!(entry.to_string(), line, "a line is printed as it was read");
        }
    }
}

fn small(header: &Header, registry: &Registry) -> bool {
    let Ok(rules) = registry.rules_of(header) else { return true };
    match rules.topology() {
        Topology::Grid { rows, cols } => u32::from(rows) * u32::from(cols) <= CELLS_MAX,
        Topology::Track { .. } => true,
    }
}
