//! `plybook verify`: checks books with no server and no network, or a database of them.
//!
//! Invariant: every file is read to its end or to the first thing that is wrong with it; one wrong
//! file makes the exit code 1, whatever the others are. With public keys given, a book that none of them
//! signed is not verified: a forger would take the signature off. So is one that is not what somebody kept of it; and,
//! where that is asked, one whose bots choose otherwise than it says.

mod bots;
mod kept;
mod origin;
mod tally;
mod verdict;
mod walk;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::bail;
use plybook_core::game::Fault;
use plybook_core::receipt::PublicKeys;
use plybook_core::verify::{Report, Signed, Wrong, verify_signed};
use plybook_core::{Book, Receipt};
use plybook_rulesets::Registry;
use serde_json::json;

use bots::{Asking, Bots};
use kept::{Finding, Kept};
use origin::OriginBook;
use verdict::{Verdict, Verified};

use crate::exit::Interrupts;
use crate::keys::public_keys;
use crate::screen::Screen;

/// Flags of `plybook verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The books, .ply files
    #[arg(required_unless_present = "database", conflicts_with = "database")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    walk: walk::WalkArgs,
    /// One JSON object a file or game and line, instead of words
    #[arg(long)]
    json: bool,
    /// Public keys as `plybook keys` prints them: every book must be signed by one of them; may be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    public_key: Vec<PathBuf>,
    /// Have every move by a bot or by the fallback chosen again, with the seed that a closed book reveals, and name the first
    /// that differs; this may take as long as the bots did
    #[arg(long)]
    bots: bool,
    #[command(flatten)]
    kept: kept::KeptArgs,
    /// The book of the game that FILES were forked from: each must begin with what stood there
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    origin: Option<PathBuf>,
}

/// No file of a book is larger: as many entries as a game may have, each as long as a line may be.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// Checks every file.
pub(crate) async fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    if args.walk.is_asked() {
        return walk::run(&args.walk, args.bots, args.json).await;
    }
    let keys = public_keys(&args.public_key)?;
    let mut kept = args.kept.read(args.files.len())?;
    let origin = args.origin.as_deref().map(OriginBook::read).transpose()?;
    let registry = Registry::standard();
    let screen = Screen::new();
    let mut asking = args.bots.then(|| Ok::<_, anyhow::Error>((Asking::alone(), Interrupts::listen()?))).transpose()?;
    let mut wrong = 0;
    for file in &args.files {
        let mut verdict = check(file, &registry, (&keys, origin.as_ref()), &mut kept);
        if let (Verdict::Verified(verified), Some((asking, interrupts))) = (&mut verdict, &mut asking) {
            let book = Book::parse(&verified.text)?;
            verified.bots = asking.of_book(book, interrupts).await?;
        }
        wrong += usize::from(!verdict.holds());
        let told = if args.json { verdict.as_json(file).to_string() } else { verdict.in_words(file, origin.is_some()) };
        screen.say(told)?;
    }
    if let Some((asking, _)) = &asking {
        asking.tell();
    }
    let mut left = 0;
    for (file, receipt) in kept.left() {
        left += 1;
        screen.say(without_book(file, receipt, args.json))?;
    }
    match (wrong, left) {
        (0, 0) => Ok(()),
        (0, _) => bail!("{left} of the receipts had no book to be compared with"),
        _ => bail!("{wrong} of {} did not verify", args.files.len()),
    }
}

/// A receipt of a game that no book given is of, or none that could be verified.
fn without_book(file: &Path, receipt: &Receipt, json: bool) -> String {
    let (file, why) = (file.display().to_string(), "no book that follows from itself is of its game");
    let Receipt { game, seq, .. } = receipt;
    if json {
        return json!({ "receipt": file, "verified": false, "game_id": game.to_string(), "entry": seq.0, "why": why }).to_string();
    }
    format!("{file}: NOT COMPARED: game {game}, entry {seq}: {why}")
}

fn check(file: &Path, registry: &Registry, (keys, origin): (&PublicKeys, Option<&OriginBook>), kept: &mut Kept) -> Verdict {
    match read(file) {
        Err(why) => Verdict::Unreadable(why),
        Ok(bytes) => match String::from_utf8(bytes) {
            Err(error) => Verdict::Wrong(not_text(&error), Vec::new()),
            Ok(text) => match verify_signed(&text, registry, keys) {
                Ok(report) => match origin.map_or(Ok(()), |origin| origin.begins(&text)) {
                    Ok(()) => {
                        let kept = kept.compare(&text, keys);
                        proved(text, report, keys, kept)
                    }
                    Err(why) => Verdict::NotForked(why),
                },
                Err(wrong) if wrong.accepted.is_some() => accepted(wrong, kept.compare(&text, keys)),
                Err(wrong) => Verdict::Wrong(wrong, Vec::new()),
            },
        },
    }
}

/// A whole book was accepted as it is, unless somebody kept something else of it.
fn accepted(wrong: Wrong, kept: Vec<Finding>) -> Verdict {
    if kept.iter().all(Finding::holds) {
        return Verdict::Wrong(wrong, kept);
    }
    let why = format!("{}; and it is not what was kept of it", wrong.why);
    Verdict::Wrong(Wrong { accepted: None, why, ..wrong }, kept)
}

fn proved(text: String, report: Report, keys: &PublicKeys, kept: Vec<Finding>) -> Verdict {
    let failed = kept.iter().filter(|finding| !finding.holds()).count();
    if failed > 0 {
        return Verdict::NotProved(format!("{failed} of {} kept of it did not hold", kept.len()), kept);
    }
    let signed = report.signed;
    let verified = |kept| {
        let bots = Bots::NotAsked(report.header.terms.fallback.is_some());
        Verdict::Verified(Box::new(Verified { text, report, bots, kept }))
    };
    match signed {
        // A receipt over the last entry is the very signature that could stand below the book.
        Signed::No | Signed::UnknownKey(_) if kept.iter().any(Finding::signs_all) => verified(kept),
        Signed::No if !keys.is_empty() => Verdict::NotProved("it is not signed".to_owned(), kept),
        Signed::UnknownKey(id) if !keys.is_empty() => Verdict::NotProved(format!("it is signed by a key that was not given: {id}"), kept),
        _ => verified(kept),
    }
}

/// The bytes of a file that a book may be.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let said = opened.metadata().map_err(|error| error.to_string())?.len();
    if said <= FILE_BYTES_MAX {
        // What is no plain file, such as a pipe, says nothing of its size beforehand.
        opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    }
    if said.max(bytes.len() as u64) > FILE_BYTES_MAX {
        return Err(format!("is larger than any book, which has at most {FILE_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

fn not_text(error: &std::string::FromUtf8Error) -> Wrong {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
    Wrong { line: Some(line), ..Wrong::book(Fault::Form, "is not UTF-8") }
}
