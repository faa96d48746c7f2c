//! `plybook token`: credentials for callers.
//!
//! Invariant: a secret goes to standard output, alone and once; of an API key only a hash stays behind.

use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use plybook_core::{Seat, Time, Uuid};
use plybook_server::auth::api_key::{KeyText, parse_id, print_id};
use plybook_server::auth::principal;
use plybook_server::auth::role::{ROLES, Role};
use plybook_store::{ApiKey, ApiKeyId, Store};

use crate::audited;
use crate::database::{DatabaseArgs, sentence};
use crate::exit::usage;
use crate::link::Link;
use crate::screen::Screen;
use crate::tenant;

const ROLE: &str = "Making and revoking come as the owner of the tables, like `plybook migrate`: a server's own role can only read keys.";

/// Flags of `plybook token`.
#[derive(Debug, Args)]
#[command(after_help = ROLE)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Makes an API key and prints it, once
    Create(Create),
    /// Lists the API keys of a tenant, without their secrets
    List {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Whose
        #[arg(long, default_value = "default")]
        tenant: String,
    },
    /// Revokes an API key, for ever
    Revoke {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Which, as `plybook token list` prints it; a whole key does as well, where one was found that nobody should have
        #[arg(value_parser = key_id)]
        id: ApiKeyId,
    },
    /// Has a server mint a short-lived token for a player's own client, or for a watcher's
    Mint(Mint),
}

/// An API key to be made.
#[derive(Debug, Args)]
struct Create {
    #[command(flatten)]
    database: DatabaseArgs,
    /// Whose games it is for
    #[arg(long, value_parser = tenant::name)]
    tenant: String,
    /// As what its holder calls
    #[arg(long, value_parser = ROLES)]
    role: String,
    /// The holder's name, as it will stand in books
    #[arg(long, value_name = "PRINCIPAL")]
    name: String,
    /// How long it holds, such as 30d, 12h or 90m; for ever where nothing is said
    #[arg(long, value_name = "TIME", value_parser = time)]
    expires: Option<Duration>,
    /// The only game that it is for: of a seat, and of a spectator who may watch no other
    #[arg(long, value_name = "GAME")]
    game: Option<Uuid>,
    /// The only seat that it acts for
    #[arg(long, requires = "game")]
    seat: Option<u8>,
}

/// A token to be minted.
#[derive(Debug, Args)]
struct Mint {
    #[command(flatten)]
    link: Link,
    /// The game that it is for
    game: Uuid,
    /// The seat that it acts for; a watcher's where none is named
    #[arg(long)]
    seat: Option<u8>,
    /// How long it holds, such as 15m
    #[arg(long, value_name = "TIME", value_parser = time)]
    ttl: Option<Duration>,
}

fn key_id(text: &str) -> Result<ApiKeyId, String> {
    let whole = || KeyText::parse(text).map(|key| key.id().clone());
    parse_id(text).or_else(whole).ok_or_else(|| "is no id of a key, such as 1-9f86d081884c7d65".to_owned())
}

/// A number and a unit.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time: a number and one of s, m, h, d is wanted, such as 30d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 24 * 3_600,
        _ => return Err(wrong()),
    };
    let number: u32 = number.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

/// Does it.
pub(crate) async fn run(args: TokenArgs) -> anyhow::Result<()> {
    match args.task {
        Task::Create(create) => create.run().await,
        Task::List { database, tenant } => {
            let store = database.read()?.look().await?;
            let listed = list(&*store, &tenant).await;
            store.close().await;
            listed
        }
        Task::Revoke { database, id } => {
            let store = database.read()?.administer().await?;
            let now = now(&*store).await?;
            let there = store.revoke_api_key(&id, now).await.map_err(sentence)?;
            store.close().await;
            if !there {
                return Err(usage(format!("there is no API key {}", print_id(&id))));
            }
            audited::done("token revoke", &print_id(&id));
            Ok(Screen::new().say(format!("{} is revoked; nodes that remember it take it for a few seconds more", print_id(&id)))?)
        }
        Task::Mint(mint) => mint.run().await,
    }
}

