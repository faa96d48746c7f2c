//! `plybook import`: recorded games, played through the API.
//!
//! A record is read ([`mod@format`], and one module a format), played through under the rules of this
//! build ([`rehearsal`]), and only then sent ([`sending`]); what came of it is told ([`report`]).
//!
//! Invariant: running the same import again, after whatever interruption, leaves every game once.

mod format;
mod ids;
mod jsonl;
mod lines;
mod plan;
mod ply;
mod record;
mod rehearsal;
mod report;
mod sending;
mod sgf;

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
use plybook_rulesets::Registry;

use crate::exit::{Interrupted, Interrupts, usage};
use crate::link::Link;
use crate::screen::Screen;
use crate::typed;
use format::Format;
use ids::{GameIds, Ids};
use plan::Plan;
use rehearsal::Choice;
use report::{Line, Verdict};

/// Flags of `plybook import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    link: Link,
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
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
    ids: GameIds,
    plan: Result<Box<Plan>, String>,
}

/// Imports, and tells.
pub(crate) async fn run(args: ImportArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    check_report(&args)?;
    let jobs = read_all(&args)?;
    let games = jobs.len();
    let mut interrupts = Interrupts::listen()?;
    let began = Instant::now();
    let bar = bar(games as u64);
    let gone = AtomicBool::new(false);
    let carry = |(n, job)| {
        let (client, gone, bar) = (&client, &gone, &bar);
        async move { (n, carry_out(client, job, gone, bar).await) }
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
        report::write(path, &lines).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    tell(&lines, games, began.elapsed())
}

async fn carry_out(client: &Client, job: Job, gone: &AtomicBool, bar: &ProgressBar) -> Line {
    let line = match job.plan {
        Err(why) => Line::unread(&job.file, &job.id, why),
        // Once no server answers for one game, waiting for each of the others would not help.
        Ok(plan) if gone.load(Ordering::Relaxed) => {
            let why = "not tried: no server answered before".to_owned();
            Line::sent(&job.file, &job.id, &plan, Err(sending::Unsent::Unavailable(why)))
        }
        Ok(plan) => {
            let sent = sending::send(client, &plan, job.ids).await;
            Line::sent(&job.file, &job.id, &plan, sent)
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
        let (name, text) = typed::split(pair).map_err(|why| usage(format!("--param: {why}")))?;
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
        Format::Ply => {
            let plan = ply::read(text, registry).map(Box::new);
            return vec![Job { file, id: name, ids: ids.game(0), plan }];
        }
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
    let job = |(n, parsed): (usize, record::Parsed)| {
        let plan = parsed.record.and_then(|record| rehearsal::rehearse(&record, choice, registry)).map(Box::new);
        Job { file: file.clone(), id: parsed.id, ids: ids.game(n), plan }
    };
    parsed.into_iter().enumerate().map(job).collect()
}

fn refused(file: &str, why: String) -> Job {
    Job { file: file.to_owned(), id: "(the file)".to_owned(), ids: Ids::of_content("").game(0), plan: Err(why) }
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
        eprintln!("{}: {}: refused: {}", line.file, line.id, line.reason.as_deref().unwrap_or_default());
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
