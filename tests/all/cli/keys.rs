//! `plybook keygen`, `keys`, and what signatures are worth to a person with files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use plybook_core::Book;
use plybook_core::Header;
use plybook_tests::node;
use serde_json::Value;

use super::{House, Ran, run};

/// The first key of RFC 8032's test vectors, in every form that is read.
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const BASE64: &str = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g";
const PUBLIC_PEM: &str =
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";
const PUBLIC: &str = "21fe31dfa154a261 d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

fn private_pem() -> String {
    format!("-----BEGIN PRIVATE KEY-----\n{BASE64}\n-----END PRIVATE KEY-----\n")
}

/// Writes a file with these permissions, and answers its path.
fn file(folder: &Path, name: &str, text: &str, mode: u32) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A server that signs, with its logs at their loudest in `log`.
pub(super) fn signing(flags: &[&str]) -> House {
    let folder = tempfile::tempdir().unwrap();
    let books = folder.path().join("books.db");
    let setup = node::over(books.to_str().unwrap()).with(flags).with(&["--log", "trace"]);
    let node = setup.logs_to(&folder.path().join("log")).start();
    House { node, folder }
}

fn verify(args: &[&str]) -> Ran {
    run(&[&["verify"], args].concat(), "")
}

#[test]
fn a_new_key_is_its_owners_and_prints_its_public_half() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.key");
    let path = path.to_str().unwrap();
    let ran = run(&["keygen", "--out", path], "").ok();
    let private = fs::read_to_string(path).unwrap();
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(private.len() == 65 && private.ends_with('\n'), "64 digits and LF");
    assert!(!ran.out.contains(private.trim()) && !ran.err.contains(private.trim()));
    let public = file(folder.path(), "node.pub", &ran.out, 0o644);

    let ran = run(&["keygen", "--out", path], "").fails(1, "cannot be written");
    assert_eq!(ran.out, "");
    assert_eq!(fs::read_to_string(path).unwrap(), private, "a key is never written over");
    let other = folder.path().join("other.key");
    assert_ne!(run(&["keygen", "--out", other.to_str().unwrap()], "").ok().out, fs::read_to_string(&public).unwrap());

    let house = signing(&["--signing-key", path]);
    let listed = house.run("keys", &[], "").ok().out;
    assert_eq!(listed, format!("{} active\n", fs::read_to_string(&public).unwrap().trim()));
}

#[test]
fn a_server_shows_its_keys_and_tells_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("hex", format!("{SEED}\n")), ("pem", private_pem())] {
        let private = file(folder.path(), name, &text, 0o600);
        let retired = run(&["keygen", "--out", folder.path().join(format!("{name}.old")).to_str().unwrap()], "").ok().out;
        let public = file(folder.path(), "retired", &retired, 0o644);
        let pem = file(folder.path(), "public.pem", PUBLIC_PEM, 0o644);
        let house = signing(&["--signing-key", &private, "--public-key", &public, "--public-key", &pem]);
        let listed = house.run("keys", &[], "").ok();
        assert_eq!(listed.out, format!("{PUBLIC} active\n{} retired\n", retired.trim()), "{name}");

        let game = house.play(&[], "b2 a1 b3 c1 b1").ok().game();
        let exported = house.run("export", &[&game], "").ok().out;
        assert!(exported.lines().last().unwrap().starts_with("signed 21fe31dfa154a261 "), "{exported}");
        let log = fs::read_to_string(house.path().join("log")).unwrap();
        assert!(log.contains("GetBook"), "the log is at its loudest");
        for text in [&listed.out, &listed.err, &exported, &log] {
            assert!(!text.contains(SEED) && !text.contains(BASE64) && !text.contains(&SEED.to_uppercase()), "{name}: a secret is told");
        }
        let bytes: Vec<String> = (0..32).map(|at| u8::from_str_radix(&SEED[2 * at..2 * at + 2], 16).unwrap().to_string()).collect();
        assert!(!log.contains(&bytes[..4].join(", ")), "{name}: nor as a list of bytes");
    }
}

