//! Where books are kept, as an address on the command line.
//!
//! Invariant: a password in an address is never printed.

use std::path::PathBuf;
use std::sync::Arc;

use plybook_store::postgres::PostgresOptions;
use plybook_store::sqlite::SqliteOptions;
use plybook_store::{Postgres, Sqlite, Step, Store};

use crate::exit::usage;
use crate::settings::FileArgs;

/// The file where nothing else is said.
const DEFAULT: &str = "plybook.db";

/// The flags that say where books are kept.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DatabaseArgs {
    #[command(flatten)]
    file: FileArgs,
    /// postgres://user@host/name, or the file of the embedded store
    #[arg(long, env = "PLYBOOK_DATABASE", default_value = DEFAULT, hide_env_values = true)]
    database: String,
    /// Most connections to Postgres
    #[arg(long, env = "PLYBOOK_DATABASE_CONNECTIONS", default_value_t = 16)]
    database_connections: u32,
    /// Whose the sessions at that address are: this node's own, or lent by the transaction, as a pooler such as PgBouncer does
    #[arg(long, env = "PLYBOOK_DATABASE_SESSIONS", default_value = "own")]
    database_sessions: Sessions,
    /// Where Postgres itself is, for wake-ups between nodes, where sessions are lent
    #[arg(long, env = "PLYBOOK_WAKE_DATABASE", hide_env_values = true)]
    wake_database: Option<String>,
    /// A standby that may serve history; never heads, and never moves
    #[arg(long, env = "PLYBOOK_READ_DATABASE", hide_env_values = true)]
    read_database: Option<String>,
}

/// Whose sessions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Sessions {
    Own,
    Lent,
}

/// An address that was read.
pub(crate) enum Database {
    /// A database of many nodes.
    Postgres(PostgresOptions),
    /// A file of this node.
    Sqlite(PathBuf),
}

impl DatabaseArgs {
    /// Over so many connections to this address, else to the one that the environment names.
    pub(crate) fn of(address: Option<String>, database_connections: u32) -> DatabaseArgs {
        let address = address.or_else(|| std::env::var("PLYBOOK_DATABASE").ok()).unwrap_or_else(|| DEFAULT.to_owned());
        DatabaseArgs {
            file: FileArgs::default(),
            database: address,
            database_connections,
            database_sessions: Sessions::Own,
            wake_database: None,
            read_database: None,
        }
    }

    /// Reads the address.
    pub(crate) fn read(&self) -> anyhow::Result<Database> {
        let address = self.database.as_str();
        if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            let options = PostgresOptions {
                max_connections: self.database_connections,
                pooled: self.database_sessions == Sessions::Lent,
                wake_url: self.wake_database.clone().filter(|url| !url.is_empty()),
                read_url: self.read_database.clone().filter(|url| !url.is_empty()),
                ..PostgresOptions::new(address)
            };
            check(&options)?;
            return Ok(Database::Postgres(options));
        }
        if is_keywords(address) {
            return Err(usage("--database: host=… is not understood here; the address of a Postgres begins with postgres://"));
        }
        let file = address.strip_prefix("sqlite://").or_else(|| address.strip_prefix("sqlite:")).unwrap_or(address);
        if file.contains(":memory:") {
            return Err(usage("--database: an embedded store is a file; in memory no move would outlive the server"));
        }
        if file.is_empty() || file.contains("://") {
            let scheme = file.split("://").next().unwrap_or_default();
            return Err(usage(format!("--database: {scheme:?} is neither postgres://… nor a file")));
        }
        Ok(Database::Sqlite(PathBuf::from(file)))
    }
}

/// Every address of a Postgres, as a node will read it.
fn check(options: &PostgresOptions) -> anyhow::Result<()> {
    if options.max_connections == 0 {
        return Err(usage("--database-connections must be at least 1"));
    }
    let addresses = [
        ("--database", Some(&options.url)),
        ("--wake-database", options.wake_url.as_ref()),
        ("--read-database", options.read_url.as_ref()),
    ];
    for (flag, address) in addresses.into_iter().filter_map(|(flag, address)| Some((flag, address?))) {
        let options = PostgresOptions { url: address.clone(), ..options.clone() };
        options.check().map_err(|error| usage(format!("{flag}: {error}")))?;
    }
    Ok(())
}

