//! A Merkle tree over pieces of bytes, as RFC 9162, section 2.1, has it.
//!
//! Invariant: leaves and nodes are hashed apart, by their first byte, so that no node can be shown for a leaf. The
//! tree of a number of pieces has one form: a node without a sibling stands for itself a level higher, which is the
//! RFC's split at the largest power of two.

use super::inclusion::{BadInclusion, Inclusion};
use crate::digest::Digest;

/// A tree with all its nodes.
#[derive(Clone, Debug)]
pub struct Tree {
    /// From the leaves up; the last has one node, the root.
    levels: Vec<Vec<Digest>>,
}

impl Tree {
    /// Over these pieces, in this order.
    pub fn over<B: AsRef<[u8]>>(pieces: impl IntoIterator<Item = B>) -> Tree {
        let mut level: Vec<Digest> = pieces.into_iter().map(|piece| leaf(piece.as_ref())).collect();
        let mut levels = Vec::new();
        while level.len() > 1 {
            let above = level.chunks(2).map(|pair| if let [left, right] = pair { node(left, right) } else { pair[0] }).collect();
            levels.push(std::mem::replace(&mut level, above));
        }
        levels.push(level);
        Tree { levels }
    }

    /// What covers every piece; of none, the digest of nothing.
    pub fn root(&self) -> Digest {
        self.levels.last().and_then(|level| level.first()).copied().unwrap_or_else(|| Digest::of(&[]))
    }

    /// The nodes beside the way from a leaf to the root, from below; `None` where there is no such leaf.
    pub fn path(&self, index: usize) -> Option<Vec<Digest>> {
        self.levels.first()?.get(index)?;
        let mut path = Vec::with_capacity(self.levels.len() - 1);
        path.extend(self.levels.iter().enumerate().filter_map(|(height, level)| level.get((index >> height) ^ 1)));
        Some(path)
    }

    /// Where a head stands, if this is a tree of heads that are signed together.
    pub fn inclusion(&self, index: u32) -> Result<Inclusion, BadInclusion> {
        let size = self.levels.first().map_or(0, Vec::len) as u32;
        Inclusion::new(index, size, self.path(index as usize).unwrap_or_default())
    }
}

/// The hash of a piece.
pub(super) fn leaf(piece: &[u8]) -> Digest {
    Digest::of_parts(&[&[0], piece])
}

/// The hash of two nodes.
pub(super) fn node(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[&[1], &left.0, &right.0])
}
