//! `plybook`: the one binary.

mod database;
mod exit;
mod migrate;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "plybook", version, about = "Turn-based board games that can be proved afterwards")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs one node
    Serve(serve::ServeArgs),
    /// Brings a database's schema up to this build's
    Migrate(migrate::MigrateArgs),
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(args) => serve::run(args).await,
        Command::Migrate(args) => migrate::run(args).await,
    };
    exit::code(result)
}
