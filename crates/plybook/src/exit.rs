//! How the process ends.
//!
//! Invariant: 0 when all was done, 2 when what was asked makes no sense, 1 for every other failure;
//! always with one clear sentence, never with a panic.

use std::io;
use std::process::ExitCode;

/// What was asked makes no sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A [`Usage`] as an error.
pub(crate) fn usage(why: impl Into<String>) -> anyhow::Error {
    Usage(why.into()).into()
}

/// The exit code of a command, and the sentence on standard error.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        // Whoever read us has read enough, as in `plybook export GAME | head`.
        return ExitCode::SUCCESS;
    }
    eprintln!("plybook: {error:#}");
    if error.chain().any(|cause| cause.is::<Usage>()) { ExitCode::from(2) } else { ExitCode::FAILURE }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(broken)
}
