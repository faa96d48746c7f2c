//! Signatures over heads: what they prove, to whom, and what takes them apart.

use plybook_core::receipt::{BadKey, InBook, KeyId, PublicKey, PublicKeys, Signature, SignedHead, Unproved};
use plybook_core::verify::{Report, Signed, Wrong, verify, verify_signed};
use plybook_core::{Book, Digest, Receipt, Seq, Uuid};
use plybook_server::signing::SigningKey;
use plybook_tests::golden;
use plybook_tests::table::table;

use super::second;

/// The first key of RFC 8032's test vectors.
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const PUBLIC: &str = "21fe31dfa154a261 d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&[number; 32]).unwrap()
}

fn keys(keys: &[&SigningKey]) -> PublicKeys {
    keys.iter().map(|key| *key.public()).collect()
}

fn sign(book: Book, key: &SigningKey) -> Book {
    let signature = key.sign(&book.head());
    book.signed(signature)
}

fn check(book: &Book, with: &[&SigningKey]) -> Result<Report, Wrong> {
    verify_signed(&book.print(), &golden::registry(), &keys(with))
}

/// The same moves under a header that somebody changed: every digest is right.
fn written_anew(book: &Book) -> Book {
    let mut header = book.header().clone();
    header.seats[0].player = "somebody_else".to_owned();
    assert_ne!(&header, book.header());
    let mut forged = Book::new(header);
    book.lines().iter().for_each(|link| forged.push(link.text.clone()));
    forged
}

/// Whoever wrote the page down can check what was signed years ago.
#[test]
fn what_is_signed_never_changes() {
    let head = SignedHead { game: Uuid::from_u128(0x0102), seq: Seq(0x0304), digest: Digest([7; 32]) };
    let bytes = [b"plybook-head/1".as_slice(), &[0; 14], &[1, 2, 0, 0, 3, 4], &[7; 32]].concat();
    assert_eq!(head.bytes().as_slice(), bytes);
    let mut seed = [0; 32];
    for (at, byte) in seed.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&SEED[2 * at..2 * at + 2], 16).unwrap();
    }
    let published = SigningKey::from_seed(&seed).unwrap();
    assert_eq!(published.public().print(), PUBLIC);
    assert_eq!(PublicKey::parse(PUBLIC).unwrap(), *published.public());
    let told = format!("{published:?}");
    assert_eq!(told, "SigningKey(21fe31dfa154a261, hidden)");
    assert_eq!(published.sign(&head), published.sign(&head), "the same head is always signed alike");
}

#[test]
fn a_signed_book_says_by_whom_to_who_has_the_key() {
    let (ours, other) = (key(1), key(2));
    for golden in golden::all() {
        let book = sign(golden.book.clone(), &ours);
        let file = book.print();
        assert_eq!(file, format!("{}signed {}\n", golden.book.print(), book.signature().unwrap()), "{}", golden.name);
        assert_eq!(Book::parse(&file).unwrap(), book);
        let id = ours.public().id();
        assert_eq!(check(&book, &[&other, &ours]).unwrap().signed, Signed::By(id));
        assert_eq!(check(&book, &[&other]).unwrap().signed, Signed::UnknownKey(id));
        assert_eq!(verify(&file, &golden::registry()).unwrap().signed, Signed::UnknownKey(id));
        assert_eq!(check(&golden.book, &[&ours]).unwrap().signed, Signed::No);
    }
}

