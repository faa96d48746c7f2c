//! `plybook verify --receipt` and `--head`: what somebody kept of a game, against a book that was written anew.

use std::fs;

use plybook_core::receipt::{Signature, SignedHead};
use plybook_core::{Book, Header, Receipt, Seq};
use plybook_server::signing::SigningKey;
use plybook_tests::golden;
use serde_json::Value;
use tempfile::TempDir;

use super::keys::signing;
use super::{Ran, run};

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&[number; 32]).unwrap()
}

fn verify(args: &[&str]) -> Ran {
    run(&[&["verify"], args].concat(), "")
}

/// The same moves under a header that somebody changed: every digest is right.
fn written_anew(book: &Book) -> Book {
    let header = book.header().to_string().replacen("by anonymous", "by somebody_else", 1);
    assert_ne!(header, book.header().to_string());
    let mut forged = Book::new(Header::parse(&header).unwrap());
    book.lines().iter().for_each(|link| forged.push(link.text.clone()));
    forged
}

/// A folder with a golden, its forgery, the keys of two signers, and receipts.
struct Desk {
    folder: TempDir,
    book: Book,
}

impl Desk {
    fn open() -> Desk {
        let book = golden::all().into_iter().find(|golden| golden.name == "mnk").unwrap().book;
        let desk = Desk { folder: tempfile::tempdir().unwrap(), book };
        desk.file("right.ply", &desk.book.print());
        desk.file("forged.ply", &written_anew(&desk.book).print());
        desk.file("ours.pub", &key(1).public().print());
        desk.file("theirs.pub", &key(2).public().print());
        desk
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn entries(&self) -> u32 {
        self.book.links().len() as u32
    }

    fn head(&self, seq: u32) -> SignedHead {
        SignedHead { game: self.book.header().game, seq: Seq(seq), digest: self.book.links()[seq as usize - 1].digest }
    }

    /// Writes our receipt of an entry.
    fn receipt(&self, name: &str, seq: u32) -> String {
        self.file(name, &format!("{}\n", key(1).receipt(self.head(seq))))
    }
}

#[test]
fn a_receipt_holds_or_the_book_is_another() {
    let desk = Desk::open();
    let [right, forged, ours] = ["right.ply", "forged.ply", "ours.pub"].map(|name| desk.path(name));
    let third = desk.receipt("third", 3);
    let unchecked = "its signature was not checked, for no public key was given";
    let ran = verify(&[&right, "--receipt", &third]).ok().says(": verified").says("entry 3: holds").says(unchecked);
    assert!(!ran.out.contains("would pass as well"), "{ran:#?}");
    verify(&[&forged]).ok().says("a book written anew from its first entry would pass as well");
    let other = written_anew(&desk.book).links()[2].digest;
    let ran =
        verify(&[&forged, "--receipt", &third]).fails(1, "1 of 1 did not verify").says("NOT PROVED").says("1 of 1 kept of it did not hold");
    ran.says(&format!("entry 3: WRONG: the book has another digest there: {other}"));

    // A receipt says nothing of what came after it: with keys, all of the book must be signed.
    let ran = verify(&[&right, "--public-key", &ours, "--receipt", &third]).fails(1, "1 of 1");
    ran.says("NOT PROVED: it follows from itself, but it is not signed").says("entry 3: holds; signed by key ");
    // Over the last entry it is the signature that could stand below the book.
    let last = desk.receipt("last", desk.entries());
    verify(&[&right, "--public-key", &ours, "--receipt", &last, "--receipt", &third]).ok().says("verified").says("not signed");
    let cut = {
        let mut cut = Book::new(desk.book.header().clone());
        desk.book.lines()[..2].iter().for_each(|link| cut.push(link.text.clone()));
        desk.file("cut.ply", &cut.print())
    };
    verify(&[&cut, "--receipt", &third]).ok();
    verify(&[&cut, "--receipt", &last]).fails(1, "1 of 1").says("WRONG: the book has no such entry: its last is 3");
}

#[test]
fn a_receipt_is_worth_its_signature() {
    let desk = Desk::open();
    let [right, ours, theirs] = ["right.ply", "ours.pub", "theirs.pub"].map(|name| desk.path(name));
    let (last, ours_id) = (desk.entries(), key(1).public().id());
    let receipt = desk.receipt("kept", last);
    let ran = verify(&[&right, "--public-key", &theirs, "--receipt", &receipt]).fails(1, "1 of 1").says("WRONG");
    ran.says(&format!("signed by a key that was not given: {ours_id}"));
    let forged = Signature { key_id: ours_id, ..key(2).sign(&desk.head(last)) };
    let forged = desk.file("wrong", &Receipt::new(desk.head(last), forged).to_string());
    let ran = verify(&[&right, "--public-key", &ours, "--receipt", &forged]).fails(1, "1 of 1");
    ran.says(&format!("WRONG; the signature is not that of key {ours_id} over this game, entry and digest"));
    // Not the key that signed the book, but both were given.
    let signed = desk.file("signed.ply", &desk.book.clone().signed(key(2).sign(&desk.head(last))).print());
    verify(&[&signed, "--public-key", &ours, "--public-key", &theirs, "--receipt", &receipt]).ok().says("holds; signed by key");
}

#[test]
fn a_head_digest_that_was_kept_shows_a_forgery_without_any_key() {
    let desk = Desk::open();
    let [right, forged] = ["right.ply", "forged.ply"].map(|name| desk.path(name));
    for seq in [1, 2, desk.entries()] {
        let head = format!("{seq}:{}", desk.head(seq).digest);
        verify(&[&right, "--head", &head]).ok().says(&format!("kept digest, entry {seq}: holds"));
        let ran = verify(&[&forged, "--head", &head]).fails(1, "1 of 1");
        ran.says(&format!("kept digest, entry {seq}: WRONG: the book has another digest there"));
    }
    let head = format!("1:{}", desk.head(1).digest);
    verify(&[&right, &forged, "--head", &head]).fails(2, "--head names no game, so give one book with it");
    let beyond = format!("{}:{}", desk.entries() + 1, desk.head(1).digest);
    verify(&[&right, "--head", &beyond]).fails(1, "1 of 1").says("WRONG: the book has no such entry");
    let digest = desk.head(1).digest.to_string();
    for head in ["1", "0:", &digest, &format!("0:{digest}"), &format!("1:{}", digest.to_uppercase()), &format!("1:{digest}0")] {
        verify(&[&right, "--head", head]).fails(2, "is no entry's number, a colon, and 64 lowercase hexadecimal digits");
    }
}

#[test]
fn no_receipt_is_passed_over() {
    let desk = Desk::open();
    let right = desk.path("right.ply");
    let other = golden::folder().join("othello.ply");
    let other = other.to_str().unwrap();
    let (receipt, last) = (desk.receipt("kept", 2), desk.entries());
    verify(&[&right, other, "--receipt", &receipt]).ok();
    let ran = verify(&[other, "--receipt", &receipt]).fails(1, "1 of the receipts had no book to be compared with");
    ran.says("othello.ply: verified").says("NOT COMPARED: game ").says("no book that follows from itself is of its game");
    let broken = desk.file("broken.ply", &desk.book.print().replacen(" 0:", " 1:", 1));
    verify(&[&broken, "--receipt", &receipt]).fails(1, "1 of 1 did not verify").says("WRONG").says("NOT COMPARED");

    let text = fs::read_to_string(&receipt).unwrap();
    let both = desk.file("both", &format!("{text}\n{}\n", key(1).receipt(desk.head(last))));
    let ran = verify(&[&right, "--receipt", &both]).ok();
    assert_eq!(ran.out.matches(": holds").count(), 2, "{ran:#?}");
    for (name, bytes, why) in [
        ("empty", &b"\n"[..], "holds no receipt: it is empty"),
        ("half", &text.as_bytes()[..100], "holds no receipt in line 1"),
        ("binary", &[0xff, 0xfe], "is not UTF-8"),
    ] {
        let path = desk.path(name);
        fs::write(&path, bytes).unwrap();
        let ran = verify(&[&right, "--receipt", &path]).fails(2, why);
        assert!(ran.out.is_empty(), "{ran:#?}");
    }
    verify(&[&right, "--receipt", &desk.path("missing")]).fails(2, "cannot be read");
    verify(&["--database", "--receipt", &receipt]).fails(2, "cannot be used with");
}

/// One signature over a tree of heads is worth as much to each of them as one of its own.
#[test]
fn receipts_that_were_signed_together_are_worth_as_much() {
    let desk = Desk::open();
    let [right, forged, ours, theirs] = ["right.ply", "forged.ply", "ours.pub", "theirs.pub"].map(|name| desk.path(name));
    let heads: Vec<SignedHead> = (1..=desk.entries()).map(|seq| desk.head(seq)).collect();
    let receipts = key(1).receipts(&heads);
    let lines = |receipts: &[Receipt]| receipts.iter().map(|receipt| format!("{receipt}\n")).collect::<String>();
    let kept = desk.file("together", &lines(&receipts));
    let ran = verify(&[&right, "--public-key", &ours, "--receipt", &kept]).ok().says(": verified");
    assert_eq!(ran.out.matches(": holds; signed by key").count(), heads.len(), "{ran:#?}");
    verify(&[&forged, "--receipt", &kept]).fails(1, "1 of 1");
    verify(&[&right, "--public-key", &theirs, "--receipt", &kept]).fails(1, "1 of 1").says("signed by a key that was not given");

    let neighbour = Receipt { inclusion: receipts[0].inclusion.clone(), ..receipts[1].clone() };
    let moved = desk.file("moved", &neighbour.to_string());
    let ran = verify(&[&right, "--public-key", &ours, "--receipt", &moved]).fails(1, "1 of 1");
    ran.says("entry 2: WRONG; the signature is not that of key");
    let cut = lines(&receipts[..1]);
    let cut = desk.file("cut-off", &cut[..cut.len() - 65]);
    verify(&[&right, "--receipt", &cut]).fails(2, "holds no receipt in line 1");
}

#[test]
fn machines_read_what_became_of_each_receipt() {
    let desk = Desk::open();
    let [right, forged, ours] = ["right.ply", "forged.ply", "ours.pub"].map(|name| desk.path(name));
    let receipt = desk.receipt("kept", desk.entries());
    let ran = verify(&["--json", &right, &forged, "--public-key", &ours, "--receipt", &receipt]).fails(1, "1 of 2");
    let told: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let digest = desk.head(desk.entries()).digest.to_string();
    let id = key(1).public().id().to_string();
    let holds = serde_json::json!([{
        "receipt": receipt, "entry": desk.entries(), "digest": digest, "holds": true, "book": "same", "key_id": id, "signature": "right",
    }]);
    assert_eq!((&told[0]["verified"], &told[0]["kept"]), (&Value::from(true), &holds));
    assert_eq!(told[1]["verified"], false);
    let kept = &told[1]["kept"][0];
    assert_eq!((&kept["holds"], &kept["book"], &kept["signature"]), (&false.into(), &"other_digest".into(), &"right".into()));
    assert_eq!(kept["book_digest"], written_anew(&desk.book).digest().to_string());
    let stranger = golden::folder().join("othello.ply");
    let ran = verify(&["--json", stranger.to_str().unwrap(), "--receipt", &receipt]).fails(1, "had no book");
    let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["receipt"], &last["verified"], &last["entry"]), (&receipt.into(), &false.into(), &desk.entries().into()));
}

