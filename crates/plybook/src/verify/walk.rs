//! `plybook verify --database`: every game of a database under the rules of this binary.
//!
//! Before a deploy it is asked of the new build, of a database that the old one still serves (`--against-build`).
//!
//! Invariant: it only reads, so it may run beside traffic; games are told in the order of the walk, so
//! whatever ends it, the walk goes on after the game named last.

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, stream};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plybook_core::game::Fault;
use plybook_core::verify::{Kind, Wrong};
use plybook_core::{Header, Time, Uuid};
use plybook_rulesets::Registry;
use plybook_server::checking::{Finding, check};
use plybook_store::{Error, Filter, GameKey, Store, Summary, TenantId};
use serde_json::{Value, json};

use super::bots::{Asking, Bots};
use super::tally::{Of, Tally};
use super::verdict::accepted_json;
use crate::database::DatabaseArgs;
use crate::exit::usage;
use crate::screen::Screen;

/// Games asked for at once.
const PAGE: u32 = 200;
/// Games read at the same time, each over a connection of its own.
const AT_ONCE: usize = 4;
/// Games named in words before a deploy.
const NAMED_AT_MOST: u64 = 20;

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
    /// Only the games of this tenant; of all where none is named
    #[arg(long, value_name = "NAME", requires = "database", conflicts_with = "files")]
    tenant: Option<String>,
    /// Before a deploy: count verdicts by ruleset and version, name at most 20 games (--json names all), and take a
    /// database whose schema is still the one of a build before this
    #[arg(long, requires = "database", conflicts_with = "files")]
    against_build: bool,
}

impl WalkArgs {
    pub(super) const fn is_asked(&self) -> bool {
        self.database.is_some()
    }
}

