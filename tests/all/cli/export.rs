//! `plybook export`: what was stored, checked.

use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;

use plybook_core::Book;

use super::House;

#[tokio::test(flavor = "multi_thread")]
async fn an_export_is_what_was_stored() {
    let house = House::open();
    let game = house.play(&["--player", "ann", "--player", "bob"], "a1 b1 undo b2 a2 c3 a3").ok().game();
    let printed = house.run("export", &[&game], "").ok().out;
    let file = house.path().join("game.ply");
    let ran = house.run("export", &[&game, "-o", file.to_str().unwrap()], "").ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);

    let book = Book::parse(&printed).unwrap();
    assert!(ran.err.contains(&format!("8 entries, book digest {}", book.digest())), "{ran:?}");
    let mut events = house.client().events(&game, 0);
    let mut streamed = Vec::new();
    while let Some(event) = events.next().await {
        streamed.push(event.unwrap().line);
    }
    let texts: Vec<String> = book.links().iter().map(|link| link.text.clone()).collect();
    assert_eq!(streamed, texts);
    let left: Vec<_> = std::fs::read_dir(house.path()).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok()).collect();
    assert!(!left.iter().any(|name| name.ends_with(".part")), "{left:?}");
}

#[test]
fn what_cannot_be_exported_is_told() {
    let house = House::open();
    let file = house.path().join("none.ply");
    let none = "01900000-0000-7000-8000-000000000000";
    house.run("export", &[none, "-o", file.to_str().unwrap()], "").fails(1, "GAME_NOT_FOUND");
    assert!(!file.exists());
    let game = house.play(&[], "a1 quit").ok().game();
    let nowhere = house.path().join("nowhere").join("game.ply");
    house.run("export", &[&game, "-o", nowhere.to_str().unwrap()], "").fails(1, "cannot be written");
}

#[test]
fn only_files_are_replaced() {
    let house = House::open();
    let game = house.play(&[], "a1 quit").ok().game();
    let printed = house.run("export", &[&game], "").ok().out;
    let at = |name: &str| house.path().join(name);
    let export = |name: &str| house.run("export", &[&game, "-o", at(name).to_str().unwrap()], "");

    // A file is replaced, and stays as private as it was.
    let file = house.file("game.ply", "before");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    export("game.ply").ok();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);

    // A link stays a link, whether or not its file was there.
    std::fs::create_dir(at("elsewhere")).unwrap();
    std::fs::write(at("elsewhere/old.ply"), "before").unwrap();
    for name in ["old.ply", "new.ply"] {
        symlink(format!("elsewhere/{name}"), at(name)).unwrap();
        export(name).ok();
        assert!(at(name).is_symlink(), "{name}");
        assert_eq!(std::fs::read_to_string(at("elsewhere").join(name)).unwrap(), printed);
    }

    // A pipe takes the bytes and stays a pipe, also behind a link.
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    symlink("pipe", at("link")).unwrap();
    for name in ["pipe", "link"] {
        let pipe = at("pipe");
        let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
        let ran = export(name);
        assert!(std::fs::metadata(at("pipe")).unwrap().file_type().is_fifo() && at("link").is_symlink(), "{name} was replaced");
        assert_eq!(reader.join().unwrap(), printed);
        ran.ok();
    }
    export("elsewhere").fails(1, "cannot be written");
}
