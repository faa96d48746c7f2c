//! Where a run takes place: a database and nodes of the run's own, or some that are there.
//!
//! Invariant: what the run started ends with it, however it ends. In a database that was there before, games stay:
//! books are never removed.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use plybook_store::floor::{Floor, Terms};

use super::cluster::{self, Cluster};
use super::game::{Board, Game};
use super::key::Key;
use super::lines::{CALLERS_A_CONNECTION, Line, lines};
use super::node::Node;
use crate::database::{Database, DatabaseArgs};
use crate::exit::usage;

/// Games begun at the same time.
const BEGINNERS: usize = 32;
/// Connections to a database that a node needs besides its pool.
const WAKE_CONNECTIONS: u32 = 2;

/// Flags that say what is measured.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "What is measured")]
pub(super) struct SiteArgs {
    /// A server that is running; several of one database are separated by commas. Games stay there
    #[arg(long, value_name = "URL[,URL…]")]
    server: Option<String>,
    /// The database of that server, for the floors and the write-ahead log; without --server, one for the nodes to run
    /// over: postgres://… (migrated), or a file. Games stay there. The environment is not asked
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// Most connections of every node, and of the floors' pool
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1000))]
    database_connections: u32,
    /// Nodes to start; variables such as PLYBOOK_GAMES_CACHE_MIB tune them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16), conflicts_with = "server")]
    nodes: u32,
    /// The folder of initdb and postgres; without it, the newest in /usr/lib/postgresql, or those on the path
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["server", "database"])]
    postgres: Option<PathBuf>,
    /// Where the throwaway database lies: on the disk that is to be measured
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["server", "database"])]
    scratch: Option<PathBuf>,
    /// Games that a caller plays in turn, where it has games of its own
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    games: u32,
    /// Every move of append asks for a receipt, and stands beside the same moves without; nodes of the run's own have a key for it
    #[arg(long)]
    receipts: bool,
}

/// Where a run takes place.
#[derive(Debug)]
pub(super) struct Site {
    // Nodes go before their database does.
    nodes: Vec<Node>,
    again: Option<Again>,
    floor: Option<Arc<Floor>>,
    urls: Vec<String>,
    games_a_caller: usize,
    receipts: bool,
    _key: Option<Key>,
    _cluster: Option<Cluster>,
}

/// How another node of the same database is started.
#[derive(Clone, Debug)]
pub(super) struct Again {
    database: String,
    flags: Vec<String>,
}

impl Again {
    pub(super) async fn node(&self) -> anyhow::Result<Node> {
        Node::start(&self.database, &self.flags).await
    }
}

impl Site {
    /// Starts what is needed.
    pub(super) async fn open(args: &SiteArgs) -> anyhow::Result<Site> {
        let (games_a_caller, receipts) = (args.games as usize, args.receipts);
        if let Some(server) = &args.server {
            let urls: Vec<String> = server.split(',').map(|url| url.trim().to_owned()).collect();
            if let Some(bad) = urls.iter().find(|url| !url.starts_with("http://")) {
                return Err(usage(format!("--server: {bad:?} does not begin with http://")));
            }
            let floor = match args.database.as_deref() {
                Some(url) => open_floor(args, url).await?,
                None => None,
            };
            return Ok(Site { nodes: Vec::new(), again: None, floor, urls, games_a_caller, receipts, _key: None, _cluster: None });
        }
        let cluster = if args.database.is_none() { Some(args.cluster().await?) } else { None };
        let database = match (&cluster, &args.database) {
            (Some(cluster), _) => cluster.url().to_owned(),
            (None, Some(told)) => told.clone(),
            (None, None) => bail!("there is no database"),
        };
        let read = args.database_at(&database)?;
        if cluster.is_some() {
            read.migrate().await?;
        }
        let on_postgres = matches!(read, Database::Postgres(_));
        if !on_postgres && args.nodes > 1 {
            return Err(usage("--nodes: a file is the store of one node; several share a Postgres"));
        }
        let mut flags = vec!["--database-connections".to_owned(), args.database_connections.to_string()];
        let key = if receipts { Some(Key::make(&args.folder())?) } else { None };
        flags.extend(key.iter().flat_map(|key| ["--signing-key".to_owned(), key.path().display().to_string()]));
        let again = Again { database, flags };
        let mut nodes = Vec::new();
        for _ in 0..args.nodes {
            nodes.push(again.node().await?);
        }
        let floor = open_floor(args, &again.database).await?;
        let urls = nodes.iter().map(|node| node.url().to_owned()).collect();
        Ok(Site { nodes, again: on_postgres.then_some(again), floor, urls, games_a_caller, receipts, _key: key, _cluster: cluster })
    }

