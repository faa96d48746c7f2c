//! What is told of one file, in words and for machines.
//!
//! Invariant: a book that its own rules refuse by now is told by both verdicts, what was accepted then and what
//! this build says; one that is broken is told by what is broken alone.

use std::path::Path;

use plybook_core::game::{Left, State, WhyLeft};
use plybook_core::verify::{Accepted, DiceClaim, Kind, Report, Signed, Wrong};
use plybook_core::{Outcome, Seat};
use serde_json::{Value, json};

use super::bots::Bots;
use super::kept::Finding;
use super::origin;
use crate::words;

/// What came of one file.
pub(super) enum Verdict {
    Verified(Box<Verified>),
    Wrong(Wrong, Vec<Finding>),
    /// The book follows from itself, and does not begin with what stood in the game that it names.
    NotForked(String),
    /// The book follows from itself, and none of the keys given signed it, or it is not what was kept.
    NotProved(String, Vec<Finding>),
    /// The file itself cannot be read.
    Unreadable(String),
}

/// A book that follows from itself, and nothing that was kept says otherwise.
pub(super) struct Verified {
    /// The file.
    pub(super) text: String,
    pub(super) report: Report,
    /// What its bots say.
    pub(super) bots: Bots,
    pub(super) kept: Vec<Finding>,
}

/// What a book says of times, which nothing in it proves.
const TIMES: &str = "every time is as the service's clock told it; no book proves times";

impl Verdict {
    /// Whether nothing is said against the file.
    pub(super) const fn holds(&self) -> bool {
        matches!(self, Verdict::Verified(verified) if verified.bots.holds())
    }

    /// `compared`: whether forks were compared with the book of their origin.
    pub(super) fn in_words(&self, file: &Path, compared: bool) -> String {
        in_words(file, self, compared)
    }

