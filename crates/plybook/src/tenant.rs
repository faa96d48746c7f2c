//! `plybook tenant`: whose games there are.
//!
//! Invariant: a tenant is made on purpose, by whoever owns the database, and never by a call or a credential.

use clap::Subcommand;
use plybook_store::credentials::TENANT_NAME_BYTES_MAX;

use crate::audited;
use crate::database::{DatabaseArgs, sentence};
use crate::screen::Screen;

/// Flags of `plybook tenant`.
#[derive(Debug, clap::Args)]
pub(crate) struct TenantArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Makes a tenant; one that is there already stays as it is
    Create {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Its name, as credentials give it
        #[arg(value_parser = name)]
        name: String,
    },
    /// Lists the tenants
    List {
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// A tenant's name: readable in a log, and the same to every eye.
pub(crate) fn name(text: &str) -> Result<String, String> {
    let fits = (1..=TENANT_NAME_BYTES_MAX).contains(&text.len());
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"._@/+-".contains(&b);
    let good = fits && text.bytes().all(allowed);
    good.then(|| text.to_owned()).ok_or_else(|| format!("a tenant's name has 1 to {TENANT_NAME_BYTES_MAX} of A-Z a-z 0-9 . _ @ / + -"))
}

/// Does it.
pub(crate) async fn run(args: TenantArgs) -> anyhow::Result<()> {
    match args.task {
        Task::Create { database, name } => {
            let store = database.read()?.administer().await?;
            let tenant = store.create_tenant(&name).await.map_err(sentence)?;
            store.close().await;
            audited::done("tenant create", &name);
            Ok(Screen::new().say(format!("{:<4} {name}", tenant.0))?)
        }
        Task::List { database } => {
            let store = database.read()?.look().await?;
            let tenants = store.tenants().await.map_err(sentence)?;
            store.close().await;
            let screen = Screen::new();
            Ok(tenants.iter().try_for_each(|tenant| screen.say(format!("{:<4} {}", tenant.id.0, tenant.name)))?)
        }
    }
}