#[test]
fn a_signature_is_over_one_head_alone() {
    let ours = key(1);
    let short = table().mnk(3, 3, 3).play("b2 a1").book().clone();
    let long = table().mnk(3, 3, 3).play("b2 a1 b1").book().clone();
    let signed = sign(short.clone(), &ours);
    let mut grown = signed.clone();
    grown.push(long.lines()[2].text.clone());
    assert_eq!((grown.signature(), grown.digest()), (None, long.digest()), "an entry more and the signature is gone");
    let moved = long.signed(*signed.signature().unwrap());
    let wrong = check(&moved, &[&ours]).unwrap_err();
    assert_eq!((wrong.line, wrong.seq), (Some(moved.print().lines().count()), None), "{wrong}");
    assert!(wrong.why.contains(&ours.public().id().to_string()), "{wrong}");
    let head = short.head();
    let signature = ours.sign(&head);
    for other in [
        SignedHead { game: Uuid::from_u128(9), ..head },
        SignedHead { seq: head.seq.next(), ..head },
        SignedHead { digest: Digest([0; 32]), ..head },
    ] {
        assert_eq!(signature.check(&other, &keys(&[&ours])), Err(Unproved::Wrong(ours.public().id())));
    }
    assert_eq!(signature.check(&head, &keys(&[&ours])), Ok(()));
}

#[test]
fn a_book_written_anew_is_found_by_who_has_the_key_or_a_receipt() {
    let (ours, theirs) = (key(1), key(2));
    for golden in golden::all() {
        let signed = sign(golden.book.clone(), &ours);
        let kept: Vec<Receipt> = (1u32..)
            .zip(golden.book.links())
            .map(|(seq, link)| ours.receipt(SignedHead { game: golden.book.header().game, seq: Seq(seq), digest: link.digest }))
            .collect();
        assert!(kept.iter().all(|receipt| receipt.is_of(&signed) && receipt.check(&keys(&[&ours])).is_ok()));

        let forged = written_anew(&golden.book);
        assert!(!kept.iter().any(|receipt| receipt.is_of(&forged)), "{}: whoever has any receipt sees it", golden.name);
        if golden.book.print().contains(" reveal ") || golden.book.print().contains(" key=") {
            check(&forged, &[]).expect_err("what the seats committed to was for another header");
            continue;
        }
        assert!(check(&forged, &[]).is_ok(), "{}: no book alone shows it", golden.name);
        assert_eq!(check(&forged, &[&ours]).unwrap().signed, Signed::No, "the signature was taken off");
        let pasted = forged.clone().signed(*signed.signature().unwrap());
        assert!(check(&pasted, &[&ours]).unwrap_err().why.contains("is not that of key"), "the old signature is put below");
        let resigned = sign(forged.clone(), &theirs);
        assert_eq!(check(&resigned, &[&ours]).unwrap().signed, Signed::UnknownKey(theirs.public().id()));
        let as_ours = Signature { key_id: ours.public().id(), ..theirs.sign(&forged.head()) };
        check(&forged.clone().signed(as_ours), &[&ours]).expect_err("another key's signature under our id");
    }
}

/// What a book has in the place of a head that was kept: the same, or which difference.
#[test]
fn a_head_that_was_kept_is_compared_with_what_stands_there() {
    let book = table().mnk(3, 3, 3).play("b2 a1").book().clone();
    let forged = written_anew(&book);
    let head = SignedHead { seq: Seq(2), digest: book.links()[1].digest, ..book.head() };
    assert_eq!(head.in_book(&book), InBook::Same);
    assert_eq!(head.in_book(&forged), InBook::OtherDigest(forged.links()[1].digest));
    assert_eq!(SignedHead { seq: Seq(4), ..head }.in_book(&book), InBook::Nothing(Seq(3)));
    assert_eq!(SignedHead { seq: Seq(0), ..head }.in_book(&book), InBook::Nothing(Seq(3)));
    assert_eq!(SignedHead { game: Uuid::nil(), ..head }.in_book(&book), InBook::OtherGame(head.game));
}

