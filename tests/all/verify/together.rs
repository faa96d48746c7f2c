//! Heads that were signed together: what each receipt proves by itself, and what takes it apart.

use plybook_core::limits::HEADS_SIGNED_MAX;
use plybook_core::receipt::{Inclusion, PublicKeys, SignedHead, SignedHeads, Tree, Unproved};
use plybook_core::{Digest, Receipt, Seq, Uuid};
use plybook_server::signing::SigningKey;

use super::second::python;

fn key() -> SigningKey {
    SigningKey::from_seed(&[1; 32]).unwrap()
}

fn keys() -> PublicKeys {
    PublicKeys::from_iter([*key().public()])
}

fn heads(count: u32) -> Vec<SignedHead> {
    let head =
        |number: u32| SignedHead { game: Uuid::from_u128(number.into()), seq: Seq(number + 1), digest: Digest::of(&number.to_be_bytes()) };
    (0..count).map(head).collect()
}

/// Receipts of heads that were signed together.
fn together(count: u32) -> Vec<Receipt> {
    key().receipts(&heads(count))
}

/// It is nobody's.
#[track_caller]
fn wrong(receipt: &Receipt, what: &str) {
    assert_eq!(receipt.check(&keys()), Err(Unproved::Wrong(key().public().id())), "{what}: {receipt}");
}

fn placed(receipt: &Receipt, index: u32, size: u32) -> Option<Receipt> {
    let path = receipt.inclusion.as_ref().unwrap().path().to_vec();
    Inclusion::new(index, size, path).ok().map(|inclusion| Receipt { inclusion: Some(inclusion), ..receipt.clone() })
}

fn with_path(receipt: &Receipt, change: impl FnOnce(&mut Vec<Digest>)) -> Receipt {
    let inclusion = receipt.inclusion.as_ref().unwrap();
    let mut path = inclusion.path().to_vec();
    change(&mut path);
    Receipt { inclusion: Some(Inclusion::new(inclusion.index(), inclusion.size(), path).unwrap()), ..receipt.clone() }
}

/// Whoever wrote the page down can check what was signed years ago.
#[test]
fn what_is_signed_of_several_never_changes() {
    let signed = SignedHeads { size: 0x0102, root: Digest([7; 32]) };
    assert_eq!(signed.bytes().as_slice(), [b"plybook-heads/1".as_slice(), &[0, 0, 1, 2], &[7; 32]].concat());
    let heads = heads(3);
    let tree = Tree::over(heads.iter().map(SignedHead::bytes));
    let hash = |parts: &[&[u8]]| Digest::of(&parts.concat());
    let leaf: Vec<Digest> = heads.iter().map(|head| hash(&[&[0], &head.bytes()])).collect();
    assert_eq!(tree.root(), hash(&[&[1], &hash(&[&[1], &leaf[0].0, &leaf[1].0]).0, &leaf[2].0]));
    assert_eq!(together(3)[2].inclusion.as_ref().unwrap().heads(&heads[2]), SignedHeads { size: 3, root: tree.root() });
}

#[test]
fn every_receipt_of_every_size_holds_by_itself() {
    for count in (0..=70).chain([HEADS_SIGNED_MAX]) {
        let receipts = together(count);
        assert_eq!(receipts.len(), count as usize);
        for (index, (receipt, head)) in (0..).zip(receipts.iter().zip(heads(count))) {
            assert_eq!((receipt.head(), receipt.check(&keys())), (head, Ok(())));
            let place = receipt.inclusion.as_ref().map(|inclusion| (inclusion.index(), inclusion.size()));
            assert_eq!(place, (count > 1).then_some((index, count)));
            assert_eq!(receipt.signature, receipts[0].signature, "one signature for all");
            let line = receipt.to_string();
            assert_eq!(Receipt::parse(&line).as_ref(), Some(receipt), "{line}");
        }
    }
    assert_eq!(together(1), [key().receipt(heads(1)[0])], "one head is signed as ever");
    let more = together(HEADS_SIGNED_MAX + 2);
    let sizes: Vec<u32> = more.iter().map(|receipt| receipt.inclusion.as_ref().unwrap().size()).collect();
    assert!(sizes[..512].iter().all(|size| *size == 512) && sizes[512..] == [2, 2]);
    assert!(more.iter().all(|receipt| receipt.check(&keys()).is_ok()));
    assert_eq!(together(HEADS_SIGNED_MAX + 1).last().unwrap().inclusion, None, "who is left over is signed alone");
}

#[test]
fn a_changed_bit_anywhere_proves_nothing() {
    for receipt in together(7) {
        for node in 0..receipt.inclusion.as_ref().unwrap().path().len() {
            for bit in 0..256 {
                wrong(&with_path(&receipt, |path| path[node].0[bit / 8] ^= 1 << (bit % 8)), "a bit of the path");
            }
        }
        for bit in 0..512 {
            let mut changed = receipt.clone();
            changed.signature[bit / 8] ^= 1 << (bit % 8);
            wrong(&changed, "a bit of the signature");
        }
        for bit in 0..256 {
            let mut changed = receipt.clone();
            changed.digest.0[bit / 8] ^= 1 << (bit % 8);
            wrong(&changed, "a bit of the digest");
        }
        wrong(&Receipt { seq: receipt.seq.next(), ..receipt.clone() }, "another entry");
        wrong(&Receipt { game: Uuid::nil(), seq: Seq(2), ..receipt.clone() }, "another game");
    }
}

