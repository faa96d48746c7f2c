//! `plybook bench`: what this machine does with Plybook, and what it could do at most.
//!
//! | module | the noun |
//! | --- | --- |
//! | `site`, `cluster`, `node`, `key`, `keeper` | where a run takes place: a throwaway Postgres, nodes, their key, and what ends them |
//! | `wire`, `lines`, `game`, `load`, `slice` | connections, moves, callers, and what a slice of time brought |
//! | `contender`, `course` | what is measured, and in which order |
//! | `append`, `hot_game`, `cold`, `watch`, `feed`, `replay`, `verify`, `memory`, `bots` | a workload each |
//! | `floor` | the limits that they stand beside |
//! | `row`, `table`, `chart` | the result, for machines, people and pictures |
//!
//! Invariants: every figure is measured beside its floors in the same run; a call that fails fails the run;
//! whatever was started ends with this process. A workload is one file and one arm of [`Workload`] more.

mod append;
mod bots;
mod chart;
mod cluster;
mod cold;
mod contender;
mod course;
mod feed;
mod floor;
mod game;
mod hot_game;
mod keeper;
mod key;
mod lines;
mod load;
mod memory;
mod node;
mod replay;
mod row;
mod site;
mod slice;
mod table;
mod verify;
mod watch;
mod wire;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::ValueEnum;
use serde_json::Value;

use self::contender::Contender;
use self::course::Course;
use self::game::{Board, SIDE_MAX, SIDE_MIN};
use self::row::Row;
use self::site::{Site, SiteArgs};
use crate::exit::{Interrupted, Interrupts, usage};
use crate::screen::Screen;

/// Books that readers and arbiters share.
const BOOKS: usize = 4;
/// Moves of a game that is measured from a later entry on.
const ROOM: u32 = 10_000;
/// Streams a game, where many games are watched.
const WATCHERS_A_GAME: usize = 10;

/// Flags of `plybook bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// What to measure; everything where nothing is named
    #[arg(value_enum)]
    workloads: Vec<Workload>,
    #[command(flatten)]
    site: SiteArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Print a list of rows as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Draw throughput and latency over the number of callers, as SVG
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// How it is measured.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "How it is measured")]
struct PlanArgs {
    /// Seconds to measure each workload with its floors, all rounds together; getting ready comes on top
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Rounds; a figure is the median of them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Callers at once, one row each; without it, what suits the workload (append: 1,64,256)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    callers: Vec<u32>,
    /// Rows and columns of the boards that append plays on
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u32).range(i64::from(SIDE_MIN)..=i64::from(SIDE_MAX)))]
    board: u32,
    /// The entry from which on games are measured in append; those before are made beforehand, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    from_entry: u32,
    /// Streams that watch
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    streams: u32,
    /// Entries of the books that are replayed and verified
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    entries: u32,
    /// Entries of the games that a cold node is asked for
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    cold_entries: u32,
    /// How many these games are; a slice ends when each was asked for once
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    cold_games: u32,
    /// Games that are opened to see what a node's memory comes to, and gone on with; half as many are left then
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    memory_games: u32,
    /// Nodes that a bot may look at for a choice
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    bot_nodes: u64,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// The limits: a plain transaction, a one-row insert, an empty call
    Floor,
    /// Moves on many games
    Append,
    /// Moves of many callers on one game
    HotGame,
    /// Moves on a node that never saw their games
    Cold,
    /// Streams on one game and on many: from a move to its last watcher
    Watch,
    /// Every entry of all games through one cursor: history, and moves until a follower has them
    Feed,
    /// Books read from the first entry to the last
    Replay,
    /// Books checked
    Verify,
    /// Games opened, and what a node's memory comes to; takes as long as it takes
    Memory,
    /// Strategies choosing moves, without a server
    Bots,
}

/// Measures, and prints what came of it.
pub(crate) async fn run(args: BenchArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let chart = args.chart.as_ref().map(|path| File::create(path).map_err(|why| usage(format!("--chart: {}: {why}", path.display()))));
    let chart = chart.transpose()?;
    let everything = args.workloads.is_empty();
    let wanted = |workload: &&Workload| everything || args.workloads.contains(workload);
    let workloads: Vec<Workload> = Workload::value_variants().iter().filter(wanted).copied().collect();

    let interrupted = || Interrupted("the bench was interrupted; what it had started is gone".to_owned());
    let needs_site = workloads.iter().any(|workload| *workload != Workload::Bots);
    let site = if needs_site {
        tokio::select! {
            opened = Site::open(&args.site) => Some(opened?),
            () = interrupts.next() => return Err(interrupted().into()),
        }
    } else {
        None
    };
    let measured = tokio::select! {
        measured = args.plan.measure(site.as_ref(), &workloads, everything) => measured,
        () = interrupts.next() => Err(interrupted().into()),
    };
    let closed = match site {
        Some(site) => site.close().await,
        None => Ok(()),
    };
    let (rows, told) = measured?;
    closed?;
    if let Some(mut file) = chart {
        file.write_all(chart::chart(&rows, &told).as_bytes()).context("the chart could not be written")?;
    }
    let screen = Screen::new();
    if args.json {
        eprintln!("{told}");
        let rows: Vec<Value> = rows.iter().map(as_json).collect();
        return Ok(screen.say(serde_json::to_string_pretty(&rows)?)?);
    }
    Ok(screen.say(format!("{}\n{told}", table::table(&rows).join("\n")))?)
}

