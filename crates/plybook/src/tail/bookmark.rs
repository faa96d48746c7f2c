//! How far `plybook tail` came, in a file.
//!
//! Invariant: the file holds a whole token at every moment: it is written beside, by each process under a name of its own, and
//! put in its place.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::exit::usage;

/// Between two times that the file is written while entries come.
const PAUSE: Duration = Duration::from_millis(200);
/// Longer than any token.
const TOKEN_BYTES_MAX: usize = 4_096;

/// See the module.
#[derive(Debug)]
pub(super) struct Bookmark {
    path: Option<PathBuf>,
    token: String,
    /// The token in the file.
    kept: String,
    kept_at: Instant,
}

impl Bookmark {
    /// What the file says; nothing where there is none.
    pub(super) fn open(path: Option<PathBuf>) -> anyhow::Result<Bookmark> {
        let mut token = String::new();
        if let Some(path) = &path {
            match std::fs::read_to_string(path) {
                Ok(text) => text.trim().clone_into(&mut token),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(usage(format!("--resume-file: {} cannot be read: {error}", path.display()))),
            }
            // Another file is put in its place, which a device would not survive.
            if path.exists() && !path.is_file() {
                return Err(usage(format!("--resume-file: {} is no regular file", path.display())));
            }
            if token.len() > TOKEN_BYTES_MAX || token.chars().any(char::is_whitespace) {
                return Err(usage(format!("--resume-file: {} is no file of plybook tail", path.display())));
            }
            // Found out before the first line is printed, and not behind it.
            write(path, &token).with_context(|| unwritable(path))?;
        }
        Ok(Bookmark { path, kept: token.clone(), token, kept_at: Instant::now() })
    }

    /// The file.
    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The last token.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Everything up to this token was printed. Soon it stands in the file.
    pub(super) fn reached(&mut self, token: &str) -> anyhow::Result<()> {
        token.clone_into(&mut self.token);
        if self.kept_at.elapsed() < PAUSE { Ok(()) } else { self.keep() }
    }

    /// Writes the file, where there is something new.
    pub(super) fn keep(&mut self) -> anyhow::Result<()> {
        let Some(path) = self.path.as_deref().filter(|_| self.token != self.kept) else { return Ok(()) };
        write(path, &self.token).with_context(|| unwritable(path))?;
        self.token.clone_into(&mut self.kept);
        self.kept_at = Instant::now();
        Ok(())
    }
}

fn unwritable(path: &Path) -> String {
    format!("--resume-file: {} cannot be written", path.display())
}

fn write(path: &Path, token: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::File::create(&beside).and_then(|mut file| {
        writeln!(file, "{token}")?;
        file.sync_all()?;
        std::fs::rename(&beside, path)
    });
    if written.is_err() {
        // Nobody else would: the next process has another name.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