#[test]
fn another_place_proves_nothing() {
    for count in [2, 3, 4, 5, 7, 8, 9, 16, 17, 33] {
        for receipt in together(count) {
            let inclusion = receipt.inclusion.clone().unwrap();
            for index in (0..count).filter(|index| *index != inclusion.index()) {
                placed(&receipt, index, count).iter().for_each(|moved| wrong(moved, "another leaf"));
            }
            for size in (2..=40).chain([512]).filter(|size| *size != count) {
                placed(&receipt, inclusion.index(), size).iter().for_each(|moved| wrong(moved, "another size"));
            }
            for at in 1..inclusion.path().len() {
                wrong(&with_path(&receipt, |path| path.swap(at - 1, at)), "nodes swapped");
            }
        }
    }
}

/// Neither form is taken for the other, and no receipt for its neighbour's.
#[test]
fn what_was_signed_for_one_is_signed_for_nobody_else() {
    let (receipts, alone) = (together(4), key().receipt(heads(1)[0]));
    wrong(&Receipt { inclusion: None, ..receipts[0].clone() }, "signed together, shown as alone");
    wrong(&Receipt { inclusion: receipts[0].inclusion.clone(), ..alone }, "signed alone, shown as together");
    wrong(&Receipt { inclusion: receipts[1].inclusion.clone(), ..receipts[0].clone() }, "the place of the neighbour");
    wrong(&Receipt { signature: together(3)[0].signature, ..receipts[0].clone() }, "the signature of another tree");
    // A node of the tree is no leaf: what stands above two heads is no head, whatever bytes it is made of.
    let mut path = receipts[0].inclusion.as_ref().unwrap().path().to_vec();
    path.remove(0);
    let shortened = Receipt { inclusion: Some(Inclusion::new(0, 2, path).unwrap()), ..receipts[0].clone() };
    wrong(&shortened, "a shorter path");
    let stranger = PublicKeys::from_iter([*SigningKey::from_seed(&[2; 32]).unwrap().public()]);
    assert_eq!(receipts[0].check(&stranger), Err(Unproved::UnknownKey(key().public().id())));
}

#[test]
fn a_receipt_of_several_is_one_line_of_one_form() {
    let receipt = together(5).remove(4);
    let line = receipt.to_string();
    let alone = Receipt { inclusion: None, ..receipt.clone() }.to_string();
    let node = receipt.inclusion.as_ref().unwrap().path()[0].to_string();
    assert_eq!(line, format!("{alone} leaf 4 of 5 {node}"));
    let with = |tail: &str| format!("{alone}{tail}");
    for other in [with(""), with(&format!(" leaf 0 of 5 {node},{node},{node}")), with(&format!(" leaf 3 of 4 {node},{node}"))] {
        assert!(Receipt::parse(&other).is_some(), "{other:?} has the form, if nothing more");
    }
    for tail in [
        " ".to_owned(),
        " leaf".to_owned(),
        " leaf ".to_owned(),
        " leaf 4 of 5".to_owned(),
        " leaf 4 of 5 ".to_owned(),
        format!(" leaf 4 of 5 {node} "),
        format!(" leaf 4 of 5 {node},"),
        format!(" leaf 4 of 5 ,{node}"),
        format!(" leaf 4 of 5 {node},{node}"),
        format!(" leaf 4 of 5 {node} {node}"),
        format!(" leaf 4 of 5 {}", node.to_uppercase()),
        format!(" leaf 4 of 5 {}", &node[1..]),
        format!(" leaf 4 of 5 {node}0"),
        format!(" leaf 04 of 5 {node}"),
        format!(" leaf +4 of 5 {node}"),
        format!(" leaf 4 of 05 {node}"),
        format!(" leaf -4 of 5 {node}"),
        format!(" leaf 5 of 5 {node}"),
        format!(" leaf 3 of 5 {node}"),
        format!(" leaf 4294967300 of 5 {node}"),
        format!(" leaf 0 of 1 {node}"),
        " leaf 0 of 1 ".to_owned(),
        format!(" leaf 512 of 513 {node}"),
        format!(" leaf 4 in 5 {node}"),
        format!(" leaf  4 of 5 {node}"),
        format!("  leaf 4 of 5 {node}"),
        format!(" Leaf 4 of 5 {node}"),
        format!(" leaf 4 of 5 {node} leaf 4 of 5 {node}"),
        format!(" leaf 4 of 5 {node}\n"),
    ] {
        assert_eq!(Receipt::parse(&with(&tail)), None, "{tail:?}");
    }
    assert_eq!(Receipt::parse(&line.replacen("receipt ", "signed ", 1)), None);
}

/// The page of the format says it all: whoever knows nothing else finds the same receipts right, and the same ones wrong.
#[test]
fn the_second_verifier_agrees_about_receipts() {
    let folder = tempfile::tempdir().unwrap();
    let whole: Vec<Receipt> = [1, 2, 3, 5, 8, 13, 70].into_iter().flat_map(together).collect();
    let moved = together(6).into_iter().flat_map(|receipt| (0..6).filter_map(move |index| placed(&receipt, index, 6)));
    let resized = together(6).into_iter().flat_map(|receipt| (2..9).filter_map(move |size| placed(&receipt, 1, size)));
    let bare = together(3).into_iter().map(|receipt| Receipt { inclusion: None, ..receipt });
    let receipts: Vec<Receipt> = whole.into_iter().chain(moved).chain(resized).chain(bare).collect();
    let lines: String = receipts.iter().map(|receipt| format!("{receipt}\n")).collect();
    std::fs::write(folder.path().join("receipts"), lines).unwrap();
    let (said, code) = python(&["--receipts", "receipts", "--public-key", &key().public().print()], folder.path());
    let first: Vec<bool> = receipts.iter().map(|receipt| receipt.check(&keys()).is_ok()).collect();
    let second: Vec<bool> = said.lines().map(|line| line.ends_with(": right")).collect();
    assert_eq!((second, code), (first.clone(), Some(1)), "{said}");
    assert!(first.contains(&true) && first.contains(&false));
}
