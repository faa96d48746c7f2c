//! The page of all settings, made from the flags of `plybook serve`.
//!
//! Invariant: a setting that is not on the page does not exist; nothing here knows any of them.

use clap::{Arg, Command};

use crate::settings::effective::{about, toml};
use crate::settings::file::{is_list, settings};

const HEAD: &str = "# Settings

<!-- Made by `plybook config --reference`; a test holds them equal. -->

Every setting of `plybook serve` can be written in three places. A flag counts for more than the environment, the environment for
more than the file that `--config` (`PLYBOOK_CONFIG`) names, and the file for more than the default. A key of the file is the flag
without its dashes; there are no sections. A key that is none and a value of the wrong type are refused, with the line.

```toml
listen = \"0.0.0.0:50051\"
database = \"postgres://plybook_app@db.internal/plybook\"
games-cache-mib = 512
public-key = [\"/etc/plybook/2026.pub\", \"/etc/plybook/2027.pub\"]
```

`plybook config` takes the same flags, prints the value that counts of each and where it was written, and shows no password, key or
token. `plybook config --check` says whether a node could start, and ends with exit code 2 where it could not. `plybook config --toml`
prints a file. Other commands that take `--config` (`plybook migrate`) read from it what they have a flag for.

A password is better not in the file but in the environment, or nowhere: Postgres reads `PGPASSFILE`.
";

/// The page.
pub(crate) fn page(serve: &Command) -> String {
    let mut page = HEAD.to_owned();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for arg in settings(serve) {
        if !headings.contains(&arg.get_help_heading()) {
            headings.push(arg.get_help_heading());
        }
    }
    for heading in headings {
        page += &format!("\n## {}\n\n| key | environment | default | what |\n| --- | --- | --- | --- |\n", heading.unwrap_or("The node"));
        page.extend(settings(serve).filter(|arg| arg.get_help_heading() == heading).map(row));
    }
    page
}

fn row(arg: &Arg) -> String {
    let variable = arg.get_env().map_or_else(|| "none".to_owned(), |name| format!("`{}`", name.to_string_lossy()));
    let default: Vec<String> = arg.get_default_values().iter().map(|value| toml(arg, &value.to_string_lossy())).collect();
    let default = if default.is_empty() { "none".to_owned() } else { format!("`{}`", default.join(", ")) };
    let choices: Vec<String> = arg.get_possible_values().iter().map(|choice| format!("`{}`", choice.get_name())).collect();
    let is_switch = !arg.get_action().takes_values();
    let mut what = about(arg).replace('|', "\\|").replace('<', "&lt;");
    if !choices.is_empty() && !is_switch {
        what += &format!(": one of {}", choices.join(", "));
    }
    if is_list(arg) {
        what += "; a list";
    }
    format!("| `{}` | {variable} | {default} | {what} |\n", arg.get_long().unwrap_or_default())
}
