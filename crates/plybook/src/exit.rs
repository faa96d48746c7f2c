//! How the process ends.
//!
//! Invariant: 0 when all was done, 2 when what was asked makes no sense (to us or to the server), 130
//! when a signal cut the work short, 1 for every other failure; always with one clear sentence, never
//! with a panic.

use std::io;
use std::process::ExitCode;

use plybook_client::{Code, Error};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What was asked makes no sense: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A [`Usage`] as an error.
pub(crate) fn usage(why: impl Into<String>) -> anyhow::Error {
    Usage(why.into()).into()
}

/// A signal cut the work short: exit code 130, as shells have it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Interrupted(pub(crate) String);

/// Ctrl-C and SIGTERM, which no longer end the process by themselves once this exists.
#[derive(Debug)]
pub(crate) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn listen() -> io::Result<Interrupts> {
        Ok(Interrupts { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The exit code of a command, and the sentence on standard error.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        // Whoever read us has read enough, as in `plybook export GAME | head`.
        return ExitCode::SUCCESS;
    }
    eprintln!("plybook: {error:#}");
    if error.chain().any(|cause| cause.is::<Interrupted>()) {
        return ExitCode::from(130);
    }
    let nonsense = error.chain().any(|cause| cause.is::<Usage>() || cause.downcast_ref().is_some_and(refuses_the_argument));
    if nonsense { ExitCode::from(2) } else { ExitCode::FAILURE }
}

fn refuses_the_argument(error: &Error) -> bool {
    matches!(error, Error::Refused(refused) if refused.code == Code::InvalidArgument)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().filter_map(|cause| cause.downcast_ref()).any(broken)
}
