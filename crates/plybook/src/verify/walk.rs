//! `plybook verify --database`: every game of a database under the rules of this binary.
//!
//! Invariant: it only reads, so it may run beside traffic; games are told in the order of the walk, so
//! whatever ends it, the walk goes on after the game named last.

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plybook_core::{Time, Uuid};
use plybook_rulesets::Registry;
use plybook_server::checking::{Finding, check};
use plybook_store::{Error, Filter, GameKey, Store, TenantId};
use serde_json::{Value, json};

use crate::database::DatabaseArgs;
use crate::exit::usage;
use crate::screen::Screen;

/// Games asked for at once.
const PAGE: u32 = 200;
/// Games read at the same time, each over a connection of its own.
const AT_ONCE: usize = 4;

/// Flags of `plybook verify` that are about a database.
#[derive(Debug, clap::Args)]
pub(super) struct WalkArgs {
    /// Check every game of a database, newest first, under this binary's rules: before you deploy it, run the
    /// new one. Reads only, also beside servers that play; without a value, $PLYBOOK_DATABASE or plybook.db.
    /// Every game verifies up to where it is; games created meanwhile are not visited
    #[arg(long, value_name = "URL", num_args = 0..=1)]
    database: Option<Option<String>>,
    /// Go on after this game, the one that an earlier walk named last
    #[arg(long, value_name = "GAME", requires = "database", conflicts_with = "files")]
    resume_after: Option<String>,
}

impl WalkArgs {
    pub(super) const fn is_asked(&self) -> bool {
        self.database.is_some()
    }
}

/// Checks every game of the database.
pub(super) async fn run(args: &WalkArgs, json: bool) -> anyhow::Result<()> {
    let after = args.resume_after.as_deref().map(game_id).transpose()?;
    let database = DatabaseArgs::of(args.database.clone().flatten(), AT_ONCE as u32 + 1).read()?;
    let store = database.look().await?;
    let mut walk = Walk { json, bar: bar(), screen: Screen::new(), tally: Tally { last: after, ..Tally::default() } };
    let ended = tokio::select! {
        ended = walk.every_game(store.as_ref()) => ended.map(|()| End::Finished),
        stopped = tokio::signal::ctrl_c() => stopped.map(|()| End::Stopped).map_err(anyhow::Error::from),
    };
    walk.bar.finish_and_clear();
    store.close().await;
    walk.tell(ended)
}

fn game_id(text: &str) -> anyhow::Result<Uuid> {
    Uuid::parse_str(text).map_err(|_| usage(format!("--resume-after: {text:?} is no game's id")))
}

/// Drawn to standard error, and only where that is a terminal. How many games there are, only the walk tells.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.enable_steady_tick(Duration::from_millis(200));
    match ProgressStyle::with_template("{spinner} {pos} games, {per_sec}, {msg}, {elapsed} so far") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// How a walk ended.
enum End {
    Finished,
    Stopped,
}

/// What a walk has seen.
#[derive(Default)]
struct Tally {
    verified: u64,
    wrong: u64,
    unsupported: u64,
    unreadable: u64,
    entries: u64,
    last: Option<Uuid>,
}

impl Tally {
    const fn games(&self) -> u64 {
        self.verified + self.failed()
    }

    const fn failed(&self) -> u64 {
        self.wrong + self.unsupported + self.unreadable
    }
}

struct Walk {
    json: bool,
    bar: ProgressBar,
    screen: Screen,
    tally: Tally,
}

impl Walk {
    async fn every_game(&mut self, store: &dyn Store) -> anyhow::Result<()> {
        let (registry, tenant) = (Registry::standard(), TenantId::DEFAULT);
        let mut before = self.tally.last;
        loop {
            let page = store.list(tenant, &Filter::default(), before, PAGE).await?;
            let Some(oldest) = page.last().map(|summary| summary.game) else { return Ok(()) };
            let one = |game: Uuid| {
                let registry = &registry;
                async move { (game, check(store, registry, GameKey { tenant, game }).await) }
            };
            let mut found = stream::iter(page.iter().map(|summary| one(summary.game))).buffered(AT_ONCE);
            while let Some((game, finding)) = found.next().await {
                self.record(game, finding)?;
            }
            before = Some(oldest);
        }
    }

