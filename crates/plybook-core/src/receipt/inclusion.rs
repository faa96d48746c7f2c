//! The place of one head among those that were signed together.
//!
//! Invariant: a place is one that a tree of its size has, with a path of exactly the length that it has there
//! (RFC 9162, section 2.1.3); what has another form is not kept.

use std::fmt;

use super::head::{SignedHead, SignedHeads};
use super::tree::{leaf, node};
use crate::digest::Digest;
use crate::limits::HEADS_SIGNED_MAX;

/// Where a head stands in a tree, and the nodes beside the way from there to the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inclusion {
    index: u32,
    size: u32,
    path: Vec<Digest>,
}

/// Why some numbers and a path are no place in a tree of heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInclusion {
    /// One head is signed alone, and so many are not signed together.
    #[error("a tree has 2 to {HEADS_SIGNED_MAX} heads, not {0}")]
    Size(u32),
    /// There is no such leaf.
    #[error("a tree of {size} heads has no leaf {index}")]
    Index {
        /// As given, from 0.
        index: u32,
        /// How many leaves there are.
        size: u32,
    },
    /// It has another length.
    #[error("the path of leaf {index} of {size} has {due} nodes, not {given}")]
    Path {
        /// From 0.
        index: u32,
        /// How many leaves there are.
        size: u32,
        /// How long the path is.
        due: usize,
        /// How many nodes were given.
        given: usize,
    },
}

impl Inclusion {
    /// Leaf `index`, from 0, of `size`.
    pub fn new(index: u32, size: u32, path: Vec<Digest>) -> Result<Inclusion, BadInclusion> {
        if !(2..=HEADS_SIGNED_MAX).contains(&size) {
            return Err(BadInclusion::Size(size));
        }
        if index >= size {
            return Err(BadInclusion::Index { index, size });
        }
        let (due, given) = (siblings(index, size).count(), path.len());
        if given == due { Ok(Inclusion { index, size, path }) } else { Err(BadInclusion::Path { index, size, due, given }) }
    }

    /// Which leaf, from 0.
    pub const fn index(&self) -> u32 {
        self.index
    }

    /// How many leaves there are.
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// The nodes beside the way to the root, from below.
    pub fn path(&self) -> &[Digest] {
        &self.path
    }

    /// What covers this piece, if it stands here.
    pub fn root(&self, piece: &[u8]) -> Digest {
        let beside = siblings(self.index, self.size).zip(&self.path);
        beside.fold(leaf(piece), |below, (side, beside)| match side {
            Side::Left => node(beside, &below),
            Side::Right => node(&below, beside),
        })
    }

    /// What was signed, if this head stands here.
    pub fn heads(&self, head: &SignedHead) -> SignedHeads {
        SignedHeads { size: self.size, root: self.root(&head.bytes()) }
    }

    /// Reads what it prints, and some other spellings of the numbers.
    pub(super) fn parse(text: &str) -> Option<Inclusion> {
        let mut words = text.splitn(4, ' ');
        let index = words.next()?.parse().ok()?;
        words.next().filter(|word| *word == "of")?;
        let size = words.next()?.parse().ok()?;
        let path = words.next()?.split(',').map(Digest::parse).collect::<Option<_>>()?;
        Inclusion::new(index, size, path).ok()
    }
}

/// `<index> of <size> <digest>,<digest>…`
impl fmt::Display for Inclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} ", self.index, self.size)?;
        self.path.iter().enumerate().try_for_each(|(at, digest)| write!(f, "{}{digest}", if at == 0 { "" } else { "," }))
    }
}

/// On which side of the way to the root a node stands.
enum Side {
    Left,
    Right,
}

/// Those beside the way, from below: at a level where the node is the last and has no sibling, there is none.
fn siblings(index: u32, size: u32) -> impl Iterator<Item = Side> {
    let levels = std::iter::successors(Some((index, size - 1)), |(at, last)| Some((at / 2, last / 2)));
    levels.take_while(|(_, last)| *last > 0).filter_map(|(at, last)| match at {
        at if at % 2 == 1 => Some(Side::Left),
        at if at < last => Some(Side::Right),
        _ => None,
    })
}
