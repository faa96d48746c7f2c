//! `plybook migrate`: brings a database's schema up to this build's.

use crate::database::DatabaseArgs;
use crate::screen::Screen;

/// Flags of `plybook migrate`.
#[derive(Debug, clap::Args)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
}

/// Runs the migrations that are missing.
pub(crate) async fn run(args: MigrateArgs) -> anyhow::Result<()> {
    let database = args.database.read()?;
    database.migrate().await?;
    Screen::new().say(format!("{} has the schema of plybook {}", database.tell(), env!("CARGO_PKG_VERSION")))?;
    Ok(())
}