/// From the server to the file: the game that was created here, and every move, undo and close that was played.
#[test]
fn who_plays_keeps_receipts() {
    let desk = Desk::open();
    let private = desk.path("node.key");
    let public = desk.file("node.pub", &run(&["keygen", "--out", &private], "").ok().out);
    let house = signing(&["--signing-key", &private]);
    let kept = desk.path("kept");
    let game = house.play(&["--undo-after-end", "--receipts", &kept], "b2 undo b2 a1 b3 c1 b1 close").ok().game();
    let book = house.run("export", &[&game], "").ok().out;
    let receipts = fs::read_to_string(&kept).unwrap();
    let seqs: Vec<u32> = receipts.lines().map(|line| Receipt::parse(line).unwrap().seq.0).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let bare = Book::parse(&book).unwrap();
    let bare = bare.lines().iter().fold(Book::new(bare.header().clone()), |mut bare, link| {
        bare.push(link.text.clone());
        bare
    });
    let file = desk.file("game.ply", &bare.print());
    let ran = verify(&[&file, "--public-key", &public, "--receipt", &kept]).ok();
    assert_eq!(ran.out.matches(": holds; signed by key").count(), 9, "{ran:#?}");
    let forged = desk.file("forged.ply", &written_anew(&bare).print());
    verify(&[&forged, "--receipt", &kept]).fails(1, "1 of 1").says("9 of 9 kept of it did not hold");

    // More is added below, also by who goes on with a game.
    let other = house.play(&["--receipts", &kept], "b2").ok().game();
    house.play(&["--receipts", &kept, "--game", &other], "a1").ok();
    assert_eq!(fs::read_to_string(&kept).unwrap().lines().count(), 12);
    let nowhere = desk.path("no-such-folder/kept");
    let ran = house.play(&["--receipts", &nowhere], "b2").fails(1, "cannot be opened to keep receipts");
    assert!(ran.out.is_empty(), "no game is created first: {ran:#?}");
    let keyless = signing(&[]);
    let ran = keyless.play(&["--receipts", &kept], "b2").fails(1, "RECEIPTS_UNAVAILABLE");
    assert!(ran.out.is_empty(), "no game is created that could not be played as asked: {ran:#?}");
}

/// What a seat sent while joining is what an operator would gain most by denying.
#[test]
fn who_joins_keeps_receipts() {
    let desk = Desk::open();
    let private = desk.path("node.key");
    run(&["keygen", "--out", &private], "").ok();
    let house = signing(&["--signing-key", &private]);
    let kept = desk.path("joined");
    let race = ["--ruleset", "snakes_and_ladders", "--param", "size=12", "--joint", "--receipts", &kept];
    let game = house.play(&race, &"roll\n".repeat(500)).ok().game();
    let file = desk.file("race.ply", &house.run("export", &[&game], "").ok().out);
    let entries = Book::parse(&fs::read_to_string(&file).unwrap()).unwrap().links().len() as u32;
    let mut seqs: Vec<u32> = fs::read_to_string(&kept).unwrap().lines().map(|line| Receipt::parse(line).unwrap().seq.0).collect();
    // The seats join at the same time.
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=entries).collect::<Vec<_>>());
    verify(&[&file, "--receipt", &kept]).ok();
}
