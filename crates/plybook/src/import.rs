//! `plybook import`: books kept as evidence, and recorded games played through the API.
//!
//! A `.ply` book is sent as it is ([`evidence`]), unless it is to be played again. Any other record is read and played through under the rules of this
//! build ([`plybook_records`]), and only then sent ([`sending`]); what came of it is told ([`report`]).
//!
//! Invariant: running the same import again, after whatever interruption, leaves every game once.

mod acting;
mod again;
mod evidence;
mod folders;
mod format;
mod ids;
mod plan;
mod ply;
mod report;
mod sending;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use futures::{StreamExt, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plybook_client::Client;
use plybook_records::{Choice, Parsed, jsonl, lines, sgf, value};
use plybook_rulesets::Registry;

use crate::exit::{Interrupted, Interrupts, usage};
use crate::link::Link;
use crate::screen::Screen;
use evidence::Uploads;
use format::Format;
use ids::{GameIds, Ids};
use plan::Plan;
use report::{Line, Verdict};
use sending::Unsent;

/// Flags of `plybook import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    link: Link,
    /// The files; of a folder, those whose extension is a format's. A .ply book is kept as evidence: as it is,
    /// under its own id, read-only.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Play .ply books again, as new games of this server, instead of keeping them: whatever somebody asked for, without clocks,
    /// bots and policies of absence. Books in which time took a turn or a seat are refused.
    #[arg(long)]
    replay: bool,
    /// Their format; by default the extension tells, or the content.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The rules to play by, where the records do not name them.
    #[arg(long, value_name = "ID")]
    ruleset: Option<String>,
    /// A parameter of the rules; may be repeated. It goes before what a record says.
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The rule, where the ruleset has a choice of them; `auto` takes, for each game, the first under
    /// which the record can be played to its end.
    #[arg(long, value_name = "WORD")]
    rule: Option<String>,
    /// Number of seats, where the records do not tell.
    #[arg(long, value_name = "NUMBER")]
    seats: Option<u8>,
    /// Name of this import. Repeated under the same name, it adds nothing twice, even if a file has
    /// grown. By default a file is known by its content.
    #[arg(long, value_name = "NAME")]
    batch: Option<String>,
    /// Games played at once.
    #[arg(long, default_value_t = 16, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Writes what came of each game, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// One record on its way.
struct Job {
    file: String,
    id: String,
    work: Result<Work, String>,
}

/// What is to be done for a record.
enum Work {
    /// To play it.
    Play(Box<Plan>, GameIds),
    /// To keep the file, which is read again in its turn: a thousand books need not be in memory at once.
    Keep(PathBuf),
}

/// Imports, and tells.
pub(crate) async fn run(mut args: ImportArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    args.files = folders::files(args.files)?;
    check_report(&args)?;
    let jobs = read_all(&args)?;
    let games = jobs.len();
    let mut interrupts = Interrupts::listen()?;
    let began = Instant::now();
    let bar = bar(games as u64);
    let (gone, uploads) = (AtomicBool::new(false), Uploads::of(&client));
    let carry = |(n, job)| {
        let (client, uploads, gone, bar) = (&client, &uploads, &gone, &bar);
        async move { (n, carry_out(client, uploads, job, gone, bar).await) }
    };
    let mut all = stream::iter(jobs.into_iter().enumerate()).map(carry).buffer_unordered(usize::from(args.jobs));
    let mut lines: Vec<(usize, Line)> = Vec::new();
    loop {
        tokio::select! {
            line = all.next() => match line {
                Some(line) => lines.push(line),
                None => break,
            },
            // Games on their way are abandoned: the same command again goes on with them.
            () = interrupts.next() => break,
        }
    }
    lines.sort_by_key(|(n, _)| *n);
    let lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    bar.finish_and_clear();
    if let Some(path) = &args.report {
        report::write(path, &lines).with_context(|| format!("--report: {} cannot be written", path.display()))?;
    }
    tell(&lines, games, began.elapsed())
}

async fn carry_out(client: &Client, uploads: &Uploads<'_>, job: Job, gone: &AtomicBool, bar: &ProgressBar) -> Line {
    // Once no server answers for one game, waiting for each of the others would not help.
    let not_tried = gone.load(Ordering::Relaxed).then(|| Unsent::Unavailable("not tried: no server answered before".to_owned()));
    let line = match job.work {
        Err(why) => Line::unread(&job.file, &job.id, why),
        Ok(Work::Play(plan, ids)) => {
            let sent = match not_tried {
                Some(unsent) => Err(unsent),
                None => sending::send(client, &plan, ids).await,
            };
            Line::sent(&job.file, &job.id, &plan, sent)
        }
        Ok(Work::Keep(path)) => {
            let kept = match not_tried {
                Some(unsent) => Err(unsent),
                None => uploads.keep(&path).await,
            };
            Line::kept(&job.file, &job.id, kept)
        }
    };
    if line.verdict == Verdict::Unavailable {
        gone.store(true, Ordering::Relaxed);
    }
    bar.inc(1);
    line
}

fn read_all(args: &ImportArgs) -> anyhow::Result<Vec<Job>> {
    let mut params = BTreeMap::new();
    for pair in &args.params {
        let (name, text) = value::split(pair).map_err(|why| usage(format!("--param: {why}")))?;
        params.insert(name.to_owned(), text.to_owned());
    }
    params.extend(args.rule.clone().map(|rule| ("rule".to_owned(), rule)));
    let choice = Choice { ruleset: args.ruleset.clone(), params, seats: args.seats };
    let registry = Registry::standard();
    if let Some(name) = &args.ruleset {
        registry.card(name, None).map_err(|error| usage(format!("--ruleset: {error}")))?;
    }
    check_names(args)?;
    let mut jobs = Vec::new();
    for path in &args.files {
        let bytes = std::fs::read(path).map_err(|error| usage(format!("{}: {error}", path.display())))?;
        let file = path.display().to_string();
        match String::from_utf8(bytes) {
            Err(_) => jobs.push(refused(&file, "is not UTF-8".to_owned())),
            Ok(text) => jobs.extend(read_file(path, &text, args, &choice, &registry)),
        }
    }
    Ok(jobs)
}

/// The report must not be written over a record, by whatever name.
fn check_report(args: &ImportArgs) -> anyhow::Result<()> {
    let Some(report) = &args.report else { return Ok(()) };
    let identity = |path: &Path| path.metadata().ok().filter(std::fs::Metadata::is_file).map(|there| (there.dev(), there.ino()));
    let Some(there) = identity(report) else { return Ok(()) };
    match args.files.iter().find(|path| identity(path) == Some(there)) {
        Some(path) => Err(usage(format!("--report: {} is {}, one of the files to import", report.display(), path.display()))),
        None => Ok(()),
    }
}

/// Under a batch's name a file is known by its own, so that must tell it from the others.
fn check_names(args: &ImportArgs) -> anyhow::Result<()> {
    let mut names = BTreeSet::new();
    match args.files.iter().map(|path| name_of(path)).find(|name| !names.insert(name.clone())) {
        Some(name) if args.batch.is_some() => Err(usage(format!("--batch: two files are named {name}; import them as two batches"))),
        _ => Ok(()),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn read_file(path: &Path, text: &str, args: &ImportArgs, choice: &Choice, registry: &Registry) -> Vec<Job> {
    let file = path.display().to_string();
    let name = name_of(path);
    let ids = args.batch.as_ref().map_or_else(|| Ids::of_content(text), |batch| Ids::of_batch(batch, &name));
    let Some(format) = args.format.or_else(|| Format::of(path, text)) else {
        return vec![refused(&file, "its format cannot be told: say --format".to_owned())];
    };
    let parsed = match format {
        Format::Ply if args.replay => {
            let work = ply::read(text, registry).map(|plan| Work::Play(Box::new(plan), ids.game(0)));
            return vec![Job { file, id: name, work }];
        }
        Format::Ply => return vec![Job { file, id: name, work: Ok(Work::Keep(path.to_owned())) }],
        Format::C4 => Ok(lines::connect_four(text)),
        Format::Othello => Ok(lines::othello(text)),
        Format::Gomoku => Ok(lines::gomoku(text)),
        Format::Sgf => sgf::read(text),
        Format::Jsonl => Ok(jsonl::read(text)),
    };
    let parsed = match parsed {
        Err(why) => return vec![refused(&file, why)],
        Ok(parsed) if parsed.is_empty() => return vec![refused(&file, "it holds no game".to_owned())],
        Ok(parsed) => parsed,
    };
    let job = |(n, parsed): (usize, Parsed)| {
        let plan = parsed.record.and_then(|record| plybook_records::rehearse(&record, choice, registry)).map(Plan::of);
        Job { file: file.clone(), id: parsed.id, work: plan.map(|plan| Work::Play(Box::new(plan), ids.game(n))) }
    };
    parsed.into_iter().enumerate().map(job).collect()
}

fn refused(file: &str, why: String) -> Job {
    Job { file: file.to_owned(), id: "(the file)".to_owned(), work: Err(why) }
}

fn bar(games: u64) -> ProgressBar {
    // Drawn to standard error, and only where that is a terminal.
    let bar = ProgressBar::with_draw_target(Some(games), ProgressDrawTarget::stderr());
    match ProgressStyle::with_template("{bar:40} {pos}/{len} games, {per_sec}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn tell(lines: &[Line], games: usize, took: Duration) -> anyhow::Result<()> {
    for line in lines.iter().filter(|line| line.verdict == Verdict::Refused) {
        eprintln!("{}: refused: {}", line.place(), line.reason.as_deref().unwrap_or_default());
    }
    for line in lines {
        if let Some(without) = line.without.as_ref().filter(|_| line.verdict == Verdict::Imported) {
            eprintln!("{}: played again without {without}", line.place());
        }
        if let Some(why) = &line.doubt {
            eprintln!("{}: kept as it is, but {why}", line.place());
        }
    }
    let count = |verdict: Verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let (refused, missing) = (count(Verdict::Refused), count(Verdict::Unavailable));
    let before = lines.iter().filter(|line| line.before).count();
    let imported = count(Verdict::Imported) - before;
    let moves: usize = lines.iter().filter(|line| !line.before).map(|line| line.moves).sum();
    let there = if before == 0 { String::new() } else { format!(", {before} {} there already", was(before)) };
    Screen::new().say(format!(
        "{}: {imported} imported ({}){there}, {refused} refused, in {:.1} s.",
        counted(games, "game"),
        counted(moves, "move"),
        took.as_secs_f64()
    ))?;
    let again = "Run the same command again: nothing is created twice";
    if lines.len() < games {
        let left = games - lines.len() + missing;
        return Err(Interrupted(format!("interrupted: {} {} not finished. {again}", counted(left, "game"), was(left))).into());
    }
    if missing > 0 {
        let why = lines.iter().find(|line| line.verdict == Verdict::Unavailable).and_then(|line| line.reason.clone());
        bail!("{} {} not finished: {}. {again}", counted(missing, "game"), was(missing), why.unwrap_or_default());
    }
    if refused > 0 {
        bail!("{refused} of {} {} refused", counted(games, "game"), was(refused));
    }
    Ok(())
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

const fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}
