//! Settings: which of four places counts, what is refused, and what is shown of it.

use std::path::Path;

use plybook_tests::{node, ports};
use serde_json::json;

use super::{Ran, command, ended, run};

const SECRET: &str = "sw0rdfish";

fn written(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plybook.toml");
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

fn config(file: &str, flags: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = command(&[&["config", "--config", file], flags].concat());
    ended(command.envs(environment.iter().copied()).spawn().unwrap())
}

/// The value and the origin of each key.
fn told(ran: &Ran) -> serde_json::Value {
    let pair = |line: &str| {
        let (value, origin) = line.rsplit_once("  # ")?;
        let (key, value) = value.split_once(" = ")?;
        Some((key.to_owned(), json!([value.trim(), origin.rsplit('/').next()])))
    };
    ran.out.lines().filter_map(pair).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn a_flag_then_the_environment_then_the_file_then_the_default() {
    let (_folder, file) = written("streams = 1\nimports = 1\nsweepers = 1\n");
    let ran = config(&file, &["--streams", "3"], &[("PLYBOOK_STREAMS", "2"), ("PLYBOOK_IMPORTS", "2")]).ok();
    let told = told(&ran);
    assert_eq!(told["streams"], json!(["3", "flag --streams"]));
    assert_eq!(told["imports"], json!(["2", "environment PLYBOOK_IMPORTS"]));
    assert_eq!(told["sweepers"], json!(["1", "plybook.toml:3"]));
    assert_eq!(told["advice-queue"], json!(["64", "default"]));
}

#[test]
fn a_file_that_cannot_be_meant_is_refused_with_its_line() {
    for (text, because) in [
        ("\n\nstream = 1", "plybook.toml:3: unknown key \"stream\": is \"streams\" meant?"),
        ("request_bytes = 1", "is \"request-bytes\" meant?"),
        ("zzz = 1", "plybook.toml:1: unknown key \"zzz\""),
        ("[limits]\nstreams = 1", "plybook.toml:1: unknown key \"limits\""),
        ("config = 'other.toml'", "unknown key \"config\""),
        ("# so\nstreams = 'many'", "plybook.toml:2: streams: a whole number is wanted, and this is of type string"),
        ("streams = 1.5", "of type float"),
        ("streams = [1]", "of type array"),
        ("listen = 50051", "listen: a string is wanted, and this is of type integer"),
        ("public-key = [1]", "public-key: a string in the list is wanted"),
        ("public-key = ['a,b']", "write a list"),
        ("database-connections = 5000000000", "plybook.toml:1: database-connections: 5000000000 is not in"),
        ("listen = 'nowhere'", "plybook.toml:1: listen: "),
        ("log-format = 'yaml'", "one of auto, human, json is wanted"),
        ("streams = 1\nstreams = 2", "plybook.toml:2: "),
        ("streams = ", "plybook.toml:1: "),
    ] {
        let (_folder, file) = written(text);
        config(&file, &[], &[]).fails(2, because);
        run(&["serve", "--config", &file], "").fails(2, because);
        let mut migrate = command(&["migrate"]);
        ended(migrate.env("PLYBOOK_CONFIG", &file).spawn().unwrap()).fails(2, because);
    }
    run(&["serve", "--config", "/nonexistent/plybook.toml"], "").fails(2, "--config: /nonexistent/plybook.toml: No such file");
}

#[test]
fn no_secret_is_shown() {
    let address = format!("postgres://plybook:{SECRET}@127.0.0.1/plybook?sslpassword={SECRET}");
    let wake = format!("nats://{SECRET}@127.0.0.1:4222");
    let (_folder, file) = written(&format!("database = '{address}'\nwake = '{wake}'\n"));
    let environment =
        [("PLYBOOK_READ_DATABASE", address.as_str()), ("OTEL_EXPORTER_OTLP_ENDPOINT", &format!("http://x:{SECRET}@127.0.0.1"))];
    for how in [&[][..], &["--toml"], &["--check"], &["--reference"], &["--help"], &["--streams", "many"]] {
        let ran = config(&file, &[how, &["--wake-database", &address]].concat(), &environment);
        assert!(!format!("{ran:?}").contains(SECRET), "{how:?}: {ran:#?}");
        assert!(how == ["--check"] || how == ["--streams", "many"] || ran.code == 0, "{ran:#?}");
    }
    let wrong = [format!("database = ['{SECRET}']"), format!("databas = '{SECRET}'"), format!("wake = 'redis://{SECRET}@x'")];
    for text in wrong {
        let (_folder, file) = written(&text);
        let ran = config(&file, &["--check"], &[]).fails(2, "");
        assert!(!format!("{ran:?}").contains(SECRET), "{text}: {ran:#?}");
    }
}

#[test]
fn a_check_opens_nothing_and_says_what_a_start_would_say() {
    let nobody = ports::Nobody::new();
    let (folder, file) = written(&format!("database = 'postgres://{}/plybook'\n", nobody.address()));
    config(&file, &["--check"], &[]).ok().says("a node can start with this");
    let books = folder.path().join("books.db");
    config(&file, &["--check", "--database", books.to_str().unwrap()], &[]).ok();
    assert!(!books.exists());
    config(&file, &["--check", "--wake", "redis://localhost"], &[]).fails(2, "--wake");
    config(&file, &["--check", "--signing-key", "/nonexistent.key"], &[]).fails(2, "/nonexistent.key");
    config(&file, &["--check", "--due-lease-ms", "0"], &[]).fails(2, "");
    config(&file, &["--check", "--log", "everything=loud"], &[]).fails(2, "everything=loud");
}

/// What `--toml` prints is a file again, and says the same.
#[test]
fn a_printed_file_is_read_back() {
    let (folder, file) = written("streams = 11\nlog = 'warn'\npublic-key = ['a', 'b']\n");
    let printed = config(&file, &["--toml", "--imports", "5"], &[]).ok();
    let again = folder.path().join("again.toml");
    std::fs::write(&again, &printed.out).unwrap();
    let told = told(&config(again.to_str().unwrap(), &[], &[]).ok());
    let values = ["streams", "log", "public-key", "imports"].map(|key| told[key][0].clone());
    assert_eq!(values, [json!("11"), json!("\"warn\""), json!("[\"a\", \"b\"]"), json!("5")]);
}

#[test]
fn a_node_and_a_migration_start_from_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let books = folder.path().join("books.db");
    let file = folder.path().join("plybook.toml");
    std::fs::write(&file, format!("database = '{}'\nstreams = 9\n", books.display())).unwrap();
    let file = file.to_str().unwrap();
    run(&["migrate", "--config", file], "").ok().says("books.db");
    assert!(books.exists());
    let elsewhere = folder.path().join("elsewhere.db");
    let node = node::over(elsewhere.to_str().unwrap()).with(&["--config", file]).start();
    assert!(elsewhere.exists(), "a flag counts for more");
    drop(node);
}

#[test]
fn the_reference_is_of_this_build() {
    let page = node::root().join("deploy/configuration.md");
    let there = std::fs::read_to_string(Path::new(&page)).unwrap();
    let made = run(&["config", "--reference"], "").ok().out;
    assert_eq!(there, made, "make it anew: cargo run -- config --reference > deploy/configuration.md");
}
