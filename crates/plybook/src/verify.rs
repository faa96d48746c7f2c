//! `plybook verify`: checks books with no server and no network, or a database of them.
//!
//! Invariant: every file is read to its end or to the first thing that is wrong with it; one wrong
//! file makes the exit code 1, whatever the others are. With public keys given, a book that none of them
//! signed is not verified: a forger would take the signature off. So is one that is not what somebody kept of it.

mod kept;
mod origin;
mod walk;

use std::path::{Path, PathBuf};

use anyhow::bail;
use plybook_core::game::Fault;
use plybook_core::game::State;
use plybook_core::receipt::PublicKeys;
use plybook_core::verify::{DiceClaim, Report, Signed, Wrong, verify_signed};
use plybook_core::{Outcome, Receipt, Seat};
use plybook_rulesets::Registry;
use serde_json::{Value, json};

use kept::{Finding, Kept};
use origin::OriginBook;

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
    #[command(flatten)]
    kept: kept::KeptArgs,
    /// The book of the game that FILES were forked from: each must begin with what stood there
    #[arg(long, value_name = "FILE", conflicts_with = "database")]
    origin: Option<PathBuf>,
}

/// What came of one file.
enum Verdict {
    Verified(Box<Report>, Vec<Finding>),
    Wrong(Wrong),
    /// The book follows from itself, and does not begin with what stood in the game that it names.
    NotForked(String),
    /// The book follows from itself, and none of the keys given signed it, or it is not what was kept.
    NotProved(String, Vec<Finding>),
    /// The file itself cannot be read.
    Unreadable(String),
}

/// No file of a book is larger: as many entries as a game may have, each as long as a line may be.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// Checks every file.
pub(crate) async fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    if args.walk.is_asked() {
        return walk::run(&args.walk, args.json).await;
    }
    let keys = public_keys(&args.public_key)?;
    let mut kept = args.kept.read(args.files.len())?;
    let origin = args.origin.as_deref().map(OriginBook::read).transpose()?;
    let registry = Registry::standard();
    let screen = Screen::new();
    let mut wrong = 0;
    for file in &args.files {
        let verdict = check(file, &registry, (&keys, origin.as_ref()), &mut kept);
        wrong += usize::from(!matches!(verdict, Verdict::Verified(..)));
        let told = if args.json { as_json(file, &verdict).to_string() } else { in_words(file, &verdict, origin.is_some()) };
        screen.say(told)?;
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
            Err(error) => Verdict::Wrong(not_text(&error)),
            Ok(text) => match verify_signed(&text, registry, keys) {
                Ok(report) => match origin.map_or(Ok(()), |origin| origin.begins(&text)) {
                    Ok(()) => proved(report, keys, kept.compare(&text, keys)),
                    Err(why) => Verdict::NotForked(why),
                },
                Err(wrong) => Verdict::Wrong(wrong),
            },
        },
    }
}

fn proved(report: Report, keys: &PublicKeys, kept: Vec<Finding>) -> Verdict {
    let failed = kept.iter().filter(|finding| !finding.holds()).count();
    if failed > 0 {
        return Verdict::NotProved(format!("{failed} of {} kept of it did not hold", kept.len()), kept);
    }
    match report.signed {
        // A receipt over the last entry is the very signature that could stand below the book.
        Signed::No | Signed::UnknownKey(_) if kept.iter().any(Finding::signs_all) => Verdict::Verified(Box::new(report), kept),
        Signed::No if !keys.is_empty() => Verdict::NotProved("it is not signed".to_owned(), kept),
        Signed::UnknownKey(id) if !keys.is_empty() => Verdict::NotProved(format!("it is signed by a key that was not given: {id}"), kept),
        _ => Verdict::Verified(Box::new(report), kept),
    }
}

/// What the signature shows, and what would show more.
fn signature(signed: Signed, kept: &[Finding]) -> String {
    let more = "a book written anew from its first entry would pass as well; only a signature whose public key is given, \
                a receipt or a head digest taken earlier shows that";
    match signed {
        // What they show stands below.
        Signed::No if !kept.is_empty() => "not signed".to_owned(),
        Signed::UnknownKey(id) if !kept.is_empty() => format!("signed by a key that was not given: {id}"),
        Signed::No => format!("not signed: {more}"),
        Signed::UnknownKey(id) => format!("signed by a key that was not given: {id}; {more}"),
        Signed::By(id) => format!("signed by key {id}: this head is one that the key's owner had"),
    }
}

