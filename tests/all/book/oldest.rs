//! The oldest books are read by the grammar that their first line names, and a later grammar is told from damage.

use std::path::PathBuf;

use plybook_core::{Book, Header};
use plybook_tests::node;

/// The folder of the first release that wrote books.
fn oldest() -> PathBuf {
    let folders = std::fs::read_dir(node::root().join("tests/corpus")).unwrap().map(|entry| entry.unwrap().path());
    let version = |folder: &PathBuf| -> Vec<u32> {
        folder.file_name().unwrap().to_str().unwrap().split('.').map(|part| part.parse().unwrap()).collect()
    };
    folders.filter(|path| path.is_dir()).min_by_key(version).unwrap()
}

#[test]
fn every_book_of_the_oldest_release_is_read_by_its_format() {
    let mut read = 0;
    for entry in std::fs::read_dir(oldest()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("plybook 1\n"), "{}: the first release wrote format 1", path.display());
        let book = Book::parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        for link in book.lines() {
            let entry = book.header().read_entry(&link.text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            assert_eq!(entry.to_string(), link.text, "{}", path.display());
        }
        assert_eq!(book.print(), text, "{}", path.display());
        read += 1;
    }
    assert!(read > 20, "{read} books");
}

#[test]
fn a_book_of_a_later_format_is_told_to_be_one() {
    for entry in std::fs::read_dir(oldest()).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for later in ["2", "10", "4294967295"] {
            let later_text = text.replacen("plybook 1\n", &format!("plybook {later}\n"), 1);
            let wanted = format!("says that the book is of format {later}; this build reads format 1");
            let refused = Book::parse(&later_text).unwrap_err();
            assert!(refused.line == 1 && refused.why.contains(&wanted), "{refused}");
            let header = later_text.split("\n= ").next().unwrap();
            assert!(Header::parse(header).unwrap_err().why.contains(&wanted));
        }
    }
}
