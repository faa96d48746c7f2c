//! What carries hints between the nodes of a site, as flags.
//!
//! Invariant: a user or password in an address is never printed; what cannot work is said before anything is opened.

use std::sync::Arc;

use plybook_store::postgres::{PostgresOptions, PostgresWakes};
use plybook_store::wake::{NatsOptions, NatsWakes, NoWakes, SITE_DEFAULT, Wakes};

use crate::database::{Database, sentence};
use crate::exit::usage;

/// The flags that say how nodes over one database wake one another.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct WakeArgs {
    /// What tells other nodes of new entries: postgres, nats://host:4222, or poll for nothing; postgres where books are kept in it
    #[arg(long, env = "PLYBOOK_WAKE", hide_env_values = true)]
    wake: Option<String>,
    /// Only nodes of the same site hear one another over NATS
    #[arg(long, env = "PLYBOOK_WAKE_SITE", default_value = SITE_DEFAULT)]
    wake_site: String,
}

/// What carries hints.
pub(crate) enum Waking {
    /// The database.
    Postgres(PostgresOptions),
    /// A NATS server.
    Nats(NatsOptions),
    /// Nothing.
    Poll,
}

impl WakeArgs {
    /// Reads the flags, for nodes over this database.
    pub(crate) fn read(&self, database: &Database) -> anyhow::Result<Waking> {
        let wake = self.wake.as_deref().filter(|wake| !wake.is_empty());
        let Database::Postgres(options) = database else {
            return match wake {
                None | Some("poll") => Ok(Waking::Poll),
                Some(_) => Err(usage("--wake: an embedded store has one node, and nobody to wake")),
            };
        };
        match wake {
            // Sessions that are lent hear nothing.
            None if options.pooled && options.wake_url.is_none() => Ok(Waking::Poll),
            Some("postgres") if options.pooled && options.wake_url.is_none() => {
                Err(usage("--wake postgres needs sessions that stay: name the database itself, and no pooler, by --wake-database"))
            }
            None | Some("postgres") => Ok(Waking::Postgres(options.clone())),
            Some("poll") => Ok(Waking::Poll),
            Some(address) if address.starts_with("nats://") || address.starts_with("tls://") => {
                Ok(Waking::Nats(NatsOptions::new(address, &self.wake_site).map_err(sentence)?))
            }
            Some(_) => Err(usage("--wake: neither postgres, nats://host:4222 nor poll")),
        }
    }
}

impl Waking {
    /// Begins; whoever is at the other end need not be there yet.
    pub(crate) async fn start(&self) -> anyhow::Result<Arc<dyn Wakes>> {
        Ok(match self {
            Waking::Postgres(options) => Arc::new(PostgresWakes::start(options).map_err(sentence)?),
            Waking::Nats(options) => Arc::new(NatsWakes::start(options).await.map_err(sentence)?),
            Waking::Poll => Arc::new(NoWakes::default()),
        })
    }

    /// For people: what it is, without secrets.
    pub(crate) const fn tell(&self) -> &'static str {
        match self {
            Waking::Postgres(_) => "Postgres",
            Waking::Nats(_) => "NATS",
            Waking::Poll => "nothing but looking now and then",
        }
    }
}
