//! README.md and ARCHITECTURE.md speak of what is there.
//!
//! Invariant: a reason, a limit, an invariant's test or a file that a page names exists, and the other
//! way round: every reason and every limit is on a page.

use std::collections::BTreeSet;

use plybook_proto::v1::ErrorReason;
use plybook_server::limits::Limits;
use plybook_store::PostgresOptions;
use plybook_tests::node::root;

use super::{page, rust_files, words};

#[test]
fn every_error_reason_has_a_heading() {
    let readme = page("README.md").text;
    let headings: BTreeSet<&str> = readme.lines().filter_map(|line| line.strip_prefix("#### ")).collect();
    let reasons = (1..=1_000).filter_map(|number| ErrorReason::try_from(number).ok());
    let reasons: BTreeSet<&str> = reasons.map(|reason| reason.as_str_name().trim_start_matches("ERROR_REASON_")).collect();
    assert!(reasons.len() > 20, "the enum is walked");
    assert_eq!(headings, reasons, "README.md has one heading of the fourth rank for each reason");
    for section in readme.split("\n#### ").skip(1).filter_map(|section| section.split("\n#").next()) {
        assert!(section.contains("*Cure:*"), "a reason has its cause and its cure: {section}");
    }
}

#[test]
fn the_readme_lists_its_sections_in_their_order() {
    let readme = page("README.md").text;
    let prose = readme.split("\n```").step_by(2);
    let sections: Vec<&str> = prose.flat_map(str::lines).filter_map(|line| line.strip_prefix("## ")).collect();
    let listed: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("- [")?.split(']').next()).collect();
    assert!(sections.len() > 10, "the page is read");
    assert_eq!(listed, sections.iter().copied().filter(|section| *section != "Licence").collect::<Vec<_>>());
}

/// `a * b`, seconds or a tuple of numbers, as a page prints it.
fn value(expression: &str) -> String {
    if let Some(seconds) = expression.strip_prefix("Duration::from_secs(") {
        return format!("{} s", value(seconds));
    }
    if let Some(millis) = expression.strip_prefix("Duration::from_millis(") {
        return format!("{} ms", value(millis));
    }
    let product =
        |part: &str| -> Option<u64> { part.split('*').map(|factor| factor.trim().replace(['_', ' '], "").parse::<u64>().ok()).product() };
    let parts = expression.trim_matches(['(', ')', ' ']).split(',');
    parts.map(|part| product(part).map_or_else(|| part.to_owned(), |n| n.to_string())).collect::<Vec<_>>().join(",")
}

/// The second cell of the row that begins with this name.
fn row(readme: &str, name: &str) -> String {
    let begin = format!("| `{name}` | ");
    let rows: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix(begin.as_str())).collect();
    assert_eq!(rows.len(), 1, "README.md's tables of limits have one row of {name}");
    rows[0].split(" |").next().unwrap().to_owned()
}

