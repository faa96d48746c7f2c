//! A TOML file of settings, each held against the flag that it stands for.
//!
//! Invariant: a file with a key that is no flag, or with a value that its flag does not take, is refused whole, with the
//! line; nothing is passed over in silence. What a message quotes is never a value that may be secret.

use std::any::TypeId;
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command};
use toml_edit::{Document, Item, Value};

use super::FILE_FLAG;

/// How like a flag's name a key must be for it to be proposed.
const LIKENESS: f64 = 0.6;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct File {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// One setting of a file.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The argument's id.
    pub(crate) id: String,
    /// The line, from 1.
    pub(crate) line: usize,
    key: String,
    values: Vec<String>,
    is_switch: bool,
}

/// Why a file cannot be used.
#[derive(Debug)]
pub(crate) struct Wrong {
    path: PathBuf,
    line: Option<usize>,
    why: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path.display(), self.why),
            None => write!(f, "{}: {}", self.path.display(), self.why),
        }
    }
}

impl File {
    /// Reads a file of settings of this command.
    pub(crate) fn read(path: &Path, command: &Command) -> Result<File, Wrong> {
        let wrong = |line, why| Wrong { path: path.to_owned(), line, why };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(None, error.to_string()))?;
        let entries = parse(&text, command).map_err(|(line, why)| wrong(line, why))?;
        Ok(File { path: path.to_owned(), entries })
    }

    /// Its settings, in their order.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Forgets all settings but these.
    pub(crate) fn keep(&mut self, which: impl Fn(&Entry) -> bool) {
        self.entries.retain(which);
    }

    /// Where a setting stands, for people.
    pub(crate) fn place(&self, id: &str) -> Option<String> {
        let entry = self.entries.iter().find(|entry| entry.id == id)?;
        Some(format!("{}:{}", self.path.display(), entry.line))
    }
}

impl Entry {
    /// The same as a flag would have said it.
    pub(crate) fn flags(&self) -> Vec<OsString> {
        if self.is_switch {
            return self.values.iter().filter(|value| *value == "true").map(|_| format!("--{}", self.key).into()).collect();
        }
        self.values.iter().map(|value| format!("--{}={value}", self.key).into()).collect()
    }
}

/// A line, where there is one, and why not.
type Refusal = (Option<usize>, String);

fn parse(text: &str, command: &Command) -> Result<Vec<Entry>, Refusal> {
    let line = |span: Option<Range<usize>>| span.map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let document = Document::parse(text).map_err(|error| (line(error.span()), one_line(error.message())))?;
    let mut entries = Vec::new();
    for (key, item) in document.as_table() {
        let at = document.as_table().key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
        let refusal = |why: String| (line(at.clone()), why);
        let arg = settings(command).find(|arg| arg.get_long() == Some(key)).ok_or_else(|| refusal(unknown(key, command)))?;
        let values = values(arg, item).map_err(|why| refusal(format!("{key}: {why}")))?;
        let is_switch = matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse);
        let entry = Entry { id: arg.get_id().to_string(), line: line(at.clone()).unwrap_or(1), key: key.to_owned(), values, is_switch };
        taken(&entry, arg, command).map_err(|why| refusal(format!("{key}: {why}")))?;
        entries.push(entry);
    }
    Ok(entries)
}

/// The flags that a file may set: all but the one that names it.
pub(crate) fn settings(command: &Command) -> impl Iterator<Item = &Arg> {
    let is_setting = |arg: &&Arg| arg.get_long().is_some() && !["help", "version", FILE_FLAG].contains(&arg.get_id().as_str());
    command.get_arguments().filter(is_setting)
}

fn unknown(key: &str, command: &Command) -> String {
    let likeness = |name: &str| strsim::jaro_winkler(&key.replace('_', "-"), name);
    let names = settings(command).filter_map(Arg::get_long).map(|name| (likeness(name), name));
    let nearest = names.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(likeness, _)| *likeness > LIKENESS);
    match nearest {
        Some((_, name)) => format!("unknown key {key:?}: is {name:?} meant?"),
        None => format!("unknown key {key:?}"),
    }
}

