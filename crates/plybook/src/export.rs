//! `plybook export`: one game as a `.ply` file.
//!
//! Invariant: what is written was checked first, form and digests; a file appears whole or not at all.

use std::io::Write;
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
            write_whole(path, text.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?;
            eprintln!("{}: {} entries, book digest {}", path.display(), book.links().len(), book.digest());
        }
    }
    Ok(())
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().map(std::ffi::OsStr::to_os_string).unwrap_or_default();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let mut file = std::fs::File::create(&part)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&part, path));
    if written.is_err() {
        // The first error is the one to tell.
        let _ = std::fs::remove_file(&part);
    }
    written
}
