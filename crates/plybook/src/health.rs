//! `plybook health`: whether a node serves, for probes where no other client of gRPC is at hand.
//!
//! Invariant: exit code 0 says that the node answers and its database does; whatever else it is, is no 0.

use clap::Args;

use crate::link::Link;
use crate::screen::Screen;

const EXIT_CODES: &str = "Exit codes: 0 it serves; 1 it does not, or does not answer; 2 an address or a flag that makes no sense.";

/// Flags of `plybook health`.
#[derive(Args, Debug)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct HealthArgs {
    #[command(flatten)]
    link: Link,
    /// Ask for one service, such as plybook.v1.GameService; the whole node where none is named
    #[arg(long, default_value = "", hide_default_value = true)]
    service: String,
}

/// Asks once, and again within patience where nobody answers.
pub(crate) async fn run(args: HealthArgs) -> anyhow::Result<()> {
    if args.link.client()?.is_serving(&args.service).await? {
        return Ok(Screen::new().say("serving")?);
    }
    anyhow::bail!("it answers, and does not serve: it drains, or its database does not answer")
}