/// Whether it is the other form that the tools of Postgres take, which may have a password in it.
fn is_keywords(address: &str) -> bool {
    let keywords = ["host=", "hostaddr=", "port=", "user=", "password=", "dbname=", "service=", "sslmode="];
    address.split_whitespace().any(|word| keywords.iter().any(|keyword| word.starts_with(keyword)))
}

impl Database {
    /// Opens the store; the embedded one is migrated on the way.
    pub(crate) async fn open(&self) -> anyhow::Result<Arc<dyn Store>> {
        match self {
            Database::Postgres(options) => Ok(Arc::new(Postgres::connect(options).await.map_err(sentence)?)),
            Database::Sqlite(file) => Ok(Arc::new(Sqlite::open(&SqliteOptions::new(file)).await.map_err(sentence)?)),
        }
    }

    /// Opens the store to change what is beside books; its schema must be this build's.
    pub(crate) async fn administer(&self) -> anyhow::Result<Arc<dyn Store>> {
        let store = self.open().await?;
        store.ready().await.map_err(sentence)?;
        Ok(store)
    }

    /// Opens the store to look at it as it is: nothing is made and nothing migrated.
    pub(crate) async fn look(&self) -> anyhow::Result<Arc<dyn Store>> {
        let store = self.look_at().await?;
        store.ready().await.map_err(sentence)?;
        Ok(store)
    }

    /// The same, also where a build before this one made its schema and still serves it.
    pub(crate) async fn look_before_deploy(&self) -> anyhow::Result<Arc<dyn Store>> {
        let store = self.look_at().await?;
        store.readable().await.map_err(sentence)?;
        Ok(store)
    }

    async fn look_at(&self) -> anyhow::Result<Arc<dyn Store>> {
        match self {
            Database::Postgres(_) => self.open().await,
            Database::Sqlite(file) => Ok(Arc::new(Sqlite::look(&SqliteOptions::new(file)).await.map_err(sentence)?)),
        }
    }

    /// Brings the schema up to this build's.
    pub(crate) async fn migrate(&self) -> anyhow::Result<()> {
        match self {
            Database::Postgres(options) => {
                let store = Postgres::connect(options).await.map_err(sentence)?;
                store.migrate().await.map_err(sentence)?;
                store.close().await;
            }
            Database::Sqlite(_) => self.open().await?.close().await,
        }
        Ok(())
    }

    /// Every migration that this build or the database knows, and whether a node could serve; changes nothing.
    pub(crate) async fn steps(&self) -> anyhow::Result<(Vec<Step>, anyhow::Result<()>)> {
        match self {
            Database::Postgres(options) => {
                let store = Postgres::connect(options).await.map_err(sentence)?;
                let steps = store.steps().await.map_err(sentence)?;
                Ok((steps, store.ready().await.map_err(sentence)))
            }
            Database::Sqlite(file) => {
                let store = Sqlite::look(&SqliteOptions::new(file)).await.map_err(sentence)?;
                Ok((store.steps().await.map_err(sentence)?, store.ready().await.map_err(sentence)))
            }
        }
    }

    /// For people: what it is, without secrets.
    pub(crate) fn tell(&self) -> String {
        match self {
            Database::Postgres(_) => "Postgres".to_owned(),
            Database::Sqlite(file) => format!("{} (SQLite)", file.display()),
        }
    }
}

/// What no retry can help is the operator's to set right: exit code 2.
pub(crate) fn sentence(error: plybook_store::Error) -> anyhow::Error {
    match error {
        plybook_store::Error::Config(why) => usage(why),
        error @ plybook_store::Error::Corrupt(_) => usage(error.to_string()),
        error if error.is_denied() => usage(format!(
            "{error}: this is for the owner of the schema, the role that `plybook migrate` was run as; give an address of theirs by \
             --database (PLYBOOK_DATABASE)"
        )),
        other => other.into(),
    }
}