impl Create {
    async fn run(self) -> anyhow::Result<()> {
        let role = Role::read(&self.role, self.game, self.seat.map(Seat)).map_err(|why| usage(format!("--role: {why}")))?;
        principal::of_caller(&self.name).map_err(|why| usage(format!("--name: {:?} {why}", self.name)))?;
        let store = self.database.read()?.administer().await?;
        let made = self.make(&*store, role).await;
        store.close().await;
        let key = made?;
        audited::done("token create", &print_id(key.id()));
        eprintln!("{}: the key is what is printed on standard output, and is shown this once", print_id(key.id()));
        Ok(Screen::new().say(key.reveal())?)
    }

    async fn make(&self, store: &dyn Store, role: Role) -> anyhow::Result<KeyText> {
        let tenant = store.tenant(&self.tenant).await.map_err(sentence)?;
        let tenant = tenant.ok_or_else(|| unknown(&self.tenant))?;
        let key = KeyText::generate(tenant).ok().context("the operating system gave no randomness")?;
        let now = now(store).await?;
        let later = |time: Duration| Time::from_unix_ms(now.unix_ms().saturating_add(time.as_millis() as u64));
        let kept = ApiKey {
            id: key.id().clone(),
            name: self.name.clone(),
            role: role.name().to_owned(),
            game: role.game(),
            seat: role.seat().map(|seat| seat.0),
            secret_hash: key.secret_hash(),
            created: now,
            expires: self.expires.map(later),
            revoked: None,
        };
        store.create_api_key(&kept).await.map_err(sentence)?;
        Ok(key)
    }
}

impl Mint {
    async fn run(self) -> anyhow::Result<()> {
        let minted = self.link.client()?.mint_seat_token(&self.game.to_string(), self.seat.map(u32::from), self.ttl).await?;
        if let Some(end) = minted.expire_time {
            let end = Time::from_unix_ms(u64::try_from(end.seconds).unwrap_or_default().saturating_mul(1_000));
            eprintln!("the token is what is printed on standard output; it holds until {end}");
        }
        Ok(Screen::new().say(minted.token)?)
    }
}

/// The database's time: the nodes' clocks follow it.
async fn now(store: &dyn Store) -> anyhow::Result<Time> {
    Ok(Time::from_unix_ms(store.clock_unix_ms().await.map_err(sentence)?))
}

fn unknown(tenant: &str) -> anyhow::Error {
    usage(format!("there is no tenant {tenant:?}: make it by `plybook tenant create {tenant}`"))
}

async fn list(store: &dyn Store, tenant: &str) -> anyhow::Result<()> {
    let tenant = store.tenant(tenant).await.map_err(sentence)?.ok_or_else(|| unknown(tenant))?;
    let (keys, now) = (store.api_keys(tenant).await.map_err(sentence)?, now(store).await?);
    let screen = Screen::new();
    screen.say(format!("{:<22} {:<10} {:<24} {:<25} state", "id", "role", "name", "made"))?;
    for key in keys {
        let bound = match (key.game, key.seat) {
            (Some(game), Some(seat)) => format!(", seat {seat} of {game}"),
            (Some(game), None) => format!(", of {game}"),
            (None, _) => String::new(),
        };
        screen.say(format!(
            "{:<22} {:<10} {:<24} {:<25} {}{bound}",
            print_id(&key.id),
            key.role,
            key.name,
            key.created.to_string(),
            state(&key, now)
        ))?;
    }
    Ok(())
}

fn state(key: &ApiKey, now: Time) -> String {
    match (key.revoked, key.expires) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(end)) if now >= end => format!("ended {end}"),
        (None, Some(end)) => format!("holds until {end}"),
        (None, None) => "holds".to_owned(),
    }
}