#[test]
fn a_receipt_is_one_line_of_one_form() {
    let receipt = key(1).receipt(table().mnk(3, 3, 3).play("b2").book().head());
    let line = receipt.to_string();
    let signature = Signature { key_id: receipt.key_id, bytes: receipt.signature };
    assert_eq!(line, format!("receipt {} 2 {} {signature}", receipt.game, receipt.digest));
    assert_eq!(Receipt::parse(&line), Some(receipt.clone()));
    let game = receipt.game.to_string();
    for other in [
        String::new(),
        line.to_uppercase(),
        format!("{line} "),
        format!(" {line}"),
        format!("{line}\n"),
        format!("{line}0"),
        line[..line.len() - 2].to_owned(),
        line.replacen("receipt ", "", 1),
        line.replacen("receipt ", "signed ", 1),
        line.replacen(' ', "  ", 1),
        line.replacen(&game, &game.to_uppercase(), 1),
        line.replacen(&game, &game.replace('-', ""), 1),
        line.replacen(" 2 ", " 0 ", 1),
        line.replacen(" 2 ", " 02 ", 1),
        line.replacen(" 2 ", " +2 ", 1),
        line.replacen(" 2 ", " 4294967296 ", 1),
        line.replacen(&receipt.digest.to_string(), &receipt.digest.to_string().to_uppercase(), 1),
    ] {
        assert_eq!(Receipt::parse(&other), None, "{other:?}");
    }
}

/// A receipt of which a byte was changed is nobody's.
#[test]
fn a_changed_receipt_proves_nothing() {
    let ours = key(1);
    let receipt = ours.receipt(table().mnk(3, 3, 3).play("b2").book().head());
    let with = keys(&[&ours]);
    for bit in 0..512 {
        let mut changed = receipt.clone();
        changed.signature[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(changed.check(&with), Err(Unproved::Wrong(receipt.key_id)), "bit {bit}");
    }
    let stranger = Receipt { key_id: KeyId([0; 8]), ..receipt };
    assert_eq!(stranger.check(&with), Err(Unproved::UnknownKey(KeyId([0; 8]))));
}

/// What RFC 8032 leaves open is closed: one signature has one form, and no key is everybody's.
#[test]
fn other_forms_of_a_signature_and_weak_keys_are_refused() {
    // The order of the group, little-endian: adding it to S gives a signature that sloppy checks accept.
    let order = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0x10u8,
    ];
    let ours = key(1);
    let mut receipt = ours.receipt(table().mnk(3, 3, 3).play("b2").book().head());
    let mut carry = 0;
    for (byte, more) in receipt.signature[32..].iter_mut().zip(order) {
        let sum = u16::from(*byte) + u16::from(more) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(receipt.check(&keys(&[&ours])), Err(Unproved::Wrong(receipt.key_id)));
    let mut neutral = [0; 32];
    neutral[0] = 1;
    assert_eq!(PublicKey::from_bytes(&neutral), Err(BadKey::Point));
    assert_eq!(PublicKey::from_bytes(&[0; 32]), Err(BadKey::Point));
}

#[test]
fn a_public_key_is_read_in_one_form() {
    let (_, digits) = PUBLIC.split_once(' ').unwrap();
    // Without its id it might be a private key.
    for (text, why) in [
        (digits.to_owned(), BadKey::Form),
        (PUBLIC.to_uppercase(), BadKey::Form),
        (PUBLIC[..PUBLIC.len() - 2].to_owned(), BadKey::Form),
        (format!("{PUBLIC} "), BadKey::Form),
        (String::new(), BadKey::Form),
    ] {
        assert_eq!(PublicKey::parse(&text), Err(why), "{text:?}");
    }
    let other = PUBLIC.replacen("21", "22", 1);
    assert!(matches!(PublicKey::parse(&other), Err(BadKey::OtherId { .. })));
}

/// Every byte of the line counts, and the second verifier reads its form alike.
#[test]
fn every_byte_of_a_signature_matters() {
    let ours = key(1);
    let book = sign(table().mnk(3, 3, 3).play("b2 a1 b1").book().clone(), &ours);
    let file = book.print();
    let begins = file.find("signed ").unwrap();
    let mut cases = vec![("as it is".to_owned(), file.clone().into_bytes())];
    for at in begins..file.len() {
        for flip in [0x01, 0x10] {
            let mut damaged = file.clone().into_bytes();
            damaged[at] ^= flip;
            cases.push((format!("byte {at} flipped by {flip}"), damaged));
        }
    }
    let line = &file[begins..];
    let before = &file[..begins];
    for (what, rest) in [
        ("twice", format!("{line}{line}")),
        ("without LF", line.trim_end().to_owned()),
        ("upper case", format!("signed {}\n", line["signed ".len()..].trim_end().to_uppercase())),
        ("an id too short", line.replacen("signed ", "signed", 1)),
        ("no signature", "signed \n".to_owned()),
        ("a digit more", format!("{}0\n", line.trim_end())),
        ("two spaces", line.replacen(' ', "  ", 1)),
        ("something after it", format!("{line}end\n")),
        ("an empty line after it", format!("{line}\n")),
    ] {
        cases.push((what.to_owned(), format!("{before}{rest}").into_bytes()));
    }
    let wrong = second::compare(&cases);
    assert!(wrong > 100 && wrong < cases.len(), "{wrong} of {} are wrong by their form", cases.len());
    for (what, damaged) in &cases[1..] {
        let Ok(text) = std::str::from_utf8(damaged) else { continue };
        let found = verify_signed(text, &golden::registry(), &keys(&[&ours]));
        assert!(!matches!(&found, Ok(Report { signed: Signed::By(_) | Signed::No, .. })), "{what}: {found:?}");
    }
    let moved = format!("{}{line}{}", &file[..file.find("end ").unwrap()], &file[file.find("end ").unwrap()..begins]);
    assert!(verify(&moved, &golden::registry()).is_err(), "before the trailer");
}

/// What the second verifier says of a file with these public keys, as `plybook keys` prints them.
fn second_says(book: &str, with: &[String]) -> (serde_json::Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("book.ply"), book).unwrap();
    let keys = with.iter().flat_map(|key| ["--public-key", key.as_str()]);
    let arguments: Vec<&str> = ["--json", "book.ply"].into_iter().chain(keys).collect();
    let (said, code) = second::python(&arguments, folder.path());
    (serde_json::from_str(&said).unwrap(), code)
}

