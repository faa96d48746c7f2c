//! Each setting with the value that counts, and where it was written.
//!
//! Invariant: no password, key or token is in what this module gives away. A value that its flag hides is shown only where it
//! is an address, less what an address keeps secret, or the name of a file.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::file::{File, is_bare, is_list, settings};

/// What stands in the place of a secret.
const HIDDEN: &str = "***";
/// Hidden because an address can carry a password; what is no address is a file's name or a word.
const ADDRESSES: [&str; 4] = ["database", "wake_database", "read_database", "wake"];

/// A setting.
#[derive(Debug)]
pub(crate) struct Setting {
    /// Its key in a file.
    pub(crate) key: String,
    /// The heading of its flag, if it has one.
    pub(crate) section: Option<String>,
    /// As TOML has it, less its secrets; nothing where it is not set.
    pub(crate) value: Option<String>,
    /// Where it was written.
    pub(crate) origin: Origin,
    /// Whether something was left out.
    pub(crate) hides: bool,
    /// What it is.
    pub(crate) about: String,
}

/// Where a setting was written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nowhere.
    Default,
    /// In a file, at this line.
    File(String),
    /// In this variable.
    Environment(String),
    /// On the command line.
    Flag(String),
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Default => f.write_str("default"),
            Origin::File(place) => f.write_str(place),
            Origin::Environment(name) => write!(f, "environment {name}"),
            Origin::Flag(name) => write!(f, "flag --{name}"),
        }
    }
}

/// Every setting of a command, in the order of its flags.
pub(crate) fn all(command: &Command, matches: &ArgMatches, file: Option<&File>) -> Vec<Setting> {
    settings(command).map(|arg| setting(arg, matches, file)).collect()
}

fn setting(arg: &Arg, matches: &ArgMatches, file: Option<&File>) -> Setting {
    let id = arg.get_id().as_str();
    let raw: Vec<String> = matches.get_raw(id).into_iter().flatten().map(|value| value.to_string_lossy().into_owned()).collect();
    let shown: Vec<String> = raw.iter().map(|value| shown(arg, value)).collect();
    let key = arg.get_long().unwrap_or(id).to_owned();
    let origin = match matches.value_source(id) {
        Some(ValueSource::EnvVariable) => {
            Origin::Environment(arg.get_env().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
        }
        // What a file says is handed to the parser as flags.
        Some(ValueSource::CommandLine) => match file.and_then(|file| file.place(id)) {
            Some(place) => Origin::File(place),
            None => Origin::Flag(key.clone()),
        },
        _ => Origin::Default,
    };
    let hides = shown != raw;
    let value = match shown.as_slice() {
        [] => None,
        [one] if !is_list(arg) => Some(toml(arg, one)),
        several => Some(format!("[{}]", several.iter().map(|one| toml(arg, one)).collect::<Vec<_>>().join(", "))),
    };
    Setting { key, section: arg.get_help_heading().map(str::to_owned), value, origin, hides, about: about(arg) }
}

/// What a flag says of itself, on one line.
pub(crate) fn about(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    help.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as TOML has it.
pub(crate) fn toml(arg: &Arg, value: &str) -> String {
    if is_bare(arg) && value != HIDDEN { value.to_owned() } else { toml_edit::Value::from(value).to_string().trim().to_owned() }
}

/// A value less its secrets.
fn shown(arg: &Arg, value: &str) -> String {
    if arg.is_hide_env_values_set() && !ADDRESSES.contains(&arg.get_id().as_str()) {
        return HIDDEN.to_owned();
    }
    match value.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", address(scheme, rest)),
        // The other form of an address, which no flag takes, and which somebody may have written all the same.
        None if value.contains("password=") => HIDDEN.to_owned(),
        None => value.to_owned(),
    }
}

/// What stands before the last @ is who comes, and with what: whatever a password looks like, nothing behind its user's name is shown.
fn address(scheme: &str, rest: &str) -> String {
    let (user, rest) = rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest));
    let user = match user.map(|user| (user, user.split_once(':'))) {
        None => String::new(),
        Some((_, Some((name, _)))) => format!("{name}:{HIDDEN}@"),
        // Alone it is a user's name to Postgres, and a token to NATS.
        Some((name, None)) if scheme.starts_with("postgres") => format!("{name}@"),
        Some(_) => format!("{HIDDEN}@"),
    };
    let (place, query) = rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
    let query = query.map(|query| format!("?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&")));
    format!("{user}{place}{}", query.unwrap_or_default())
}

fn parameter(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, _)) if ["password", "token", "secret", "key"].iter().any(|word| name.to_ascii_lowercase().contains(word)) => {
            format!("{name}={HIDDEN}")
        }
        _ => pair.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn shows(id: &'static str, value: &str, wanted: &str) {
        assert_eq!(shown(&Arg::new(id).long(id).hide_env_values(true), value), wanted);
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        shows("read-database", "host=h user=u password=s3cret", HIDDEN);
        shows("database", "postgres://plybook@db/plybook", "postgres://plybook@db/plybook");
        shows("database", "postgres://plybook:s3cret@db:5432/plybook", "postgres://plybook:***@db:5432/plybook");
        shows("database", "postgres://plybook:a@b?c:d/e@db/plybook", "postgres://plybook:***@db/plybook");
        shows(
            "database",
            "postgres://db/plybook?user=u&password=s3cret&sslpassword=x",
            "postgres://db/plybook?user=u&password=***&sslpassword=***",
        );
        shows("wake", "nats://t0ken@bus:4222", "nats://***@bus:4222");
        shows("wake", "nats://u:p@one,nats://u:p@two", "nats://u:***@two");
    }

    #[test]
    fn what_a_flag_hides_is_hidden_unless_it_is_a_file_or_a_word() {
        shows("database", "plybook.db", "plybook.db");
        shows("wake", "poll", "poll");
        shows("pepper", "s3cret", "***");
        shows("headers", "key=a://b", "***");
    }
}
