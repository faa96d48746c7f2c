//! A whole book as text: the `.ply` file.
//!
//! Invariant: a book prints in one way, and what it prints parses back to the same book. Parsing
//! checks form and digests; whether the moves follow from the rules is [`crate::Game`]'s to say.

use std::fmt::Write as _;

use crate::digest::Digest;
use crate::game::Fault;
use crate::header::Header;
use crate::receipt::{Signature, SignedHead};
use crate::seq::Seq;

/// A header and the lines after it, each with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Book {
    header: Header,
    links: Vec<Link>,
    signature: Option<Signature>,
}

/// One line with its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The text: the header for the first, a line for the others.
    pub text: String,
    /// Its link of the chain.
    pub digest: Digest,
}

/// Why a file is not a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}{}: {why}", at(.seq))]
pub struct BookError {
    /// Line of the file, from 1.
    pub line: usize,
    /// The entry that the line belongs to, if it belongs to one.
    pub seq: Option<Seq>,
    /// What is wrong with it: its form, its digest, or that it is missing.
    pub fault: Fault,
    /// Why.
    pub why: String,
}

fn at(seq: &Option<Seq>) -> String {
    seq.map_or_else(String::new, |seq| format!(" (entry {seq})"))
}

impl Book {
    /// A book of which only the header is written.
    pub fn new(header: Header) -> Book {
        let text = header.to_string();
        let digest = Digest::of(text.as_bytes());
        Book { header, links: vec![Link { text, digest }], signature: None }
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// Every line with its digest, the header first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The same, where nothing else of the book is needed any more.
    pub fn into_links(self) -> Vec<Link> {
        self.links
    }

    /// The lines after the header.
    pub fn lines(&self) -> &[Link] {
        &self.links[1..]
    }

    /// The digest of the last entry: the book digest.
    pub fn digest(&self) -> Digest {
        self.links[self.links.len() - 1].digest
    }

    /// The last entry, as it may be signed.
    pub fn head(&self) -> SignedHead {
        SignedHead { game: self.header.game, seq: Seq(self.links.len() as u32), digest: self.digest() }
    }

    /// The signature over the head that the file carries. Parsing reads it and does not check it.
    pub const fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// Puts a signature over the head below the book.
    #[must_use]
    pub fn signed(mut self, signature: Signature) -> Book {
        self.signature = Some(signature);
        self
    }

    /// Adds a line after the others. What was signed is no longer the head.
    pub fn push(&mut self, line: impl Into<String>) {
        self.signature = None;
        let text = line.into();
        let digest = self.digest().chain(&text);
        self.links.push(Link { text, digest });
    }

    /// The `.ply` file.
    pub fn print(&self) -> String {
        let mut file = String::new();
        for link in &self.links {
            file.push_str(&print_link(&link.text, link.digest));
        }
        file.push_str(&print_trailer(self.links.len(), self.digest(), self.signature.as_ref()));
        file
    }

    /// Reads a `.ply` file, checking form and digests.
    pub fn parse(file: &str) -> Result<Book, BookError> {
        Book::parse_as_far(file).map_err(|(error, _)| error)
    }

    /// The same; where something is wrong, with the entries before it, if the header is right.
    pub(crate) fn parse_as_far(file: &str) -> Result<Book, (BookError, Option<Box<Book>>)> {
        let mut reader = Reader { lines: file.split_inclusive('\n').collect(), at: 0 };
        let mut book = reader.header().map_err(|error| (error, None))?;
        match reader.rest(&mut book) {
            Ok(()) => Ok(book),
            Err(error) => Err((error, Some(Box::new(book)))),
        }
    }
}

/// A header or a line as it stands in a file, with its digest below it.
pub fn print_link(text: &str, digest: Digest) -> String {
    format!("{text}\n= {digest}\n")
}

/// The end of a file: its trailer, and the signature where there is one.
pub fn print_trailer(count: usize, digest: Digest, signature: Option<&Signature>) -> String {
    let mut trailer = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(trailer, "end {count} {digest}");
    if let Some(signature) = signature {
        let _ = writeln!(trailer, "signed {signature}");
    }
    trailer
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn header(&mut self) -> Result<Book, BookError> {
        let header_end = self.lines.iter().position(|line| line.starts_with("= ")).unwrap_or(self.lines.len());
        let mut header_lines = Vec::new();
        for _ in 0..header_end {
            header_lines.push(self.line(Some(Seq::FIRST))?);
        }
        let header = Header::parse(&header_lines.join("\n")).map_err(|error| BookError {
            line: error.line,
            seq: Some(Seq::FIRST),
            fault: Fault::Form,
            why: error.why,
        })?;
        let book = Book::new(header);
        self.digest(Seq::FIRST, book.digest())?;
        Ok(book)
    }

    /// Every entry is added once its own digest is right.
    fn rest(&mut self, book: &mut Book) -> Result<(), BookError> {
        loop {
            let next = Seq(book.links.len() as u32).next();
            let line = self.line(Some(next))?;
            if let Some(trailer) = line.strip_prefix("end ") {
                self.trailer(trailer, book)?;
                book.signature = self.signature()?;
                return Ok(());
            }
            let entry = book.header.read_entry(line).map_err(|error| self.wrong(Some(next), format!("{error}")))?;
            if entry.seq != next {
                return Err(self.wrong(Some(next), format!("it is numbered {}", entry.seq)));
            }
            let digest = book.digest().chain(line);
            self.digest(next, digest)?;
            book.links.push(Link { text: line.to_owned(), digest });
        }
    }

    fn line(&mut self, seq: Option<Seq>) -> Result<&'a str, BookError> {
        let line = self.lines.get(self.at).copied();
        self.at += 1;
        let line = line.ok_or_else(|| self.faulty(Fault::Missing, seq, "is missing: the file ends too early"))?;
        line.strip_suffix('\n').ok_or_else(|| self.wrong(seq, "does not end in LF"))
    }