/// Checks every game of the database.
pub(super) async fn run(args: &WalkArgs, bots: bool, json: bool) -> anyhow::Result<()> {
    let after = args.resume_after.as_deref().map(game_id).transpose()?;
    let database = DatabaseArgs::of(args.database.clone().flatten(), AT_ONCE as u32 + 1).read()?;
    let store = if args.against_build { database.look_before_deploy().await? } else { database.look().await? };
    let tally = Tally::after(after, bots);
    let tenant = args.tenant.clone();
    let mut walk = Walk { tenant, json, against_build: args.against_build, bar: bar(), screen: Screen::new(), tally };
    let asking = bots.then(|| Asking::beside(walk.bar.clone()));
    let ended = tokio::select! {
        ended = walk.every_game(store.as_ref(), asking.as_ref()) => ended.map(|()| End::Finished),
        stopped = tokio::signal::ctrl_c() => stopped.map(|()| End::Stopped).map_err(anyhow::Error::from),
    };
    walk.bar.finish_and_clear();
    asking.iter().for_each(Asking::tell);
    // Whoever still chooses stops.
    drop(asking);
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
    match ProgressStyle::with_template("{spinner} {pos} games, {per_sec}, {prefix}{msg}, {elapsed} so far") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// How a walk ended.
enum End {
    Finished,
    Stopped,
}

struct Walk {
    tenant: Option<String>,
    json: bool,
    against_build: bool,
    bar: ProgressBar,
    screen: Screen,
    tally: Tally,
}

impl Walk {
    /// Of every tenant, or of the one that was named; from where the walk before this one ended.
    async fn every_game(&mut self, store: &dyn Store, asking: Option<&Asking>) -> anyhow::Result<()> {
        let mut tenants = store.tenants().await?;
        if let Some(name) = &self.tenant {
            tenants.retain(|tenant| tenant.name == *name);
            if tenants.is_empty() {
                return Err(usage(format!("--tenant: there is no tenant {name:?}")));
            }
        }
        let mut before = self.tally.last;
        let mut begins = 0;
        if let Some(game) = before {
            for (at, tenant) in tenants.iter().enumerate() {
                if store.last(GameKey { tenant: tenant.id, game }).await?.is_some() {
                    begins = at;
                    break;
                }
            }
        }
        for tenant in &tenants[begins..] {
            self.games_of(tenant.id, before.take(), store, asking).await?;
        }
        Ok(())
    }

    async fn games_of(
        &mut self,
        tenant: TenantId,
        mut before: Option<Uuid>,
        store: &dyn Store,
        asking: Option<&Asking>,
    ) -> anyhow::Result<()> {
        let registry = Registry::standard();
        loop {
            let page = store.list(tenant, &Filter::default(), before, PAGE).await?;
            let Some(oldest) = page.last().map(|summary| summary.game) else { return Ok(()) };
            let one = |summary: &Summary| {
                let (registry, game, ruleset, foreign) = (&registry, summary.game, ruleset(summary), summary.foreign.is_some());
                let key = GameKey { tenant, game };
                async move {
                    let finding = check(store, registry, key).await;
                    (game, ruleset, foreign, with_bots(store, key, asking, finding).await)
                }
            };
            let mut found = stream::iter(page.iter().map(one)).buffered(AT_ONCE);
            while let Some((game, ruleset, foreign, finding)) = found.next().await {
                self.record(game, &ruleset, foreign, finding)?;
            }
            before = Some(oldest);
        }
    }

    /// Counts one game and tells what is to be told of it. A store that does not answer ends the walk before it.
    fn record(&mut self, game: Uuid, ruleset: &str, foreign: bool, finding: Result<(Finding, Bots), Error>) -> anyhow::Result<()> {
        let asked = self.tally.bots;
        let (verdict, right, told) = match finding {
            Err(Error::Corrupt(why)) => (Of::Unreadable, 0, json!({ "why": why })),
            Err(other) => return Err(other.into()),
            // A list has it, so it was there.
            Ok((Finding::Nothing, _)) => (Of::Broken, 0, json!({ "entry": 1, "why": "its book and its seed are missing" })),
            Ok((Finding::Unsupported { wrong, .. }, _)) if foreign => (Of::Evidence, 0, wrong_json(&wrong)),
            Ok((Finding::Unsupported { wrong, .. }, _)) => (Of::Unsupported, 0, wrong_json(&wrong)),
            Ok((Finding::Wrong { wrong, right: (seq, _) }, _)) if foreign && came_like_that(&wrong) => {
                (Of::Evidence, seq.0, wrong_json(&wrong))
            }
            Ok((Finding::Wrong { wrong, right: (seq, _) }, _)) => {
                let verdict = if wrong.kind() == Kind::IllegalNow { Of::IllegalNow } else { Of::Broken };
                (verdict, seq.0, wrong_json(&wrong))
            }
            Ok((Finding::Verified(report), bots)) => {
                let mut told = json!({ "entries": report.entries, "head_digest": report.digest.to_string() });
                if asked {
                    bots.put(&mut told);
                }
                (of_bots(&bots, foreign), report.entries, told)
            }
        };
        self.tally.count(verdict, ruleset, right);
        self.say(game, ruleset, verdict, told)?;
        self.tally.last = Some(game);
        self.bar.inc(1);
        self.bar.set_message(format!("{} did not verify, at games of {}", self.tally.failed(), created(game)));
        Ok(())
    }

    fn say(&self, game: Uuid, ruleset: &str, verdict: Of, mut told: Value) -> anyhow::Result<()> {
        if self.json {
            told["game_id"] = game.to_string().into();
            told["ruleset"] = ruleset.into();
            told["verdict"] = verdict.name().into();
            return Ok(self.bar.suspend(|| self.screen.say(told.to_string()))?);
        }
        if verdict == Of::Verified || self.against_build && self.tally.failed() > NAMED_AT_MOST {
            return Ok(());
        }
        let entry = told["entry"].as_u64().map_or_else(String::new, |entry| format!("entry {entry}: "));
        let why = told["why"].as_str().unwrap_or_default();
        let label = verdict.words().to_uppercase();
        Ok(self.bar.suspend(|| self.screen.say(format!("game {game}: {label}: {entry}{why}{}", then(&told))))?)
    }

    fn tell(&self, ended: anyhow::Result<End>) -> anyhow::Result<()> {
        let finished = matches!(ended, Ok(End::Finished));
        if self.json {
            self.screen.say(self.tally.as_json(finished, self.against_build).to_string())?;
        } else {
            let unnamed = self.tally.failed().saturating_sub(NAMED_AT_MOST);
            if self.against_build && unnamed > 0 {
                self.screen.say(format!("… and {unnamed} more, which --json names"))?;
            }
            self.screen.say(self.tally.in_words(self.against_build))?;
        }
        let go_on = self.tally.last.map_or_else(|| "run it again".to_owned(), |game| format!("go on with --resume-after {game}"));
        let (failed, games) = (self.tally.failed(), self.tally.games());
        match ended {
            Ok(End::Finished) if failed > 0 && self.against_build => {
                bail!("{failed} of {games} games did not verify under this build: it should not serve this database")
            }
            Ok(End::Finished) if failed > 0 => bail!("{failed} of {games} games did not verify"),
            Ok(End::Finished) => Ok(()),
            Ok(End::Stopped) => bail!("stopped before the end: {go_on}"),
            Err(error) => Err(error).with_context(|| format!("not at the end: {go_on}")),
        }
    }
}

/// What bots say to a game that follows from itself.
async fn with_bots(
    store: &dyn Store,
    key: GameKey,
    asking: Option<&Asking>,
    finding: Result<Finding, Error>,
) -> Result<(Finding, Bots), Error> {
    let finding = finding?;
    let bots = match (asking, &finding) {
        (Some(asking), Finding::Verified(report)) => asking.of_stored(store, key, report).await?,
        _ => Bots::NotAsked(false),
    };
    Ok((finding, bots))
}

fn of_bots(bots: &Bots, foreign: bool) -> Of {
    match bots {
        Bots::Wrong(_) if foreign => Of::Evidence,
        Bots::Wrong(wrong) if wrong.is_unknown() => Of::BotUnknown,
        Bots::Wrong(_) => Of::BotDiffers,
        _ => Of::Verified,
    }
}

/// Whether an imported book was as wrong when it came: form and digests held then, and rules and dice were not asked for.
fn came_like_that(wrong: &Wrong) -> bool {
    wrong.kind() == Kind::IllegalNow || wrong.fault == Fault::Seed
}

fn wrong_json(wrong: &Wrong) -> Value {
    let accepted = wrong.accepted.as_deref().map(accepted_json);
    json!({ "entry": wrong.seq.map(|seq| seq.0), "rule": wrong.rule, "why": wrong.why, "accepted": accepted })
}

/// The other verdict, for people.
fn then(told: &Value) -> String {
    let entries = told["accepted"]["entries"].as_u64();
    entries.map_or_else(String::new, |entries| format!("; then: accepted, the book is whole with {entries} entries"))
}

/// The rules that a game's header pins, as far as it can be read.
fn ruleset(summary: &Summary) -> String {
    let header = summary.header.as_ref().and_then(|first| Header::parse(&first.line).ok());
    header.map_or_else(|| "unknown".to_owned(), |header| header.ruleset.to_string())
}

/// The day of an id: games are numbered by the time of their creation.
fn created(game: Uuid) -> String {
    let ms = (game.as_u128() >> 80) as u64;
    Time::from_unix_ms(ms).to_string().split('T').next().unwrap_or_default().to_owned()
}
