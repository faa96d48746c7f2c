//! `plybook migrate`: brings a database's schema up to this build's, or says what that would do.
//!
//! Invariant: one process at a time changes a schema, and only forwards; looking changes nothing.

use plybook_store::{Standing, Step};

use crate::audited;
use crate::database::DatabaseArgs;
use crate::screen::Screen;

const ABOUT: &str = "Several may run at once: one of them does it, and the others wait and find it done. Nodes of the build before go on beside it, \
                     unless a migration's name says `contract`: deploy/migrations.md.\n\n\
                     Exit codes: 0 done, or looked; 2 a schema that this build does not know; 1 whatever another moment may cure.";

/// Flags of `plybook migrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = ABOUT)]
pub(crate) struct MigrateArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// List the migrations and where each stands, and say whether this build can serve; changes nothing
    #[arg(long)]
    status: bool,
    /// Print what would be said to the database; changes nothing
    #[arg(long, conflicts_with = "status")]
    dry_run: bool,
}

/// Runs the migrations that are missing.
pub(crate) async fn run(args: MigrateArgs) -> anyhow::Result<()> {
    let database = args.database.read()?;
    let screen = Screen::new();
    if args.status || args.dry_run {
        let (steps, verdict) = database.steps().await?;
        if args.dry_run {
            verdict.or_else(|why| if pending(&steps).next().is_some() && !has_unknown(&steps) { Ok(()) } else { Err(why) })?;
            return Ok(screen.say(script(&steps))?);
        }
        screen.say(steps.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        screen.say(match &verdict {
            Ok(()) => "this plybook serves this schema".to_owned(),
            Err(why) => format!("{why:#}"),
        })?;
        return if has_unknown(&steps) { verdict } else { Ok(()) };
    }
    database.migrate().await?;
    audited::done("migrate", &database.tell());
    screen.say(format!("{} has the schema of plybook {}", database.tell(), env!("CARGO_PKG_VERSION")))?;
    Ok(())
}

fn has_unknown(steps: &[Step]) -> bool {
    steps.iter().any(|step| step.standing == Standing::Unknown)
}

fn pending(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|step| step.standing == Standing::Pending)
}

fn line(step: &Step) -> String {
    let standing = match step.standing {
        Standing::Applied => "applied",
        Standing::Pending => "pending",
        Standing::Later => "of a later plybook",
        Standing::Unknown => "not of this plybook",
    };
    format!("{:04} {:<32} {standing}", step.version, step.name)
}

fn script(steps: &[Step]) -> String {
    let text = |step: &Step| format!("-- {:04} {}\n\n{}", step.version, step.name, step.text.unwrap_or_default().trim_end());
    let texts: Vec<String> = pending(steps).map(text).collect();
    if texts.is_empty() { "-- nothing is to be done".to_owned() } else { texts.join("\n\n") }
}