/// Both verifiers take and refuse the same signatures over heads.
#[test]
fn the_second_verifier_checks_signatures_too() {
    let (ours, theirs) = (key(1), key(2));
    let print = |key: &SigningKey| key.public().print();
    let plain = table().mnk(3, 3, 3).play("b2 a1 b1").book().clone();
    let signed = sign(plain.clone(), &ours).print();
    let (both, other) = ([print(&theirs), print(&ours)], [print(&theirs)]);
    let told = |(said, code): (serde_json::Value, Option<i32>)| (said["signature"].as_str().map(str::to_owned), code);
    assert_eq!(told(second_says(&signed, &both)), (Some(format!("signed by {}", ours.public().id())), Some(0)));
    assert_eq!(told(second_says(&signed, &[])), (Some("signature not checked: no public key given".to_owned()), Some(0)));
    assert_eq!(told(second_says(&plain.print(), &[])), (Some("not signed".to_owned()), Some(0)));
    for (file, with) in [(&signed, &other[..]), (&plain.print(), &both[..])] {
        let (said, code) = second_says(file, with);
        assert_eq!((said["why"].as_str(), code), (Some("none of the keys given has signed this book"), Some(1)));
    }
    let signature = &signed[signed.find("signed ").unwrap()..].trim_end()["signed ".len() + 17..];
    for at in (0..128).step_by(9) {
        let flipped = if &signature[at..=at] == "0" { "1" } else { "0" };
        let damaged = signed.replace(signature, &format!("{}{flipped}{}", &signature[..at], &signature[at + 1..]));
        let (said, code) = second_says(&damaged, &both);
        let why = format!("this is not the signature of key {}", ours.public().id());
        assert_eq!((said["why"].as_str(), &said["entry"], code), (Some(why.as_str()), &serde_json::Value::Null, Some(1)), "digit {at}");
    }
}