/// The bytes of a file that a book may be.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(format!("has {bytes} bytes; no book has more than {FILE_BYTES_MAX}"));
    }
    std::fs::read(file).map_err(|error| error.to_string())
}

fn not_text(error: &std::string::FromUtf8Error) -> Wrong {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
    Wrong { line: Some(line), seq: None, fault: Fault::Form, why: "is not UTF-8".to_owned() }
}

fn in_words(file: &Path, verdict: &Verdict, compared: bool) -> String {
    let file = file.display();
    match verdict {
        Verdict::Unreadable(why) => format!("{file}: cannot be read: {why}"),
        Verdict::Wrong(wrong) => format!("{file}: WRONG: {wrong}"),
        Verdict::NotProved(why, kept) => format!("{file}: NOT PROVED: it follows from itself, but {why}{}", kept_lines(kept)),
        Verdict::NotForked(why) => format!("{file}: WRONG ORIGIN: it follows from itself, but {why}"),
        Verdict::Verified(report, kept) => format!(
            "{file}: verified\n  game {} of {}, {} entries, {}\n  {}\n{}  dice: {}\n  head digest {}\n  {}{}",
            report.header.game,
            report.header.ruleset,
            report.entries,
            state(report.state),
            outcome(report.outcome.as_ref()),
            report.header.origin.as_ref().map_or_else(String::new, |origin| origin::told(origin, compared)),
            report.dice,
            report.digest,
            signature(report.signed, kept),
            kept_lines(kept),
        ),
    }
}

fn kept_lines(kept: &[Finding]) -> String {
    kept.iter().map(|finding| format!("\n  {finding}")).collect()
}

fn as_json(file: &Path, verdict: &Verdict) -> Value {
    let file = file.display().to_string();
    match verdict {
        Verdict::Unreadable(why) | Verdict::NotForked(why) => json!({ "file": file, "verified": false, "why": why }),
        Verdict::NotProved(why, kept) => json!({ "file": file, "verified": false, "why": why, "kept": kept_json(kept) }),
        Verdict::Wrong(wrong) => {
            json!({ "file": file, "verified": false, "line": wrong.line, "entry": wrong.seq.map(|seq| seq.0), "why": wrong.why })
        }
        Verdict::Verified(report, kept) => json!({
            "file": file,
            "verified": true,
            "game_id": report.header.game.to_string(),
            "ruleset": report.header.ruleset.to_string(),
            "entries": report.entries,
            "state": state(report.state),
            "winners": report.outcome.as_ref().map(|outcome| seats(outcome).collect::<Vec<_>>()),
            "void": report.outcome.as_ref().is_some_and(Outcome::is_void),
            "reason": report.outcome.as_ref().map(|outcome| outcome.reason.to_string()),
            "given_moves": report.header.given(),
            "throws": report.throws,
            "dice": report.dice.to_string(),
            "signed_seats": signed_seats(report.dice),
            "origin_game_id": report.header.origin.map(|origin| origin.game.to_string()),
            "origin_entry": report.header.origin.map(|origin| origin.seq.0),
            "head_digest": report.digest.to_string(),
            "signed": matches!(report.signed, Signed::By(_)),
            "key_id": key_id(report.signed),
            "kept": kept_json(kept),
        }),
    }
}

fn kept_json(kept: &[Finding]) -> Value {
    kept.iter().map(Finding::as_json).collect()
}

/// The seats whose own keys signed what they committed to.
fn signed_seats(dice: DiceClaim) -> Vec<u8> {
    match dice {
        DiceClaim::FixedJointly { signed, .. } => signed.iter().map(|Seat(seat)| seat).collect(),
        _ => Vec::new(),
    }
}

/// The key that the book names, whether it was given or not.
fn key_id(signed: Signed) -> Option<String> {
    match signed {
        Signed::No => None,
        Signed::UnknownKey(id) | Signed::By(id) => Some(id.to_string()),
    }
}

const fn state(state: State) -> &'static str {
    match state {
        State::Active => "active",
        State::Finished => "finished",
        State::Closed => "closed",
    }
}

fn outcome(outcome: Option<&Outcome>) -> String {
    match outcome {
        None => "still going on".to_owned(),
        Some(outcome) if outcome.is_void() => format!("no result ({})", outcome.reason),
        Some(outcome) if outcome.winning_seats().is_empty() => format!("drawn ({})", outcome.reason),
        Some(outcome) => format!("won by seat {} ({})", outcome.winning_seats(), outcome.reason),
    }
}

fn seats(outcome: &Outcome) -> impl Iterator<Item = u8> {
    outcome.winning_seats().iter().map(|Seat(seat)| seat)
}
