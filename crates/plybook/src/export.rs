//! `plybook export`: one game as a `.ply` file.
//!
//! Invariant: what is written was checked first, form and digests; a file appears whole or not at all, and
//! nothing that is not a file is ever replaced by one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use plybook_core::Book;

use crate::link::Link;

/// Flags of `plybook export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    link: Link,
    /// The game.
    game: String,
    /// The file to write; standard output without it.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Fetches, checks, writes.
pub(crate) async fn run(args: ExportArgs) -> anyhow::Result<()> {
    let file = args.link.client()?.book(&args.game).await?;
    let text = String::from_utf8(file).context("the server sent a book that is not UTF-8")?;
    let book = Book::parse(&text).context("the server sent a book that does not hold")?;
    match &args.output {
        None => std::io::stdout().lock().write_all(text.as_bytes())?,
        Some(path) => {
            write(path, text.as_bytes()).with_context(|| format!("--output: {} cannot be written", path.display()))?;
            eprintln!("{}: {} entries, book digest {}", path.display(), book.links().len(), book.digest());
        }
    }
    Ok(())
}

/// Onto a file or nothing a whole file is renamed, wherever links lead; a pipe, a terminal or a device
/// takes the bytes as they are.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() => write_whole(&fs::canonicalize(path)?, Some(there.permissions()), bytes),
        Ok(_) => OpenOptions::new().write(true).open(path)?.write_all(bytes),
        // A link to a file that is still to come: opening it makes the file, renaming would lose the link.
        Err(_) if path.is_symlink() => File::create(path)?.write_all(bytes),
        Err(_) => write_whole(path, None, bytes),
    }
}

fn write_whole(path: &Path, permissions: Option<fs::Permissions>, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let mut file = File::create(&part)?;
    let kept = permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions));
    let written = kept.and_then(|()| file.write_all(bytes)).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(&part);
    }
    written
}