    fn digest(&mut self, seq: Seq, follows: Digest) -> Result<(), BookError> {
        let line = self.line(Some(seq))?;
        let digest = line.strip_prefix("= ").and_then(Digest::parse).ok_or_else(|| self.wrong(Some(seq), "is not a digest"))?;
        if digest == follows {
            return Ok(());
        }
        Err(self.faulty(Fault::Digest, Some(seq), format!("the digest is {follows}, not {digest}")))
    }

    fn trailer(&mut self, trailer: &str, book: &Book) -> Result<(), BookError> {
        let count = book.links.len();
        if trailer != format!("{count} {}", book.digest()) {
            let why = format!("the trailer is not that of {count} entries with head {}", book.digest());
            return Err(self.faulty(Fault::Digest, None, why));
        }
        let given = book.header.given();
        if (count as u32) <= given {
            let why = format!("the game begins with {given} moves given to it, and this one is missing");
            return Err(self.faulty(Fault::Missing, Some(Seq(count as u32).next()), why));
        }
        Ok(())
    }

    /// The line after the trailer, if there is one; nothing follows it.
    fn signature(&mut self) -> Result<Option<Signature>, BookError> {
        if self.at == self.lines.len() {
            return Ok(None);
        }
        let line = self.line(None)?;
        let signed = line.strip_prefix("signed ").ok_or_else(|| self.wrong(None, "follows the trailer"))?;
        let signature = Signature::parse(signed).ok_or_else(|| self.wrong(None, "is not printed as a signature"))?;
        if self.at < self.lines.len() {
            self.at += 1;
            return Err(self.wrong(None, "follows the signature"));
        }
        Ok(Some(signature))
    }

    fn wrong(&self, seq: Option<Seq>, why: impl Into<String>) -> BookError {
        self.faulty(Fault::Form, seq, why)
    }

    fn faulty(&self, fault: Fault, seq: Option<Seq>, why: impl Into<String>) -> BookError {
        BookError { line: self.at, seq, fault, why: why.into() }
    }
}
