//! The dashboard, the alerts and what is to be done about them speak of what a node exports.

use std::collections::{BTreeMap, BTreeSet};

use plybook_proto::v1::ErrorReason;
use plybook_tests::node::root;
use serde_json::Value;

use super::page::{Read, page, seasoned};

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// An alert of the file: its name and what is said of it.
struct Alert {
    name: String,
    said: BTreeMap<String, String>,
}

fn alerts() -> Vec<Alert> {
    let file = text("deploy/prometheus/alerts.yaml");
    let mut alerts: Vec<Alert> = Vec::new();
    for line in file.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("- alert: ") {
            alerts.push(Alert { name: name.to_owned(), said: BTreeMap::new() });
        } else if let (Some(alert), Some((key, value))) = (alerts.last_mut(), line.split_once(": ")) {
            alert.said.insert(key.to_owned(), value.to_owned());
        }
    }
    assert!(alerts.len() >= 15 && alerts.len() == file.matches("alert:").count(), "the file is read");
    alerts
}

/// Every query of the dashboard.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("expr").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| queries(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| queries(value, found)),
        _ => {}
    }
}

/// The selectors of a query: a metric's name, and the labels that it asks for with their values.
fn selectors(query: &str) -> Vec<(String, Vec<(String, String)>)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for prefix in ["plybook_", "rpc_server_", "db_client_connection_count", "db_client_connection_max", "db_client_operation_"] {
        for (at, _) in query.match_indices(prefix) {
            let before = query[..at].chars().next_back();
            let rest = &query[at..];
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            if before.is_some_and(|c| is_name(c) || c == '.' || c == '/') || rest[end..].starts_with(['=', '!']) {
                // Part of another name, of a method's, or a label.
                continue;
            }
            let labels = rest[end..].strip_prefix('{').map_or("", |labels| labels.split_once('}').expect("it is closed").0);
            let pair = |label: &str| {
                let (key, value) = label.split_once(['=', '!']).expect("a label has a value");
                (key.trim().to_owned(), value.trim_start_matches(['=', '~']).trim_matches('"').to_owned())
            };
            found.push((rest[..end].to_owned(), labels.split(',').filter(|label| !label.is_empty()).map(pair).collect()));
        }
    }
    found
}

/// Labels that are no label of a metric, but of the place where it was found.
const OF_THE_PLACE: &[&str] = &["instance", "job"];

fn check(read: &Read, of: &str, query: &str) {
    let selected = selectors(query);
    assert!(!selected.is_empty(), "{of} asks for nothing: {query}");
    for (name, labels) in selected {
        let samples: Vec<_> = read.samples.iter().filter(|sample| sample.name == name).collect();
        assert!(!samples.is_empty(), "{of}: {name} is not exported: {query}");
        for (label, value) in labels.iter().filter(|(label, _)| !OF_THE_PLACE.contains(&label.as_str())) {
            let seen: BTreeSet<&str> = samples.iter().filter_map(|sample| sample.labels.get(label)).map(String::as_str).collect();
            match (label.as_str(), value.as_str()) {
                // Reasons that this run did not bring about are known all the same, and so is an error.
                ("reason", reasons) => {
                    for reason in reasons.split('|') {
                        assert!(ErrorReason::from_str_name(&format!("ERROR_REASON_{reason}")).is_some(), "{of}: {reason}");
                    }
                }
                ("rpc_response_status_code", _) | ("error_type", "") => {}
                (_, values) => {
                    for value in values.split('|') {
                        assert!(seen.contains(value), "{of}: {name} has no {label} {value:?}, only {seen:?}");
                    }
                }
            }
        }
    }
    // What it groups by has to be there as well.
    for group in query.split(" by (").skip(1).filter_map(|rest| rest.split(')').next()) {
        for label in group.split(',').map(str::trim).filter(|label| !OF_THE_PLACE.contains(label) && *label != "error_type") {
            assert!(read.samples.iter().any(|sample| sample.labels.contains_key(label)), "{of} groups by {label}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dashboard_and_alerts_ask_for_what_a_node_exports() {
    let (_database, node) = seasoned().await;
    let read = page(&node).await;
    let dashboard: Value = serde_json::from_str(&text("deploy/grafana/plybook.json")).unwrap();
    let mut asked = Vec::new();
    queries(&dashboard, &mut asked);
    assert!(asked.len() >= 30, "the dashboard is read");
    asked.iter().for_each(|query| check(&read, "the dashboard", query));
    for alert in alerts() {
        check(&read, &alert.name, &alert.said["expr"]);
    }
    // Whatever is exported is shown, or nobody will ever look at it.
    let shown: BTreeSet<String> = asked.iter().flat_map(|query| selectors(query)).map(|(name, _)| name).collect();
    for family in read.families() {
        assert!(shown.iter().any(|name| name.starts_with(family)), "{family} is in no panel");
    }
}

#[test]
fn each_alert_has_its_page_and_each_page_its_alert() {
    let runbooks = text("deploy/runbooks.md");
    let headings: Vec<&str> = runbooks.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let alerts = alerts();
    assert_eq!(headings, alerts.iter().map(|alert| alert.name.as_str()).collect::<Vec<_>>());
    for alert in &alerts {
        assert_eq!(alert.said["runbook"], format!("deploy/runbooks.md#{}", alert.name.to_lowercase()));
        assert!(["page", "ticket"].contains(&alert.said["severity"].as_str()), "{}", alert.name);
        let what = runbooks.split(&format!("\n## {}\n", alert.name)).nth(1).unwrap().split("\n## ").next().unwrap();
        assert!(what.matches("\n- ").count() >= 1, "{} says what to do", alert.name);
    }
}

/// What a page tells to look for in a log is said in the code.
#[test]
fn what_pages_quote_of_logs_is_logged() {
    let runbooks = text("deploy/runbooks.md");
    let sources: String = ["crates/plybook-server/src", "crates/plybook-store/src"]
        .iter()
        .flat_map(|folder| crate::house::rust_files(folder))
        .map(|page| page.text)
        .collect();
    let quote = |rest: &str| rest.split_once('`').filter(|(_, after)| after.starts_with(')')).map(|(quoted, _)| quoted.replace('\n', " "));
    let quoted: Vec<String> = runbooks.split("(`").skip(1).filter_map(quote).collect();
    let lines: Vec<&String> = quoted.iter().filter(|quoted| quoted.contains(' ') && !quoted.starts_with("plybook ")).collect();
    assert!(lines.len() >= 3, "{quoted:?}");
    for line in lines {
        let part = line.split('…').map(str::trim).max_by_key(|part| part.len()).unwrap();
        assert!(sources.contains(part), "nothing logs {part:?}");
    }
}
