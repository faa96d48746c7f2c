//! `plybook tail`: every entry of every game, a line each, as it comes.
//!
//! Invariant: a line stands on standard output before the token behind it stands in the resume file: whoever goes on from
//! there may see a line twice after a crash, and misses none.

mod bookmark;
pub(crate) mod line;

use clap::Args;
use plybook_client::{Client, Error, Fed, FeedStart};
use plybook_proto::v1::{self, ErrorReason};

use crate::exit::{Interrupts, usage};
use crate::filter::FilterArgs;
use crate::link::Link;
use crate::screen::Screen;
use bookmark::Bookmark;
use line::Lines;

/// Entries that wait for so long for another transaction are worth a word.
const HELD_UP_SECONDS: i64 = 3;

/// Flags of `plybook tail`.
#[derive(Args, Debug)]
pub(crate) struct TailArgs {
    #[command(flatten)]
    link: Link,
    #[command(flatten)]
    filter: FilterArgs,
    /// Only what is stored from now on, instead of everything from the beginning
    #[arg(long)]
    from_now: bool,
    /// Keep in this file how far it came, and go on from there if the file is there; it belongs to the same filter
    #[arg(long, value_name = "FILE")]
    resume_file: Option<std::path::PathBuf>,
    /// End at the last entry instead of waiting for more
    #[arg(long)]
    until_head: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Prints until the end that was asked for, or until told to stop.
pub(crate) async fn run(args: TailArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let client = args.link.client()?;
    let mut bookmark = Bookmark::open(args.resume_file.clone())?;
    let start = FeedStart {
        resume_token: bookmark.token().to_owned(),
        from_now: args.from_now,
        filter: args.filter.filter(),
        stop_at_head: args.until_head,
    };
    let printed = tokio::select! {
        done = print(&client, start, args.json, &mut bookmark) => done,
        () = interrupts.next() => Ok(()),
    };
    bookmark.keep()?;
    printed
}

async fn print(client: &Client, start: FeedStart, json: bool, bookmark: &mut Bookmark) -> anyhow::Result<()> {
    let (screen, mut lines) = (Screen::new(), Lines::new(client.clone(), json));
    let mut feed = client.feed(start);
    let mut held_up = false;
    while let Some(fed) = feed.next().await {
        match fed.map_err(|error| expired(error, bookmark))? {
            Fed::Event(event) => {
                let line = lines.of(&event, feed.resume_token()).await;
                screen.say(line)?;
            }
            Fed::Checkpoint(checkpoint) => held_up = tell_if_held_up(&checkpoint, held_up),
            Fed::CaughtUp => {}
        }
        bookmark.reached(feed.resume_token())?;
    }
    Ok(())
}

/// Once for each time that it is so.
fn tell_if_held_up(checkpoint: &v1::FeedCheckpoint, told: bool) -> bool {
    let seconds = checkpoint.held_up.as_ref().map_or(0, |held_up| held_up.seconds);
    let held_up = seconds >= HELD_UP_SECONDS;
    if held_up && !told {
        eprintln!("entries have been waiting for {seconds} s for another transaction of the database to end; the server's log names it");
    }
    held_up
}

fn expired(error: Error, bookmark: &Bookmark) -> anyhow::Error {
    let reasons = [ErrorReason::ResumeTokenExpired, ErrorReason::ResumeTokenInvalid];
    let of_the_token = error.refused().is_some_and(|refused| reasons.iter().any(|reason| refused.is(*reason)));
    match bookmark.path() {
        Some(path) if of_the_token => usage(format!("{error}; {} does not fit: remove it to begin again", path.display())),
        _ => error.into(),
    }
}
