//! Books written anew: what a forger can do who has a file and no key.
//!
//! Invariant: a forged book holds in form and digests; only rules, a seed, a signature or another digest tell.

use plybook_core::{Book, Header};

/// The file with the first `from` of each line, and of the header, replaced, and every digest after it made right.
/// The signature is left out.
pub fn forged(file: &str, from: &str, to: &str) -> String {
    let book = Book::parse(file).unwrap();
    let header = book.header().to_string().replacen(from, to, 1);
    let mut forged = Book::new(Header::parse(&header).unwrap());
    for link in book.lines() {
        forged.push(link.text.replacen(from, to, 1));
    }
    let text = forged.print();
    assert_ne!(text, file, "{from:?} is in it");
    text
}