    /// Counts one game and tells what is to be told of it. A store that does not answer ends the walk before it.
    fn record(&mut self, game: Uuid, finding: Result<Finding, Error>) -> anyhow::Result<()> {
        let (verdict, told) = match finding {
            Err(Error::Corrupt(why)) => {
                self.tally.unreadable += 1;
                ("unreadable", json!({ "why": why }))
            }
            Err(other) => return Err(other.into()),
            // A list has it, so it was there.
            Ok(Finding::Nothing) => {
                self.tally.wrong += 1;
                ("wrong", json!({ "entry": 1, "why": "its book and its seed are missing" }))
            }
            Ok(Finding::Unsupported(error)) => {
                self.tally.unsupported += 1;
                ("unsupported", json!({ "why": error.to_string() }))
            }
            Ok(Finding::Wrong { wrong, right: (seq, _) }) => {
                self.tally.wrong += 1;
                self.tally.entries += u64::from(seq.0);
                ("wrong", json!({ "entry": wrong.seq.map(|seq| seq.0), "why": wrong.why }))
            }
            Ok(Finding::Verified(report)) => {
                self.tally.verified += 1;
                self.tally.entries += u64::from(report.entries);
                let ruleset = report.header.ruleset.to_string();
                ("verified", json!({ "ruleset": ruleset, "entries": report.entries, "head_digest": report.digest.to_string() }))
            }
        };
        self.say(game, verdict, told)?;
        self.tally.last = Some(game);
        self.bar.inc(1);
        self.bar.set_message(format!("{} did not verify, at games of {}", self.tally.failed(), created(game)));
        Ok(())
    }

    fn say(&self, game: Uuid, verdict: &str, mut told: Value) -> anyhow::Result<()> {
        if self.json {
            told["game_id"] = game.to_string().into();
            told["verdict"] = verdict.into();
            return Ok(self.bar.suspend(|| self.screen.say(told.to_string()))?);
        }
        if verdict == "verified" {
            return Ok(());
        }
        let entry = told["entry"].as_u64().map_or_else(String::new, |entry| format!("entry {entry}: "));
        let why = told["why"].as_str().unwrap_or_default();
        Ok(self.bar.suspend(|| self.screen.say(format!("game {game}: {}: {entry}{why}", verdict.to_uppercase())))?)
    }

    fn tell(&self, ended: anyhow::Result<End>) -> anyhow::Result<()> {
        let Tally { verified, wrong, unsupported, unreadable, entries, last } = self.tally;
        let finished = matches!(ended, Ok(End::Finished));
        let last = last.map(|game| game.to_string());
        if self.json {
            let counts = json!({
                "games": self.tally.games(), "verified": verified, "wrong": wrong, "unsupported": unsupported,
                "unreadable": unreadable, "entries": entries, "finished": finished, "last_game": last,
            });
            self.screen.say(counts.to_string())?;
        } else {
            self.screen.say(format!(
                "{} games, {entries} right entries: {verified} verified, {wrong} wrong, {unsupported} by rules that plybook {} has not, \
                 {unreadable} unreadable",
                self.tally.games(),
                env!("CARGO_PKG_VERSION"),
            ))?;
        }
        let go_on = last.map_or_else(|| "run it again".to_owned(), |game| format!("go on with --resume-after {game}"));
        match ended {
            Ok(End::Finished) if self.tally.failed() > 0 => bail!("{} of {} games did not verify", self.tally.failed(), self.tally.games()),
            Ok(End::Finished) => Ok(()),
            Ok(End::Stopped) => bail!("stopped before the end: {go_on}"),
            Err(error) => Err(error).with_context(|| format!("not at the end: {go_on}")),
        }
    }
}

/// The day of an id: games are numbered by the time of their creation.
fn created(game: Uuid) -> String {
    let ms = (game.as_u128() >> 80) as u64;
    Time::from_unix_ms(ms).to_string().split('T').next().unwrap_or_default().to_owned()
}
