//! Administrative commands, a line each on stderr, as a node tells administrative calls.
//!
//! Invariant: a command that has changed what others rely on has its line; one that failed has its sentence, as ever. No line has a
//! secret.

use plybook_server::telemetry::Telemetry;

/// Who is at the terminal, as far as a process knows.
fn who() -> String {
    let name = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty());
    name.unwrap_or_else(|| "unknown".to_owned())
}

/// Says that a command was done to what it names, such as a database.
pub(crate) fn done(command: &'static str, about: &str) {
    // Where logs are set up already, the line goes there.
    let _ = Telemetry { log: Some("off".to_owned()), ..Telemetry::default() }.start();
    tracing::info!(target: "plybook_audit", who = who(), command, about, outcome = "OK", "an administrative command");
}