    /// The database without a server; nothing where it is no Postgres, or is not told.
    pub(super) const fn floor(&self) -> Option<&Arc<Floor>> {
        self.floor.as_ref()
    }

    /// How a node more is started; nothing where nodes are not the run's own, or share no database.
    pub(super) const fn again(&self) -> Option<&Again> {
        self.again.as_ref()
    }

    pub(super) const fn games_a_caller(&self) -> usize {
        self.games_a_caller
    }

    /// Whether every move of append asks for a receipt.
    pub(super) const fn receipts(&self) -> bool {
        self.receipts
    }

    /// Ways to the nodes for so many callers.
    pub(super) async fn lines(&self, callers: usize) -> anyhow::Result<Vec<Line>> {
        self.lines_shared(callers, CALLERS_A_CONNECTION).await
    }

    /// The same, so many to a connection.
    pub(super) async fn lines_shared(&self, callers: usize, a_connection: usize) -> anyhow::Result<Vec<Line>> {
        lines(&self.urls, callers, a_connection).await
    }

    /// So many games with so many moves each.
    pub(super) async fn games(&self, games: usize, board: Board, moves: u32) -> anyhow::Result<Vec<Game>> {
        let lines = self.lines(BEGINNERS.min(games)).await?;
        let begun = lines.into_iter().cycle().take(games).map(|mut line| async move { Game::with_moves(&mut line, board, moves).await });
        stream::iter(begun).buffered(BEGINNERS).try_collect().await.context("the games to be measured could not be begun")
    }

    /// Memory of the run's own nodes, where the system tells it.
    pub(super) fn resident_bytes(&self) -> Option<u64> {
        let told: Option<Vec<u64>> = self.nodes.iter().map(Node::resident_bytes).collect();
        told.filter(|nodes| !nodes.is_empty()).map(|nodes| nodes.into_iter().sum())
    }

    /// For people: where it was.
    pub(super) async fn told(&self) -> anyhow::Result<String> {
        let nodes = match self.nodes.len() {
            0 => format!("{} of {}", if self.urls.len() == 1 { "the server" } else { "the servers" }, self.urls.join(", ")),
            1 => "one node".to_owned(),
            n => format!("{n} nodes"),
        };
        let database = match &self.floor {
            Some(floor) => {
                let Terms { version, fsync, synchronous_commit } = floor.terms().await?;
                format!("Postgres {version}, fsync {fsync}, synchronous_commit {synchronous_commit}")
            }
            None if self.nodes.is_empty() => "its database not told, so that floors are missing".to_owned(),
            None => "SQLite, which has no floors here".to_owned(),
        };
        let cores = std::thread::available_parallelism().map_or_else(|_| "?".to_owned(), |cores| cores.to_string());
        let build = if cfg!(debug_assertions) { "debug build: its figures mean nothing" } else { "release build" };
        Ok(format!("{nodes}, {database}; {cores} cores, shared with the callers; {build}"))
    }

    /// Ends what there is. Dropping it is enough where the database was the run's own.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match &self.floor {
            Some(floor) => floor.close().await.context("the schema plybook_bench is left behind"),
            None => Ok(()),
        }
    }
}

async fn open_floor(args: &SiteArgs, url: &str) -> anyhow::Result<Option<Arc<Floor>>> {
    let Database::Postgres(options) = args.database_at(url)? else { return Ok(None) };
    let floor = Floor::open(&options).await.map_err(|error| match error {
        plybook_store::Error::Config(why) => usage(why),
        other => other.into(),
    })?;
    Ok(Some(Arc::new(floor)))
}

impl SiteArgs {
    fn database_at(&self, url: &str) -> anyhow::Result<Database> {
        DatabaseArgs::of(Some(url.to_owned()), self.database_connections).read()
    }

    /// Where what the run makes lies.
    fn folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(std::env::temp_dir)
    }

    /// Room for every node, for one that is started besides, and for the floors.
    async fn cluster(&self) -> anyhow::Result<Cluster> {
        let connections = (self.nodes + 1) * (self.database_connections + WAKE_CONNECTIONS) + self.database_connections;
        let binaries = cluster::binaries(self.postgres.as_deref())?;
        Cluster::start(&cluster::Plan { binaries, scratch: self.folder(), connections }).await
    }
}