    pub(super) fn as_json(&self, file: &Path) -> Value {
        as_json(file, self)
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

fn in_words(file: &Path, verdict: &Verdict, compared: bool) -> String {
    let file = file.display();
    match verdict {
        Verdict::Unreadable(why) => format!("{file}: cannot be read: {why}"),
        Verdict::Wrong(wrong, kept) => format!("{file}: {}: {wrong}{}{}", label(wrong), both(wrong, kept), kept_lines(kept)),
        Verdict::NotProved(why, kept) => format!("{file}: NOT PROVED: it follows from itself, but {why}{}", kept_lines(kept)),
        Verdict::NotForked(why) => format!("{file}: WRONG ORIGIN: it follows from itself, but {why}"),
        Verdict::Verified(verified) => verified_in_words(&file.to_string(), verified, compared),
    }
}

fn verified_in_words(file: &str, Verified { report, bots, kept, .. }: &Verified, compared: bool) -> String {
    let label = match bots {
        Bots::Wrong(wrong) => {
            format!("{}: it follows from itself, but {}", wrong.name().replace('_', " ").to_uppercase(), wrong.in_words())
        }
        _ => "verified".to_owned(),
    };
    format!(
        "{file}: {label}\n  game {} of {}, {} entries, {}\n  {}\n{}{}  dice: {}\n  times: {TIMES}\n{}  head digest {}\n  {}{}",
        report.header.game,
        report.header.ruleset,
        report.entries,
        state(report.state),
        outcome(report.outcome.as_ref()),
        left(report),
        report.header.origin.as_ref().map_or_else(String::new, |origin| origin::told(origin, compared)),
        report.dice,
        bots.in_words(),
        report.digest,
        signature(report.signed, kept),
        kept_lines(kept),
    )
}

/// Who left, each with the entry.
fn left(report: &Report) -> String {
    let how = |left: &Left| format!("seat {} {} (entry {})", left.seat, words::why_left(left.why), left.seq);
    let left: Vec<String> = report.left.iter().map(how).collect();
    if left.is_empty() { String::new() } else { format!("  left: {}\n", left.join(", ")) }
}

/// The kind of wrong, for people.
const fn label(wrong: &Wrong) -> &'static str {
    match wrong.kind() {
        Kind::IllegalNow => "ILLEGAL NOW",
        Kind::Unsupported => "UNSUPPORTED",
        Kind::Broken => "WRONG",
    }
}

/// Both verdicts, where there are two.
fn both(wrong: &Wrong, kept: &[Finding]) -> String {
    let Some(accepted) = &wrong.accepted else { return String::new() };
    let now = match wrong.kind() {
        Kind::IllegalNow => format!("\n  now: {}", refused(accepted, wrong)),
        _ => String::new(),
    };
    format!("\n  then: {accepted}{now}\n  head digest {}\n  {}", accepted.digest, signature(accepted.signed, kept))
}

fn refused(Accepted { ruleset, .. }: &Accepted, wrong: &Wrong) -> String {
    let seq = wrong.seq.map_or(0, |seq| seq.0);
    let before = match seq.saturating_sub(1) {
        0 => "no entry stands before it".to_owned(),
        1 => "entry 1 before it is right".to_owned(),
        right => format!("entries 1 to {right} before it are right"),
    };
    format!("{ruleset} as this build has it refuses entry {seq}; {before}")
}

fn kept_lines(kept: &[Finding]) -> String {
    kept.iter().map(|finding| format!("\n  {finding}")).collect()
}

fn as_json(file: &Path, verdict: &Verdict) -> Value {
    let file = file.display().to_string();
    match verdict {
        Verdict::Unreadable(why) => json!({ "file": file, "verified": false, "verdict": "unreadable", "why": why }),
        Verdict::NotForked(why) => json!({ "file": file, "verified": false, "verdict": "not_forked", "why": why }),
        Verdict::NotProved(why, kept) => {
            json!({ "file": file, "verified": false, "verdict": "not_proved", "why": why, "kept": kept_json(kept) })
        }
        Verdict::Wrong(wrong, kept) => json!({
            "file": file,
            "verified": false,
            "verdict": wrong.kind().name(),
            "line": wrong.line,
            "entry": wrong.seq.map(|seq| seq.0),
            "rule": wrong.rule,
            "why": wrong.why,
            "accepted": wrong.accepted.as_deref().map(signed_json),
            "kept": kept_json(kept),
        }),
        Verdict::Verified(verified) => verified_json(file, verified),
    }
}

fn verified_json(file: String, Verified { report, bots, kept, .. }: &Verified) -> Value {
    let mut told = json!({
        "file": file,
        "verified": bots.holds(),
        "verdict": if let Bots::Wrong(wrong) = bots { wrong.name() } else { "verified" },
        "game_id": report.header.game.to_string(),
        "ruleset": report.header.ruleset.to_string(),
        "entries": report.entries,
        "state": state(report.state),
        "winners": report.outcome.as_ref().map(|outcome| seats(outcome).collect::<Vec<_>>()),
        "void": report.outcome.as_ref().is_some_and(Outcome::is_void),
        "reason": report.outcome.as_ref().map(|outcome| outcome.reason.to_string()),
        "left": report.left.iter().map(|left| json!({ "seat": left.seat.0, "entry": left.seq.0, "how": why_left(left.why) })).collect::<Vec<_>>(),
        "given_moves": report.header.given(),
        "throws": report.throws,
        "dice": report.dice.to_string(),
        "times": TIMES,
        "signed_seats": signed_seats(report.dice),
        "origin_game_id": report.header.origin.map(|origin| origin.game.to_string()),
        "origin_entry": report.header.origin.map(|origin| origin.seq.0),
        "head_digest": report.digest.to_string(),
        "signed": matches!(report.signed, Signed::By(_)),
        "key_id": key_id(report.signed),
        "kept": kept_json(kept),
    });
    bots.put(&mut told);
    told
}

/// What was accepted then, and by whom as far as the file shows it.
fn signed_json(accepted: &Accepted) -> Value {
    let mut told = accepted_json(accepted);
    told["signed"] = matches!(accepted.signed, Signed::By(_)).into();
    told["key_id"] = key_id(accepted.signed).into();
    told
}

/// What was accepted then.
pub(super) fn accepted_json(accepted: &Accepted) -> Value {
    let Accepted { entries, digest, ruleset, .. } = accepted;
    json!({ "ruleset": ruleset.to_string(), "entries": entries, "head_digest": digest.to_string() })
}

fn kept_json(kept: &[Finding]) -> Value {
    kept.iter().map(Finding::as_json).collect()
}

/// For machines.
const fn why_left(why: WhyLeft) -> &'static str {
    match why {
        WhyLeft::Resigned => "resigned",
        WhyLeft::Removed => "removed",
        WhyLeft::Timeout => "timeout",
        WhyLeft::Absent => "absent",
    }
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