#[test]
fn who_has_the_key_sees_what_was_forged() {
    let folder = tempfile::tempdir().unwrap();
    let private = file(folder.path(), "key", SEED, 0o600);
    let house = signing(&["--signing-key", &private]);
    let game = house.play(&["--player", "ann", "--player", "bob"], "b2 a1 b3 c1 b1").ok().game();
    let path = house.path().join("game.ply");
    let right = path.to_str().unwrap();
    house.run("export", &[&game, "-o", right], "").ok();
    let ours = house.file("ours", &house.run("keys", &[], "").ok().out);
    let other = house.file("other", &run(&["keygen", "--out", house.path().join("x").to_str().unwrap()], "").ok().out);

    verify(&["--public-key", &ours, right]).ok().says("signed by key 21fe31dfa154a261");
    verify(&["--public-key", &other, "--public-key", &ours, right]).ok().says("signed by key 21fe31dfa154a261");
    verify(&[right]).ok().says("signed by a key that was not given: 21fe31dfa154a261; a book written anew");
    verify(&["--public-key", &other, right]).fails(1, "1 of 1").says("NOT PROVED").says("signed by a key that was not given");

    let elsewhere = House::open();
    elsewhere.import(&[right]).ok().says("1 game: 1 imported (");
    elsewhere.import(&["--replay", right]).ok().says("1 game: 1 imported (");

    let book = Book::parse(&fs::read_to_string(right).unwrap()).unwrap();
    let header = book.header().to_string().replacen("\"ann\"", "\"eve\"", 1);
    let mut forged = Book::new(Header::parse(&header).unwrap());
    book.lines().iter().for_each(|link| forged.push(link.text.clone()));
    let bare = house.file("bare.ply", &forged.print());
    let pasted = house.file("pasted.ply", &forged.signed(*book.signature().unwrap()).print());
    verify(&[&bare]).ok().says("not signed: a book written anew from its first entry would pass as well");
    verify(&["--public-key", &ours, &bare]).fails(1, "1 of 1").says("NOT PROVED: it follows from itself, but it is not signed");
    verify(&["--public-key", &ours, &pasted]).fails(1, "1 of 1").says("WRONG: line ").says("is not that of key 21fe31dfa154a261");

    let ran = verify(&["--json", "--public-key", &ours, right, &bare, &pasted]).fails(1, "2 of 3");
    let told: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&told[0]["verified"], &told[0]["signed"], &told[0]["key_id"]), (&true.into(), &true.into(), &"21fe31dfa154a261".into()));
    assert_eq!((&told[1]["verified"], &told[2]["verified"]), (&Value::from(false), &Value::from(false)));
    let ran = verify(&["--json", right]).ok();
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["signed"], &told["key_id"]), (&Value::from(false), &"21fe31dfa154a261".into()));
}

#[test]
fn a_server_without_keys_says_so() {
    let house = House::open();
    let ran = house.run("keys", &[], "").ok();
    assert!(ran.out.is_empty() && ran.err.contains("this server has no keys"), "{ran:?}");
}

#[test]
fn files_that_are_no_keys_are_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let private = |name: &str, text: &str| file(folder, name, text, 0o600);
    let pem = private_pem();
    let wrong_label = pem.replace("PRIVATE KEY", "PUBLIC KEY");
    let no_key = "holds no private key";
    for (path, why) in [
        (folder.join("missing").to_str().unwrap().to_owned(), "cannot be read"),
        (folder.to_str().unwrap().to_owned(), "the key file"),
        (file(folder, "world", SEED, 0o604), "can be read by others than its owner: chmod 600 it"),
        (file(folder, "group", SEED, 0o660), "can be read by others than its owner: chmod 600 it"),
        (private("empty", ""), no_key),
        (private("truncated", &SEED[..62]), no_key),
        (private("longer", &format!("{SEED}00")), no_key),
        (private("no-hex", &SEED.replace('9', "g")), no_key),
        (private("truncated.pem", &pem[..60]), no_key),
        (private("short.pem", &pem.replace("rn9g", "")), no_key),
        (private("public.pem", PUBLIC_PEM), no_key),
        (private("label.pem", &wrong_label), no_key),
        (private("long", &"0".repeat(70_000)), "too long"),
    ] {
        let ran =
            run(&["serve", "--listen", "127.0.0.1:0", "--database", folder.join("b.db").to_str().unwrap(), "--signing-key", &path], "");
        let ran = ran.fails(2, why);
        assert!(ran.out.is_empty() && ran.err.trim().lines().count() == 1, "{ran:?}");
        assert!(!ran.err.contains(&SEED[..32]) && !ran.err.contains(&BASE64[20..40]), "{ran:?}");
    }
    let seed = private("seed", &format!("{SEED}\n"));
    let other_id = private("other-id", &PUBLIC.replacen("21", "22", 1));
    for (path, why) in [
        (folder.join("missing").to_str().unwrap(), "cannot be read"),
        (seed.as_str(), "holds no public key: a public key is its key id"),
        (&other_id, "the key id 22fe31dfa154a261 stands before the key 21fe31dfa154a261"),
        (&private("empty.pub", "\n"), "it is empty"),
        (&private("private.pem", &pem), "its PEM is not that of an Ed25519 public key"),
    ] {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["verify", "game.ply"]] {
            let ran = run(&[command, &["--public-key", path]].concat(), "").fails(2, why);
            assert!(ran.out.is_empty() && !ran.err.contains(&SEED[..32]), "{ran:?}");
        }
    }
    assert!(!folder.join("b.db").exists(), "nothing was opened");
}