fn as_json(row: &Row) -> Value {
    let mut floors: Vec<&str> = if row.name.workload == "bots" { vec![bots::FLOOR] } else { floor::KINDS.to_vec() };
    floors.extend(row.beside.iter().any(|beside| beside.floor.kind.as_deref() == Some(append::UNSIGNED)).then_some(append::UNSIGNED));
    row.as_json(&floors)
}

impl PlanArgs {
    async fn measure(&self, site: Option<&Site>, workloads: &[Workload], everything: bool) -> anyhow::Result<(Vec<Row>, String)> {
        let told = match site {
            Some(site) => site.told().await?,
            None => "no server".to_owned(),
        };
        let mut rows = Vec::new();
        for workload in workloads {
            let course = match (workload, site) {
                (Workload::Memory, Some(site)) => {
                    eprintln!("memory: {} games, and half as many", self.memory_games);
                    rows.extend(memory::rows(site, self.memory_games as usize).await.context("memory")?);
                    continue;
                }
                (Workload::Cold, Some(site)) if site.again().is_none() => {
                    let why = "cold starts a node of its own over a Postgres, and there is none to start it over";
                    if !everything {
                        return Err(usage(why));
                    }
                    eprintln!("left out: {why}");
                    continue;
                }
                (Workload::Bots, _) => self.bots()?,
                (workload, Some(site)) => self.course(*workload, site).await?,
                (_, None) => continue,
            };
            eprintln!("{}: {} s in {} rounds", name(*workload), self.seconds, self.rounds);
            rows.extend(course.run(site, Duration::from_secs(self.seconds), self.rounds).await.with_context(|| name(*workload))?);
        }
        Ok((rows, told))
    }

    /// The numbers of callers: as told, else these.
    fn levels(&self, otherwise: &[u32]) -> Vec<usize> {
        let mut levels: Vec<usize> = if self.callers.is_empty() { otherwise } else { &self.callers }.iter().map(|n| *n as usize).collect();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    async fn course(&self, workload: Workload, site: &Site) -> anyhow::Result<Course> {
        let mut course = Course::default();
        match workload {
            Workload::Floor => {
                for callers in self.levels(&[1, 64, 256]) {
                    let floors = floors(&mut course, site, callers).await?;
                    course.subjects_of_floors(&floors);
                }
            }
            Workload::Append => {
                let board =
                    if self.from_entry > 1 { Board::with_room(self.board, self.from_entry + ROOM) } else { Board { side: self.board } };
                for callers in self.levels(&[1, 64, 256]) {
                    let mut beside = floors(&mut course, site, callers).await?;
                    if site.receipts() {
                        beside.push(course.floor(append::unsigned(site, callers, board, self.from_entry).await?));
                    }
                    course.subject(append::contender(site, callers, board, self.from_entry).await?, beside);
                }
            }
            Workload::HotGame => {
                for callers in self.levels(&[1, 16]) {
                    enter(&mut course, site, hot_game::contender(site, callers).await?).await?;
                }
            }
            Workload::Cold => {
                let again = site.again().context("no node can be started")?;
                let shelf = cold::Shelf::fill(site, self.cold_games as usize, self.cold_entries).await?;
                for callers in self.levels(&[1, 64]) {
                    enter(&mut course, site, cold::contender(again.clone(), shelf.clone(), callers, self.cold_entries)).await?;
                }
            }
            Workload::Watch => {
                let streams = self.streams as usize;
                let many = (streams / WATCHERS_A_GAME).max(1);
                for games in if many == 1 { vec![1] } else { vec![1, many] } {
                    enter(&mut course, site, watch::contender(site, streams, games).await?).await?;
                }
            }
            Workload::Feed => {
                site.games(BOOKS, Board::with_room(0, self.entries), self.entries - 1).await?;
                for callers in self.levels(&[1, 16]) {
                    enter(&mut course, site, feed::history(site, callers).await?).await?;
                    enter(&mut course, site, feed::live(site, callers).await?).await?;
                }
            }
            Workload::Replay | Workload::Verify => {
                let books = site.games(BOOKS, Board::with_room(0, self.entries), self.entries - 1).await?;
                for callers in self.levels(&[1, 16]) {
                    let contender = match workload {
                        Workload::Replay => replay::contender(site, callers, &books).await?,
                        _ => verify::contender(site, callers, &books).await?,
                    };
                    enter(&mut course, site, contender).await?;
                }
            }
            Workload::Bots => course = self.bots()?,
            Workload::Memory => bail!("memory is no matter of slices of time"),
        }
        Ok(course)
    }

    fn bots(&self) -> anyhow::Result<Course> {
        let mut course = Course::default();
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for thinkers in self.levels(&[1, u32::try_from(cores).unwrap_or(1)]) {
            let contenders = bots::contenders(thinkers, self.bot_nodes)?;
            let floor = bots::contenders(thinkers, self.bot_nodes)?.into_iter().find(|one| one.name().kind.as_deref() == Some(bots::FLOOR));
            let floor: Vec<usize> = floor.into_iter().map(|floor| course.floor(floor)).collect();
            contenders.into_iter().for_each(|contender| course.subject(contender, floor.clone()));
        }
        Ok(course)
    }
}

/// Adds somebody beside the floors for as many callers.
async fn enter(course: &mut Course, site: &Site, contender: Box<dyn Contender>) -> anyhow::Result<()> {
    let floors = floors(course, site, contender.name().callers).await?;
    course.subject(contender, floors);
    Ok(())
}

async fn floors(course: &mut Course, site: &Site, callers: usize) -> anyhow::Result<Vec<usize>> {
    Ok(floor::contenders(site, callers).await?.into_iter().map(|floor| course.floor(floor)).collect())
}

fn name(workload: Workload) -> String {
    workload.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
