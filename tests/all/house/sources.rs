//! Purity, size and names of the source files.
//!
//! Invariant: what a linter of types cannot see is read from the text, without comments and tests.

use super::{Page, rust_files, words};

/// A file holds one noun.
const LINES_MAX: usize = 400;
/// Names that say nothing.
const EMPTY_NAMES: &[&str] = &["common", "util", "utils", "helper", "helpers", "manager", "domain"];
/// What a pure crate has no word for.
const IMPURE: &[&str] = &[
    "f32",
    "f64",
    "async",
    "await",
    "tokio",
    "futures",
    "serde",
    "prost",
    "rand",
    "getrandom",
    "HashMap",
    "HashSet",
    "SystemTime",
    "Instant",
    "println",
    "eprintln",
    "include_str",
    "include_bytes",
];
/// Doors of the standard library to the world.
const DOORS: &[&str] = &["std::env", "std::fs", "std::io", "std::net", "std::process", "std::thread", "std::time", "std::path"];

/// A file's code, line by line, without comments and without what is compiled for tests alone.
fn code(page: &Page) -> impl Iterator<Item = (usize, &str)> {
    let whole = if page.path.ends_with("/tests.rs") { "" } else { page.text.as_str() };
    let shipped = whole.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    shipped.lines().map(|line| line.split("//").next().unwrap_or_default()).enumerate().map(|(number, line)| (number + 1, line))
}

#[test]
fn the_pure_crates_are_pure() {
    for folder in ["crates/plybook-core/src", "crates/plybook-rulesets/src", "crates/plybook-bots/src"] {
        for page in rust_files(folder) {
            for (number, line) in code(&page) {
                let at = format!("{}:{number}", page.path);
                assert_eq!(words(line).find(|word| IMPURE.contains(word)), None, "{at}");
                assert_eq!(DOORS.iter().find(|door| line.contains(**door)), None, "{at}");
            }
        }
    }
}

#[test]
fn files_are_short_and_say_what_they_are() {
    for page in rust_files("crates") {
        let lines = page.text.lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines, {LINES_MAX} are a noun's worth", page.path);
    }
    for page in rust_files("crates").into_iter().chain(rust_files("tests")) {
        assert!(page.text.starts_with("//! "), "{} begins with what it is", page.path);
    }
}

#[test]
fn names_mean_something() {
    for page in rust_files("crates").into_iter().chain(rust_files("tests")) {
        let steps = page.path.trim_end_matches(".rs").split('/');
        let empty = steps.flat_map(words_of_name).find(|word| EMPTY_NAMES.contains(&word.as_str()));
        assert_eq!(empty, None, "{}", page.path);
        for (number, line) in code(&page) {
            let mut declared = words(line).skip_while(|word| !["struct", "enum", "trait", "type", "mod"].contains(word)).skip(1);
            let Some(name) = declared.next() else { continue };
            let empty = words_of_name(name).into_iter().find(|word| EMPTY_NAMES.contains(&word.as_str()));
            assert_eq!(empty, None, "{}:{number}: {name}", page.path);
        }
    }
}

/// `GameManager`, `game_manager` and `game-manager` are two words each.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c.is_ascii_uppercase() || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            words.last_mut().unwrap().push(c.to_ascii_lowercase());
        }
    }
    words
}

#[test]
fn names_are_taken_apart() {
    for name in ["GameManager", "game_manager", "game-manager"] {
        assert_eq!(words_of_name(name).join(" ").split_whitespace().collect::<Vec<_>>(), ["game", "manager"], "{name}");
    }
}
