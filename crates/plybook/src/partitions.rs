//! `plybook partitions`: the months of a Postgres database's books.
//!
//! Invariant: whatever it does can be done again, and beside running servers.

use clap::Subcommand;
use plybook_store::{Form, Month, PackedMonth, Partition, Partitions};

use crate::audited;
use crate::database::{Database, DatabaseArgs, sentence};
use crate::exit::usage;
use crate::screen::Screen;

/// More months than anybody plans ahead.
const MONTHS_MAX: i64 = 1_200;

const ROLE: &str = "Comes as the owner of the tables, like `plybook migrate`, and directly: a pooler that lends sessions by the \
                    transaction will not do.";

/// Flags of `plybook partitions`.
#[derive(Debug, clap::Args)]
#[command(after_help = ROLE)]
pub(crate) struct PartitionsArgs {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Lists months: entries, bytes, games and games that have not ended
    List {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Gives the months after this one a partition each, where they have none
    Ahead {
        #[command(flatten)]
        database: DatabaseArgs,
        /// How many months
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=MONTHS_MAX))]
        months: u32,
    },
    /// Packs a month whose games have all ended, such as 2027-01, and detaches its partition
    Pack {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Which month
        month: Month,
    },
    /// Drops the table that a packed month came from, once it was compared with what was packed
    Drop {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Which month
        month: Month,
    },
}

/// Runs the task.
pub(crate) async fn run(args: PartitionsArgs) -> anyhow::Result<()> {
    match args.task {
        Task::List { database } => list(open(&database).await?.list().await.map_err(sentence)?),
        Task::Ahead { database, months } => {
            let made = done("partitions ahead", &format!("{months} months"), open(&database).await?.ahead(months).await)?;
            let screen = Screen::new();
            for month in &made {
                screen.say(format!("{month} has a partition now"))?;
            }
            if made.is_empty() {
                screen.say("every one of these months has a partition already")?;
            }
            Ok(())
        }
        Task::Pack { database, month } => {
            let PackedMonth { games, entries } = done("partitions pack", &month.to_string(), open(&database).await?.pack(month).await)?;
            Ok(Screen::new().say(format!("{month} is packed: {entries} entries of {games} games, all read back"))?)
        }
        Task::Drop { database, month } => {
            let PackedMonth { games, entries } = done("partitions drop", &month.to_string(), open(&database).await?.drop(month).await)?;
            Ok(Screen::new().say(format!("the table of {month} is gone: {entries} entries of {games} games are packed"))?)
        }
    }
}

/// What came of it, told where something did.
fn done<T>(task: &'static str, about: &str, answer: Result<T, plybook_store::Error>) -> anyhow::Result<T> {
    let answer = answer.map_err(sentence)?;
    audited::done(task, about);
    Ok(answer)
}

async fn open(database: &DatabaseArgs) -> anyhow::Result<Partitions> {
    match database.read()? {
        Database::Postgres(options) => Partitions::open(&options).await.map_err(sentence),
        Database::Sqlite(_) => Err(usage("--database: an embedded store is one file and has no partitions")),
    }
}

fn list(partitions: Vec<Partition>) -> anyhow::Result<()> {
    let screen = Screen::new();
    screen.say(format!("{:<8} {:>14} {:>16} {:>12} {:>12}", "month", "entries", "bytes", "games", "not ended"))?;
    for Partition { month, form, rows, bytes, games, open } in partitions {
        let form = match form {
            Form::Table => "",
            Form::Packed => "  packed",
            Form::PackedAndKept => "  packed, and its table is there too",
        };
        let month = month.map_or_else(|| "others".to_owned(), |month| month.to_string());
        screen.say(format!("{month:<8} {rows:>14} {bytes:>16} {games:>12} {open:>12}{form}"))?;
    }
    Ok(())
}
