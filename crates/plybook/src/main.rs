//! The one binary: the server, and everything that a person does with it from a terminal.
//!
//! Invariant: this file only reads the command line; what a command does stands in its own module.

mod advice;
mod analyze;
mod audited;
mod bench;
mod compare;
mod config;
mod database;
mod drawing;
mod exit;
mod export;
mod filter;
mod health;
mod import;
mod keys;
mod link;
mod migrate;
mod partitions;
mod play;
mod refusals;
mod replay;
mod runtime;
mod screen;
mod serve;
mod settings;
mod sink;
mod suggest;
mod tail;
mod tenant;
mod token;
mod typed;
mod verify;
mod version;
mod wake;
mod watch;
mod words;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use mimalloc::MiMalloc;

use crate::runtime::Threads;
use crate::settings::Given;

/// The C library's allocator took a fifth of a node's time under load.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[derive(Debug, Parser)]
#[command(name = "plybook", version = version::LONG.as_str(), about = "Turn-based board games that can be proved afterwards")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs one node
    Serve(Box<serve::ServeArgs>),
    /// Prints the settings that count and where each was written, or says whether a node could start with them
    Config(Box<config::ConfigArgs>),
    /// Brings a database's schema up to this build's
    Migrate(migrate::MigrateArgs),
    /// Lists the months of a Postgres database's books, gives later ones a partition, and packs those that are over
    Partitions(partitions::PartitionsArgs),
    /// Says whether a node serves: for probes
    Health(health::HealthArgs),
    /// Plays a game in this terminal
    Play(play::PlayArgs),
    /// Shows a game, redrawn at every entry
    Watch(watch::WatchArgs),
    /// Prints every entry of every game as it comes, a line each
    Tail(tail::TailArgs),
    /// Looks through a game or a .ply file entry by entry, or forks a game
    Replay(replay::ReplayArgs),
    /// Writes a game's book, a .ply file
    Export(export::ExportArgs),
    /// Checks books with no server and no network, or every game of a database
    Verify(verify::VerifyArgs),
    /// Lists the requests that a game refused, newest first
    Refusals(refusals::RefusalsArgs),
    /// Shows where two games part, with both boards
    Compare(compare::CompareArgs),
    /// Says what a strategy would play, or lists the strategies
    Suggest(suggest::SuggestArgs),
    /// Says what every legal action is worth and who threatens what, on the board too
    Analyze(analyze::AnalyzeArgs),
    /// Makes and lists tenants: whose games there are
    Tenant(tenant::TenantArgs),
    /// Makes, lists and revokes API keys, and has tokens for seats minted
    Token(token::TokenArgs),
    /// Makes a key to sign with, and prints its public half
    Keygen(keys::KeygenArgs),
    /// Lists the public keys of a server
    Keys(keys::KeysArgs),
    /// Keeps .ply books of other servers as evidence, and plays recorded games through the API: Connect Four,
    /// Othello, gomoku, SGF, JSON lines
    Import(import::ImportArgs),
    /// Writes every entry of every game into a stream of NATS JetStream, once
    Sink(sink::SinkArgs),
    /// Measures this machine: moves, streams, books and bots, each beside what the database and the wire do at most
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    let command = Cli::command();
    let given = match Given::read(&command, std::env::args_os().collect()) {
        Ok(given) => given,
        Err(error) => return exit::code(Err(error)),
    };
    let cli = Cli::from_arg_matches(&given.matches).unwrap_or_else(|error| error.exit());
    match runtime::of(cli.command.threads()) {
        Ok(runtime) => exit::code(runtime.block_on(done(cli.command, &command, &given))),
        Err(error) => exit::code(Err(anyhow::Error::new(error).context("no threads are to be had"))),
    }
}

impl Command {
    /// On how many threads its tasks run.
    const fn threads(&self) -> Threads {
        match self {
            Command::Serve(args) => Threads::Few(args.worker_threads),
            Command::Bench(_) => Threads::Few(0),
            _ => Threads::All,
        }
    }
}

async fn done(asked: Command, command: &clap::Command, given: &Given) -> anyhow::Result<()> {
    match asked {
        Command::Serve(args) => serve::run(*args).await,
        Command::Config(args) => config::run(*args, command, given),
        Command::Migrate(args) => migrate::run(args).await,
        Command::Partitions(args) => partitions::run(args).await,
        Command::Health(args) => health::run(args).await,
        Command::Play(args) => play::run(args).await,
        Command::Watch(args) => watch::run(args).await,
        Command::Tail(args) => tail::run(args).await,
        Command::Replay(args) => replay::run(args).await,
        Command::Export(args) => export::run(args).await,
        Command::Verify(args) => verify::run(&args).await,
        Command::Refusals(args) => refusals::run(args).await,
        Command::Compare(args) => compare::run(args).await,
        Command::Suggest(args) => suggest::run(args).await,
        Command::Analyze(args) => analyze::run(args).await,
        Command::Tenant(args) => tenant::run(args).await,
        Command::Token(args) => token::run(args).await,
        Command::Keygen(args) => keys::generate(&args),
        Command::Keys(args) => keys::list(args).await,
        Command::Import(args) => import::run(args).await,
        Command::Sink(args) => sink::run(args).await,
        Command::Bench(args) => bench::run(args).await,
    }
}

#[cfg(test)]
mod tests {
    use super::{Cli, Parser as _, Threads};

    #[test]
    fn a_node_has_the_threads_that_it_is_given_and_other_commands_have_all() {
        let threads = |line: &str| Cli::try_parse_from(line.split(' ')).map(|cli| cli.command.threads()).ok();
        assert_eq!(threads("plybook serve --worker-threads 3"), Some(Threads::Few(3)));
        assert_eq!(threads("plybook serve"), Some(Threads::Few(0)));
        assert_eq!(threads("plybook serve --worker-threads 1025"), None);
        assert_eq!(threads("plybook bench append"), Some(Threads::Few(0)));
        assert_eq!(threads("plybook verify a.ply"), Some(Threads::All));
    }
}
