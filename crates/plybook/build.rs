//! Which commit this is, for `plybook --version`.
//!
//! Invariant: a build outside git, or without git, succeeds and says that it does not know; the same sources give the same text.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=PLYBOOK_BUILD_COMMIT");
    // The log of HEAD grows with every commit and every checkout.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let told = std::env::var("PLYBOOK_BUILD_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = told.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=PLYBOOK_COMMIT={commit}");
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}
