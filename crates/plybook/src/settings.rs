//! What was asked for, wherever it was written: flags, before the environment, before a file, before defaults.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`mod@file`] | a TOML file, held against the flags of `plybook serve` |
//! | [`effective`] | each setting with its value and its origin, less what is secret |
//!
//! Invariant: the flags of `plybook serve` are the one definition of what can be set. A key of the file is a flag's
//! name, and its value goes through the very parser of that flag, so a new flag needs nothing here.

pub(crate) mod effective;
pub(crate) mod file;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use self::file::{Entry, File};
use crate::exit::usage;

/// The flag that names the file, in every command that has one.
const FILE_FLAG: &str = "config";
/// The command whose flags are the settings.
const SERVE: &str = "serve";

/// The flag that names a file of settings.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FileArgs {
    /// A TOML file of settings: its keys are the flags of `plybook serve` without their dashes
    #[arg(long = FILE_FLAG, env = "PLYBOOK_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
}

/// A command line that was read, with the file that it names.
#[derive(Debug)]
pub(crate) struct Given {
    /// The whole of it.
    pub(crate) matches: ArgMatches,
    /// What counts of the file, if there is one.
    pub(crate) file: Option<File>,
}

impl Given {
    /// Reads a command line; help and what clap refuses end the process, as in any other command.
    pub(crate) fn read(command: &Command, arguments: Vec<OsString>) -> anyhow::Result<Given> {
        let lenient = command.clone().ignore_errors(true).try_get_matches_from(&arguments);
        // Help was asked for, which the second reading prints.
        let Ok(lenient) = lenient else { return Ok(Given { matches: strict(command, &arguments), file: None }) };

        let (depth, deepest, matches) = innermost(command, &lenient);
        let Some(path) = path(deepest, matches) else { return Ok(Given { matches: strict(command, &arguments), file: None }) };
        let mut file = File::read(&path, serve(command)).map_err(|wrong| usage(format!("--{FILE_FLAG}: {wrong}")))?;
        file.keep(|entry| speaks(entry, deepest, matches));

        let mut arguments = arguments;
        let said: Vec<OsString> = file.entries().iter().flat_map(Entry::flags).collect();
        let behind = depth.saturating_add(1).min(arguments.len());
        arguments.splice(behind..behind, said);
        Ok(Given { matches: strict(command, &arguments), file: Some(file) })
    }
}

/// The definition of what can be set.
pub(crate) fn serve(command: &Command) -> &Command {
    command.find_subcommand(SERVE).unwrap_or(command)
}

fn strict(command: &Command, arguments: &[OsString]) -> ArgMatches {
    discreet(command.clone()).get_matches_from(arguments)
}

/// Help names variables and shows none: an address in any of them may hold a password.
fn discreet(command: Command) -> Command {
    command.mut_args(|arg| arg.hide_env_values(true)).mut_subcommands(discreet)
}

/// The command that was called, how deep it stands, and what was given to it.
pub(crate) fn innermost<'a>(command: &'a Command, matches: &'a ArgMatches) -> (usize, &'a Command, &'a ArgMatches) {
    let (mut depth, mut command, mut matches) = (0, command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        let Some(found) = command.find_subcommand(name) else { break };
        (depth, command, matches) = (depth + 1, found, inner);
    }
    (depth, command, matches)
}

/// The file that is named; a variable that is empty names none.
fn path(command: &Command, matches: &ArgMatches) -> Option<PathBuf> {
    has(command, FILE_FLAG).then(|| matches.get_one::<PathBuf>(FILE_FLAG).cloned())?.filter(|path| path.as_os_str() != OsStr::new(""))
}

fn has(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == id)
}

/// Whether this command has the setting, and neither its flag nor its variable was given.
fn speaks(entry: &Entry, command: &Command, matches: &ArgMatches) -> bool {
    let given = |source| matches!(source, ValueSource::CommandLine | ValueSource::EnvVariable);
    has(command, &entry.id) && !matches.value_source(&entry.id).is_some_and(given)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;
    use clap::Arg;

    fn command() -> Command {
        let config = Arg::new(FILE_FLAG).long(FILE_FLAG).value_parser(clap::value_parser!(PathBuf));
        let level = Arg::new("level").long("level").value_parser(clap::value_parser!(u32)).default_value("1");
        let name = Arg::new("name").long("name");
        let serve = Command::new(SERVE).args([config.clone(), level.clone(), name]);
        let nested = Command::new("list").args([config, level]);
        Command::new("plybook").subcommands([serve, Command::new("months").subcommand(nested)])
    }

    fn level(arguments: &str, file: &str) -> u32 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plybook.toml");
        std::fs::write(&path, file).unwrap();
        let arguments = format!("plybook {arguments} --config {}", path.display());
        let given = Given::read(&command(), arguments.split(' ').map(OsString::from).collect()).unwrap();
        *innermost(&command(), &given.matches).2.get_one("level").unwrap()
    }

    #[test]
    fn a_flag_counts_for_more_than_the_file_and_the_file_for_more_than_a_default() {
        assert_eq!(level("serve", "level = 2"), 2);
        assert_eq!(level("serve --level 3", "level = 2"), 3);
        assert_eq!(level("serve", ""), 1);
    }

    #[test]
    fn an_inner_command_takes_what_it_has_and_passes_over_the_rest() {
        assert_eq!(level("months list", "level = 2\nname = 'node'"), 2);
    }
}
