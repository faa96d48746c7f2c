//! `plybook config`: the settings that count, where each was written, and whether a node could start with them.
//!
//! Invariant: it opens no database, connects nowhere and prints no secret.

mod reference;

use clap::{ArgMatches, Command};

use crate::screen::Screen;
use crate::serve::ServeArgs;
use crate::settings::effective::{self, Setting};
use crate::settings::{self, Given};

const EXIT_CODES: &str = "Exit codes: 0 printed, or found right; 2 a flag, a variable or a file that cannot work as it is.";

/// Flags of `plybook config`: those of `plybook serve`, and what to do with them.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    serve: ServeArgs,
    /// Say only whether a node could start with this; reads key files, and asks no database
    #[arg(long, help_heading = "What to do", conflicts_with_all = ["toml", "reference"])]
    check: bool,
    /// Print a file for `--config` that says the same; what is secret is left out
    #[arg(long, help_heading = "What to do", conflicts_with = "reference")]
    toml: bool,
    /// Print the reference of all settings, as deploy/configuration.md has it
    #[arg(long, help_heading = "What to do")]
    reference: bool,
}

/// Does it.
pub(crate) fn run(args: ConfigArgs, command: &Command, given: &Given) -> anyhow::Result<()> {
    let screen = Screen::new();
    let serve = settings::serve(command);
    if args.reference {
        return Ok(screen.say(reference::page(serve).trim_end())?);
    }
    if args.check {
        args.serve.ready()?;
        return Ok(screen.say("a node can start with this")?);
    }
    let (_, _, matches): (_, _, &ArgMatches) = settings::innermost(command, &given.matches);
    let settings = effective::all(serve, matches, given.file.as_ref());
    Ok(screen.say(if args.toml { file(&settings) } else { table(&settings) })?)
}

/// One setting a line, and behind it where it was written.
fn table(settings: &[Setting]) -> String {
    let lines: Vec<(String, String)> = settings
        .iter()
        .map(|setting| {
            let value = setting
                .value
                .as_ref()
                .map_or_else(|| format!("# {} is not set", setting.key), |value| format!("{} = {value}", setting.key));
            (value, setting.origin.to_string())
        })
        .collect();
    let width = lines.iter().map(|(value, _)| value.chars().count()).max().unwrap_or(0).min(60);
    lines.iter().map(|(value, origin)| format!("{value:width$}  # {origin}")).collect::<Vec<_>>().join("\n")
}

/// Every key with what it is; what is as it would be anyway, or secret, is a comment.
fn file(settings: &[Setting]) -> String {
    let mut page = String::from("# Settings of plybook serve, for --config.");
    let mut section = None;
    for setting in settings {
        if setting.section != section {
            section.clone_from(&setting.section);
            page += &format!("\n\n# == {} ==", section.as_deref().unwrap_or("Options"));
        }
        page += &format!("\n\n# {}", setting.about);
        let (key, is_default) = (&setting.key, setting.origin == effective::Origin::Default);
        page += &match &setting.value {
            None => format!("\n# {key} ="),
            Some(value) if setting.hides => format!("\n# Set by {}, and not shown whole.\n# {key} = {value}", setting.origin),
            Some(value) if is_default => format!("\n# {key} = {value}"),
            Some(value) => format!("\n{key} = {value}"),
        };
    }
    page
}