/// What a flag takes, as far as TOML tells it apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Switch,
    Integer,
    Number,
    Text,
}

impl Kind {
    fn of(arg: &Arg) -> Kind {
        let parser: &ValueParser = arg.get_value_parser();
        let is = |types: &[TypeId]| types.iter().any(|one| parser.type_id() == *one);
        let integers = [
            TypeId::of::<u8>(),
            TypeId::of::<u16>(),
            TypeId::of::<u32>(),
            TypeId::of::<u64>(),
            TypeId::of::<usize>(),
            TypeId::of::<i64>(),
            TypeId::of::<i32>(),
        ];
        match () {
            () if is(&[TypeId::of::<bool>()]) => Kind::Switch,
            () if is(&integers) => Kind::Integer,
            () if is(&[TypeId::of::<f64>(), TypeId::of::<f32>()]) => Kind::Number,
            () => Kind::Text,
        }
    }

    const fn told(self) -> &'static str {
        match self {
            Kind::Switch => "true or false",
            Kind::Integer => "a whole number",
            Kind::Number => "a number",
            Kind::Text => "a string",
        }
    }
}

/// Whether TOML writes such a value without quotes.
pub(crate) fn is_bare(arg: &Arg) -> bool {
    Kind::of(arg) != Kind::Text
}

/// Whether a flag may be given more than once.
pub(crate) fn is_list(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
}

fn values(arg: &Arg, item: &Item) -> Result<Vec<String>, String> {
    let kind = Kind::of(arg);
    let found = match item {
        Item::Value(Value::Array(array)) if is_list(arg) => {
            return array.iter().map(|value| single(kind, value).ok_or_else(|| mismatch(kind, "in the list", value.type_name()))).collect();
        }
        Item::Value(value) => single(kind, value).ok_or_else(|| value.type_name()),
        other => Err(other.type_name()),
    };
    let wanted = if is_list(arg) { "or a list of them" } else { "" };
    found.map(|value| vec![value]).map_err(|is| mismatch(kind, wanted, is))
}

fn mismatch(kind: Kind, wanted: &str, is: &str) -> String {
    let wanted = format!("{} {wanted}", kind.told());
    format!("{} is wanted, and this is of type {is}", wanted.trim_end())
}

fn single(kind: Kind, value: &Value) -> Option<String> {
    match (kind, value) {
        (Kind::Switch, Value::Boolean(is)) => Some(is.value().to_string()),
        (Kind::Integer | Kind::Number, Value::Integer(number)) => Some(number.value().to_string()),
        (Kind::Number, Value::Float(number)) => Some(number.value().to_string()),
        (Kind::Text, Value::String(text)) => Some(text.value().clone()),
        _ => None,
    }
}

/// Asks the flag's own parser; what other flags would say to it is asked when all of them are known.
fn taken(entry: &Entry, arg: &Arg, command: &Command) -> Result<(), String> {
    let delimiter = arg.get_value_delimiter().filter(|delimiter| entry.values.iter().any(|value| value.contains(*delimiter)));
    if let Some(delimiter) = delimiter {
        return Err(format!("a value with {delimiter:?} in it would be taken for several: write a list"));
    }
    let alone = command.clone().no_binary_name(true).mut_args(|arg| arg.env(None::<&str>));
    let Err(error) = alone.try_get_matches_from(entry.flags()) else { return Ok(()) };
    match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue | ErrorKind::InvalidUtf8 => {
            let choices: Vec<String> = arg.get_possible_values().iter().map(|choice| choice.get_name().to_owned()).collect();
            let own = std::error::Error::source(&error).map(ToString::to_string);
            Err(match own {
                Some(why) => why,
                None if choices.is_empty() => "a value is wanted".to_owned(),
                None => format!("one of {} is wanted", choices.join(", ")),
            })
        }
        _ => Ok(()),
    }
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}