#[test]
fn every_limit_is_in_the_tables() {
    let readme = page("README.md").text;
    for source in ["crates/plybook-core/src/limits.rs", "crates/plybook-server/src/limits.rs"] {
        let text = page(source).text;
        let consts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("pub const ")).collect();
        assert!(consts.len() >= 10, "{source} is read");
        for line in consts {
            let (name, rest) = line.split_once(':').unwrap();
            let expression = rest.split_once('=').unwrap().1.trim().trim_end_matches(';');
            assert_eq!(value(&row(&readme, name)), value(expression), "{name}");
        }
    }
    let limits = Limits::default();
    for (name, is) in [
        ("request_bytes", limits.request_bytes as u64),
        ("import_bytes", limits.import_bytes as u64),
        ("imports", limits.imports as u64),
        ("connections", limits.connections as u64),
        ("handshakes", limits.handshakes as u64),
        ("handshake_timeout", limits.handshake_timeout.as_secs()),
        ("keepalive", limits.keepalive.as_secs()),
        ("keepalive_timeout", limits.keepalive_timeout.as_secs()),
        ("header_bytes", limits.header_bytes.into()),
        ("calls_per_connection", limits.calls_per_connection.into()),
        ("left_calls", limits.left_calls.into()),
        ("waiting_answer_bytes", limits.waiting_answer_bytes as u64),
        ("waiting_answer_timeout", limits.waiting_answer_timeout.as_secs()),
        ("streams", limits.streams as u64),
        ("streams_per_tenant", limits.streams_per_tenant as u64),
        ("streams_per_connection", limits.streams_per_connection as u64),
        ("games_cache_bytes", limits.games_cache_bytes),
        ("history_cache_bytes", limits.history_cache_bytes),
        ("games_cache_idle", limits.games_cache_idle.as_secs()),
        ("call_timeout", limits.call_timeout.as_secs()),
        ("drain_timeout", limits.drain_timeout.as_secs()),
        ("poll_floor", limits.poll_floor.as_secs()),
        ("refusals_per_game", limits.refusals_per_game.into()),
        ("refusals_keep", limits.refusals_keep.as_secs()),
        ("refusals_queue", limits.refusals_queue as u64),
        ("refusals_ageing", limits.refusals_ageing.as_secs()),
        ("thinkers", limits.thinkers as u64),
        ("bot_nodes_max", limits.bot_nodes_max),
        ("advice_nodes_max", limits.advice_nodes_max),
        ("advice_wait", limits.advice_wait.as_secs()),
        ("advice_queue", limits.advice_queue as u64),
        ("sweepers", limits.sweepers as u64),
        ("due_poll", limits.due_poll.as_secs()),
        ("due_lease", limits.due_lease.as_secs()),
        ("heartbeat", limits.heartbeat.as_secs()),
        ("outage_after", limits.outage_after.as_secs()),
        ("appends_queue", PostgresOptions::new("").appends_queue as u64),
    ] {
        assert_eq!(value(row(&readme, name).trim_end_matches(" s")), is.to_string(), "{name}");
    }
    let fields = page("crates/plybook-server/src/limits.rs").text;
    for field in fields.lines().filter_map(|line| line.strip_prefix("    pub ")?.split(':').next()) {
        row(&readme, field);
    }
}

/// What stands between backticks outside code blocks.
fn quoted(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// Every function of the repository: whoever names a test names one of these.
fn test_names() -> BTreeSet<String> {
    let functions = |text: &str| -> Vec<String> {
        let pairs = words(text).zip(words(text).skip(1));
        pairs.filter(|(word, _)| *word == "fn").map(|(_, name)| name.to_owned()).collect()
    };
    rust_files("tests").into_iter().chain(rust_files("crates")).flat_map(|page| functions(&page.text)).collect()
}

#[test]
fn every_invariant_names_a_test_that_is_there() {
    let architecture = page("ARCHITECTURE.md").text;
    let section = architecture.split("\n## ").find(|section| section.starts_with("The ten invariants")).unwrap();
    let items: Vec<&str> = section.split("\n\n").filter(|item| item.starts_with(|c: char| c.is_ascii_digit())).collect();
    assert_eq!(items.len(), 10, "one paragraph each");
    let there = test_names();
    for item in items {
        let named: Vec<&str> = quoted(item).into_iter().filter(|name| words(name).eq([*name]) && name.contains('_')).collect();
        assert!(!named.is_empty(), "no test holds it: {item}");
        for name in named {
            assert!(there.contains(name), "there is no {name}: {item}");
        }
    }
}

#[test]
fn what_is_said_of_security_is_held_by_tests_that_are_there() {
    let security = page(".github/SECURITY.md").text;
    let there = test_names();
    let named: Vec<&str> = quoted(&security).into_iter().filter(|name| words(name).eq([*name]) && name.matches('_').count() > 2).collect();
    assert!(named.len() > 10, "the page is read");
    for name in named {
        assert!(there.contains(name), "there is no {name}");
    }
}

#[test]
fn files_that_pages_name_are_there() {
    for name in [
        ".github/SECURITY.md",
        "deploy/clients/README.md",
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "deploy/README.md",
        "deploy/migrations.md",
        "deploy/backup.md",
    ] {
        let text = page(name).text;
        let is_path = |quoted: &&str| quoted.contains('/') && quoted.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        // From the root of a machine, it is the reader's.
        let is_ours = |quoted: &&str| is_path(quoted) && !quoted.starts_with('/');
        for path in quoted(&text).into_iter().filter(is_ours) {
            let path = path.trim_start_matches("./");
            assert!(path.starts_with("target/") || root().join(path).exists(), "{name} names {path}");
        }
    }
}

#[test]
fn the_root_is_tidy() {
    let allowed = [
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "crates",
        "deploy",
        "migrations",
        "proto",
        "target",
        "tests",
    ];
    for entry in std::fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let data = name.starts_with("plybook.db");
        assert!(name.starts_with('.') || data || allowed.contains(&name.as_str()), "{name} does not belong into the root");
    }
}
