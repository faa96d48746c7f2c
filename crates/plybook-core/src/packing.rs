//! Numbers in as few bytes as they need, for what is kept beside the book.
//!
//! Invariant: reading trusts no length: nothing is allocated for what the bytes do not hold.

use crate::digest::Digest;

/// Why packed bytes are not what was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Damaged;

/// Writes.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    pub(crate) bytes: Vec<u8>,
}

impl Packer {
    /// Seven bits a byte, the lowest first; the top bit says that more follow.
    pub(crate) fn number(&mut self, number: impl Into<u64>) {
        let mut rest = number.into();
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// A length.
    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// A digest, or other bytes of a known length.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Text with its length.
    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.raw(text.as_bytes());
    }
}

/// Reads what [`Packer`] wrote.
#[derive(Debug)]
pub(crate) struct Unpacker<'a> {
    rest: &'a [u8],
}

impl<'a> Unpacker<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Unpacker<'a> {
        Unpacker { rest: bytes }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Damaged> {
        let (first, rest) = self.rest.split_first().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn long(&mut self) -> Result<u64, Damaged> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(Damaged);
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Damaged)
    }

    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, Damaged> {
        T::try_from(self.long()?).map_err(|_| Damaged)
    }

    /// So many items follow, each of one byte at least.
    pub(crate) fn count(&mut self) -> Result<usize, Damaged> {
        self.number().ok().filter(|count| *count <= self.rest.len()).ok_or(Damaged)
    }

    pub(crate) fn raw<const N: usize>(&mut self) -> Result<[u8; N], Damaged> {
        let (first, rest) = self.rest.split_first_chunk().ok_or(Damaged)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, Damaged> {
        self.raw().map(Digest)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Damaged> {
        let (text, rest) = self.count().and_then(|length| self.rest.split_at_checked(length).ok_or(Damaged))?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| Damaged)
    }

    /// Nothing is left.
    pub(crate) const fn end(&self) -> Result<(), Damaged> {
        if self.rest.is_empty() { Ok(()) } else { Err(Damaged) }
    }
}
