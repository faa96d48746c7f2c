//! Administrative commands, a line each on stderr, as a node tells administrative calls.
//!
//! Invariant: a command that has changed what others rely on has its line; one that failed has its sentence, as ever. No line has a
//! secret.

use plybook_server::telemetry::Telemetry;

/// Who is at the terminal: by the name that the environment gives, else by the number of the user as whom the process acts.
fn who() -> String {
    let names = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let mut names = names.filter(|name| !name.is_empty());
    names.next().unwrap_or_else(|| format!("uid {}", rustix::process::geteuid()))
}

/// Says that a command was done to what it names, such as a database.
pub(crate) fn done(command: &'static str, about: &str) {
    // Where logs are set up already, the line goes there.
    let _ = Telemetry { log: Some("off".to_owned()), ..Telemetry::default() }.start();
    tracing::info!(target: "plybook_audit", who = who(), command, about, outcome = "OK", "an administrative command");
}
