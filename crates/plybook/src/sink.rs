//! `plybook sink`: the feed into NATS JetStream, every entry once.
//!
//! | module | the noun |
//! | --- | --- |
//! | `outlet` | the stream that is filled, what it has already, and how far it came |
//! | `message` | an entry as a message: subject, headers, body |
//!
//! Invariant: how far it came is written behind what the stream has acknowledged, so that a kill at any moment costs
//! nothing; what is published again is known by the last entry that the game has in the stream.

mod message;
mod outlet;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use futures::{Stream, StreamExt as _};
use plybook_client::{Error, Fed, FeedStart};
use plybook_proto::v1::{self, ErrorReason};
use plybook_store::nats::NatsAddress;
use tokio::time::{sleep, timeout};

use crate::database::sentence;
use crate::exit::{Interrupts, usage};
use crate::filter::FilterArgs;
use crate::link::Link;
use crate::screen::Screen;
use message::Format;
use outlet::{Hopeless, Outlet, Place};

/// Entries that are published together at most.
const BATCH: usize = 512;
/// How long an entry waits for others to go with it.
const GATHER: Duration = Duration::from_millis(2);
/// Between two times that it is written how far it came.
const KEEP: Duration = Duration::from_millis(500);
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MOST: Duration = Duration::from_secs(2);

/// Flags of `plybook sink`.
#[derive(Args, Debug)]
pub(crate) struct SinkArgs {
    #[command(flatten)]
    link: Link,
    /// The NATS servers, nats://user:password@host:4222 or tls://…, several of a cluster separated by commas
    #[arg(long, env = "PLYBOOK_SINK_TO", hide_env_values = true, value_name = "URL[,URL…]")]
    to: String,
    /// The stream of JetStream to fill; it is made if it is not there
    #[arg(long, default_value = "PLYBOOK", value_name = "NAME")]
    stream: String,
    /// What subjects begin with: PREFIX.RULESET.GAME
    #[arg(long, default_value = "plybook.games.default", value_name = "PREFIX")]
    prefix: String,
    /// What a message's body is
    #[arg(long, value_enum, default_value_t = Format::Protobuf)]
    format: Format,
    #[command(flatten)]
    filter: FilterArgs,
    /// Begin with what is stored from now on; a stream that was begun is gone on with
    #[arg(long)]
    from_now: bool,
    /// Read everything from the beginning once more, such as after a restore of the books; what the stream has stays as it is
    #[arg(long, conflicts_with = "from_now")]
    again: bool,
    /// End at the last entry instead of waiting for more
    #[arg(long)]
    until_head: bool,
}

/// A frame of the feed with its token.
type Told = Result<(Fed, String), Error>;

/// What goes together.
#[derive(Default)]
struct Gathered {
    events: Vec<v1::Event>,
    /// Of the last frame; nothing where none came.
    token: Option<String>,
    /// Whether the feed has ended with them.
    over: bool,
}

/// Fills until the end that was asked for, or until told to stop.
pub(crate) async fn run(args: SinkArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    let address = NatsAddress::read(&args.to).map_err(sentence).context("--to")?;
    let client = args.link.client()?;
    let patience = Duration::from_secs(args.link.patience);
    let place = Place { stream: args.stream.clone(), prefix: args.prefix.clone(), format: args.format, filter: args.filter.told() };
    let mut outlet = tokio::select! {
        opened = Outlet::open(&address, place, client.clone(), patience) => opened?,
        () = interrupts.next() => return Ok(()),
    };
    let resume_token = if args.again { String::new() } else { outlet.token().to_owned() };
    let start = FeedStart { resume_token, from_now: args.from_now, filter: args.filter.filter(), stop_at_head: args.until_head };
    let mut feed = Box::pin(client.feed(start).into_stream());
    let filled = tokio::select! {
        done = fill(&mut feed, &mut outlet, patience) => done,
        () = interrupts.next() => Ok(()),
    };
    let kept = outlet.keep().await;
    filled.and(kept)?;
    Ok(Screen::new().say(format!("{} entries were written to {}", outlet.written(), outlet.name()))?)
}

async fn fill(feed: &mut (impl Stream<Item = Told> + Unpin), outlet: &mut Outlet, patience: Duration) -> anyhow::Result<()> {
    let mut kept_at = Instant::now();
    loop {
        let Gathered { events, token, over } = gather(feed, outlet).await?;
        deliver(outlet, &events, patience).await?;
        if let Some(token) = token {
            outlet.reached(&token);
        }
        if over || kept_at.elapsed() >= KEEP {
            outlet.keep().await?;
            kept_at = Instant::now();
        }
        if over {
            return Ok(());
        }
    }
}

/// The next entries; none at times, so that what was reached is kept. What waits in the feed goes on waiting meanwhile: dropped
/// that often, it would never find out that a server does not answer.
async fn gather(feed: &mut (impl Stream<Item = Told> + Unpin), outlet: &Outlet) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered::default();
    let mut wait = KEEP;
    while gathered.events.len() < BATCH {
        match timeout(wait, feed.next()).await {
            Err(_) => break,
            Ok(None) => {
                gathered.over = true;
                break;
            }
            Ok(Some(Err(error))) => return Err(refused(error, outlet)),
            Ok(Some(Ok((fed, token)))) => {
                gathered.token = Some(token);
                if let Fed::Event(event) = fed {
                    gathered.events.push(*event);
                }
            }
        }
        wait = GATHER;
    }
    Ok(gathered)
}

/// Again and again until the stream has them all, or patience is over.
async fn deliver(outlet: &mut Outlet, events: &[v1::Event], patience: Duration) -> anyhow::Result<()> {
    let (by, mut pause) = (Instant::now() + patience, PAUSE_FIRST);
    while let Err(error) = outlet.publish(events).await {
        if error.is::<Hopeless>() || Instant::now() + pause > by {
            return Err(error);
        }
        if pause == PAUSE_FIRST {
            eprintln!("plybook: {error:#}; trying again");
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MOST);
    }
    Ok(())
}

fn refused(error: Error, outlet: &Outlet) -> anyhow::Error {
    let reasons = [ErrorReason::ResumeTokenExpired, ErrorReason::ResumeTokenInvalid];
    if error.refused().is_some_and(|refused| reasons.iter().any(|reason| refused.is(*reason))) {
        return usage(format!("{error}; these are other books than {} was filled from, or older ones: --again", outlet.name()));
    }
    error.into()
}
