//! Trees over pieces, against what is published about them and against the words of RFC 9162.

use plybook_core::Digest;
use plybook_core::limits::HEADS_SIGNED_MAX;
use plybook_core::receipt::{BadInclusion, Inclusion, Tree};
use sha2::{Digest as _, Sha256};

/// The leaves with which implementations of Certificate Transparency are tested.
const LEAVES: [&[u8]; 8] =
    [b"", b"\x00", b"\x10", b"\x20\x21", b"\x30\x31", b"\x40\x41\x42\x43", b"\x50\x51\x52\x53\x54\x55\x56\x57", b"`abcdefghijklmno"];
/// The published roots over the first of them, from none on.
const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
/// Published paths: leaf, size, and the nodes from below.
const PATHS: [(u32, u32, &[&str]); 4] = [
    (
        0,
        8,
        &[
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        &[
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, &["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        &[
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
];

/// Some pieces, no two alike.
fn pieces(count: u32) -> Vec<Vec<u8>> {
    (0..count)
        .map(|number| number.to_be_bytes()[4 - number as usize % 5..].to_vec())
        .map(|piece| [b"piece".as_slice(), &piece].concat())
        .collect()
}

fn hash(parts: &[&[u8]]) -> Digest {
    Digest(Sha256::digest(parts.concat()).into())
}

/// The largest power of two below.
fn split(count: usize) -> usize {
    (0..).map(|power| 1 << power).take_while(|k| *k < count).last().unwrap()
}

/// MTH of section 2.1.1, word for word.
fn mth(pieces: &[Vec<u8>]) -> Digest {
    match pieces {
        [] => hash(&[]),
        [piece] => hash(&[&[0], piece]),
        more => {
            let (left, right) = more.split_at(split(more.len()));
            hash(&[&[1], &mth(left).0, &mth(right).0])
        }
    }
}

/// PATH of section 2.1.3.1, word for word.
fn path(m: usize, pieces: &[Vec<u8>]) -> Vec<Digest> {
    if pieces.len() == 1 {
        return Vec::new();
    }
    let k = split(pieces.len());
    let (left, right) = pieces.split_at(k);
    if m < k { [path(m, left), vec![mth(right)]].concat() } else { [path(m - k, right), vec![mth(left)]].concat() }
}

#[test]
fn what_is_published_comes_out() {
    for (count, root) in ROOTS.iter().enumerate() {
        assert_eq!(Tree::over(&LEAVES[..count]).root().to_string(), *root, "{count} leaves");
    }
    for (index, size, path) in PATHS {
        let path: Vec<Digest> = path.iter().map(|node| Digest::parse(node).unwrap()).collect();
        assert_eq!(Tree::over(&LEAVES[..size as usize]).path(index as usize).unwrap(), path, "leaf {index} of {size}");
        let inclusion = Inclusion::new(index, size, path).unwrap();
        assert_eq!(inclusion.root(LEAVES[index as usize]).to_string(), ROOTS[size as usize]);
    }
}

#[test]
fn every_leaf_of_every_size_leads_to_the_root() {
    for size in (1..=70).chain([HEADS_SIGNED_MAX - 1, HEADS_SIGNED_MAX]) {
        let pieces = pieces(size);
        let (tree, root) = (Tree::over(&pieces), mth(&pieces));
        assert_eq!(tree.root(), root, "{size} leaves");
        for index in 0..size {
            let due = path(index as usize, &pieces);
            assert_eq!(tree.path(index as usize).unwrap(), due, "leaf {index} of {size}");
            if size == 1 {
                continue;
            }
            let inclusion = tree.inclusion(index).unwrap();
            assert_eq!((inclusion.index(), inclusion.size(), inclusion.path()), (index, size, due.as_slice()));
            assert_eq!(inclusion.root(&pieces[index as usize]), root);
            assert!((1..=9).contains(&due.len()));
        }
        assert_eq!(tree.path(size as usize), None);
    }
}

/// A place that a tree does not have is none, and neither is a path that is too short or too long.
#[test]
fn a_place_has_one_form() {
    for size in [0, 1, HEADS_SIGNED_MAX + 1, u32::MAX] {
        for length in 0..40 {
            assert_eq!(Inclusion::new(0, size, vec![Digest([1; 32]); length]), Err(BadInclusion::Size(size)));
        }
    }
    for size in [2, 3, 4, 5, 8, 9, 33, 511, 512] {
        for index in [size, size + 1, u32::MAX] {
            assert_eq!(Inclusion::new(index, size, vec![Digest([1; 32]); 1]), Err(BadInclusion::Index { index, size }));
        }
        let pieces = pieces(size);
        for index in 0..size {
            let due = path(index as usize, &pieces).len();
            for given in (0..=10).chain([70]) {
                let read = Inclusion::new(index, size, vec![Digest([1; 32]); given]);
                let expected = if given == due { None } else { Some(BadInclusion::Path { index, size, due, given }) };
                assert_eq!(read.err(), expected);
            }
        }
    }
    assert_eq!(Tree::over(pieces(1)).inclusion(0), Err(BadInclusion::Size(1)));
    assert_eq!(Tree::over(pieces(3)).inclusion(3), Err(BadInclusion::Index { index: 3, size: 3 }));
    assert_eq!(Tree::over(pieces(0)).inclusion(0), Err(BadInclusion::Size(0)));
}
