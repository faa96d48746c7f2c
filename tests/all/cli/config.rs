//! What makes no sense is one sentence and exit code 2; whatever else fails is exit code 1.

use super::{House, run};

/// Refused before anything is done.
#[track_caller]
fn nonsense(args: &[&str], because: &str) {
    let ran = run(args, "").fails(2, because);
    assert_eq!(ran.out, "", "{args:?}");
}

#[test]
fn bad_flags_are_told() {
    nonsense(&["serve", "--listen", "somewhere"], "--listen");
    nonsense(&["serve", "--listen", "127.0.0.1:0", "--database", "mysql://localhost/plybook"], "neither postgres");
    nonsense(&["serve", "--listen", "127.0.0.1:0", "--database", "host=/run user=me password=secret"], "begins with postgres://");
    nonsense(&["migrate", "--database", ""], "neither postgres");
    let serve = |flags: &[&str], because| nonsense(&[&["serve", "--database", "postgres://localhost/plybook"], flags].concat(), because);
    serve(&["--wake", "redis://secret@localhost"], "neither postgres, nats://host:4222 nor poll");
    serve(&["--wake", "nats://"], "NATS address");
    serve(&["--wake", "nats://localhost", "--wake-site", "a.b"], "name of a site");
    serve(&["--wake", "postgres", "--database-sessions", "lent"], "no pooler");
    nonsense(&["serve", "--database", "books.db", "--wake", "nats://localhost"], "an embedded store has one node");
    nonsense(&["play", "--server", "127.0.0.1:50051"], "no address of a server");
    nonsense(&["watch", "--server", "ftp://localhost", "x"], "begins with http:// or https://");
    nonsense(&["import"], "FILE");
    nonsense(&["import", "--jobs", "0", "x"], "--jobs");
    nonsense(&["import", "/nonexistent/game.ply"], "/nonexistent/game.ply");
    nonsense(&["import", "--ruleset", "chess", "x"], "there is no ruleset \"chess\"");
    nonsense(&["import", "--param", "rows", "x"], "NAME=VALUE");
    nonsense(&["import", "--batch", "b", "a/games.c4", "b/games.c4"], "two files are named games.c4");
    nonsense(&["conquer"], "conquer");
}

/// Whoever gives several files must know which one is meant.
#[test]
fn a_file_that_is_not_there_is_told_with_its_flag() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (books, key, two_words) = (at("books.db"), at("seats.key"), at("two.words"));
    run(&["keygen", "--out", &key], "").ok();
    std::fs::write(&two_words, "two words").unwrap();
    let missing = "/nonexistent/file";
    let names = |args: &[&str], flag: &str, file: &str| {
        let ran = run(args, "");
        assert!(ran.code != 0 && ran.err.contains(flag) && ran.err.contains(file), "{args:?}: {ran:#?}");
    };
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["config", "--check"]] {
        let node = [command, &["--database", &books]].concat();
        for flag in ["--config", "--signing-key", "--public-key", "--seat-token-key", "--client-certs", "--jwks"] {
            names(&[&node[..], &[flag, missing]].concat(), &format!("{flag}: "), missing);
        }
        let seats = ["--seat-token-key", &key, "--seat-token-public-key", missing];
        names(&[&node[..], &seats].concat(), "--seat-token-public-key: ", missing);
        names(&[&node[..], &["--tls-cert", missing, "--tls-key", &key]].concat(), "--tls-cert: ", missing);
    }
    for flag in ["--receipt", "--public-key", "--origin"] {
        names(&["verify", &books, flag, missing], flag, missing);
    }
    for flag in ["--token-file", "--ca"] {
        names(&["keys", flag, missing], &format!("{flag}: "), missing);
    }
    names(&["keys", "--token-file", &two_words], "--token-file: ", &two_words);
    names(&["keys", "--cert", missing, "--key", &key], "--cert: ", missing);
    names(&["keys", "--cert", &key, "--key", missing], "--key: ", missing);
    names(&["keygen", "--out", "/nonexistent/key"], "--out: ", "/nonexistent/key");
}

#[test]
fn a_setting_of_the_environment_is_held_to_the_same() {
    let output = super::command(&["play"]).env("PLYBOOK_SERVER", "nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let output = super::command(&["serve"]).env("PLYBOOK_LISTEN", "nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn bad_choices_of_a_game_are_told() {
    let house = House::open();
    house.run("play", &["--ruleset", "chess"], "").fails(2, "known are connect_four, gomoku, mnk, othello, snakes_and_ladders");
    house.run("play", &["--param", "size=3"], "").fails(2, "size is no parameter of mnk");
    house.run("play", &["--param", "rows=three"], "").fails(2, "\"three\" is not a number");
    house.run("play", &["--param", "rows=0"], "").fails(2, "INVALID_PARAMETER");
    house.run("play", &["--seats", "9"], "").fails(2, "seats");
    house.run("watch", &["nothing"], "").fails(2, "game_id");
}

#[test]
fn nobody_at_the_other_end_is_told_within_patience() {
    let nobody = plybook_tests::ports::Nobody::new();
    let url = format!("http://{}", nobody.address());
    for command in ["watch", "export"] {
        run(&[command, "--server", &url, "--patience", "1", "01900000-0000-7000-8000-000000000000"], "").fails(1, "no answer after");
    }
}
