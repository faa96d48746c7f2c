//! Who may know whom, read from `cargo metadata`.
//!
//! Invariant: a dependency that is not in these tables is a decision that somebody has to write here.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use plybook_tests::node::root;
use serde_json::Value;

/// What each crate may know of this workspace.
const INSIDE: &[(&str, &[&str])] = &[
    ("plybook-core", &[]),
    ("plybook-rulesets", &["plybook-core"]),
    ("plybook-bots", &["plybook-core"]),
    ("plybook-records", &["plybook-core", "plybook-rulesets"]),
    ("plybook-proto", &[]),
    ("plybook-store", &["plybook-core"]),
    ("plybook-server", &["plybook-core", "plybook-rulesets", "plybook-bots", "plybook-store", "plybook-proto"]),
    ("plybook-client", &["plybook-proto"]),
    (
        "plybook",
        &[
            "plybook-core",
            "plybook-rulesets",
            "plybook-bots",
            "plybook-records",
            "plybook-proto",
            "plybook-store",
            "plybook-server",
            "plybook-client",
        ],
    ),
    ("plybook-fuzz", &["plybook-core", "plybook-rulesets", "plybook-records", "plybook-proto", "plybook-store", "plybook-server"]),
    (
        "plybook-tests",
        &[
            "plybook-core",
            "plybook-rulesets",
            "plybook-bots",
            "plybook-proto",
            "plybook-store",
            "plybook-server",
            "plybook-client",
            "plybook-fuzz",
        ],
    ),
];

/// All that the pure crates may know of the world.
const OUTSIDE_OF_PURE: &[(&str, &[&str])] = &[
    ("plybook-core", &["ed25519-dalek", "hex", "hmac", "sha2", "thiserror", "uuid"]),
    ("plybook-rulesets", &["thiserror"]),
    ("plybook-bots", &["thiserror"]),
    ("plybook-records", &["serde_json"]),
];

/// Crates of the world that only some may know; the tests may know all.
const RESERVED: &[(&str, &[&str])] = &[
    ("sqlx", &["plybook-store"]),
    ("async-nats", &["plybook-store", "plybook"]),
    ("tonic", &["plybook-proto", "plybook-server", "plybook-client", "plybook"]),
    ("tonic-health", &["plybook-server", "plybook-client"]),
    ("tonic-reflection", &["plybook-server"]),
    ("tonic-types", &["plybook-server", "plybook-client"]),
    ("anyhow", &["plybook"]),
    ("clap", &["plybook"]),
    ("getrandom", &["plybook-server", "plybook-client"]),
    ("ed25519-dalek", &["plybook-core", "plybook-server"]),
];

/// What each crate of this workspace is built from, by name.
fn known() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO")).args(["metadata", "--format-version", "1", "--no-deps"]).current_dir(root()).output();
    let metadata: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
    let needs = |package: &Value| {
        let needed = package["dependencies"].as_array().unwrap().iter().filter(|needed| needed["kind"] != "dev");
        needed.map(name).collect::<BTreeSet<_>>()
    };
    metadata["packages"].as_array().unwrap().iter().map(|package| (name(package), needs(package))).collect()
}

fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a str> {
    names.iter().copied().collect()
}

#[test]
fn crates_know_only_whom_they_may() {
    let known = known();
    let crates: BTreeSet<&str> = known.keys().map(String::as_str).collect();
    assert_eq!(crates, INSIDE.iter().map(|(name, _)| *name).collect(), "every crate has its row");
    for (name, allowed) in INSIDE {
        let inside: BTreeSet<&str> = known[*name].iter().map(String::as_str).filter(|needed| crates.contains(needed)).collect();
        let more: Vec<_> = inside.difference(&set(allowed)).copied().collect();
        assert!(more.is_empty(), "{name} knows {more:?}");
    }
}

#[test]
fn the_pure_crates_know_nothing_of_the_world() {
    let known = known();
    for (name, allowed) in OUTSIDE_OF_PURE {
        let outside: BTreeSet<&str> = known[*name].iter().map(String::as_str).filter(|needed| !known.contains_key(*needed)).collect();
        assert_eq!(outside, set(allowed), "{name}");
    }
}

#[test]
fn wires_and_databases_are_known_where_they_belong() {
    let known = known();
    for (outsider, allowed) in RESERVED {
        let shipped = known.iter().filter(|(name, _)| *name != "plybook-tests");
        let knows: BTreeSet<&str> = shipped.filter(|(_, needs)| needs.contains(*outsider)).map(|(name, _)| name.as_str()).collect();
        let more: Vec<_> = knows.difference(&set(allowed)).copied().collect();
        assert!(more.is_empty(), "{outsider} is known by {more:?}");
        assert!(!knows.is_empty(), "{outsider} is known by nobody: its row means nothing any more");
    }
}
