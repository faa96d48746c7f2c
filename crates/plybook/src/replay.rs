//! `plybook replay`: a book, looked through entry by entry.
//!
//! | module | the noun |
//! | --- | --- |
//! | `pages` | a book as far as it is one |
//! | `timeline` | the game at any entry |
//! | `beside` | refused requests, each beside an entry |
//! | `frame`, `told`, `terms`, `throw` | what is shown of an entry |
//! | `cursor` | where one stands, and what keys do |
//! | `terminal` | the screen and the keyboard |
//!
//! Invariant: once the book is here no server is asked for it; a book that is wrong is shown up to there, and
//! the fault is told.

mod beside;
mod cursor;
mod frame;
mod pages;
mod terminal;
mod terms;
mod throw;
mod timeline;
mod told;

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;

use anyhow::bail;
use clap::Args;
use plybook_core::Uuid;
use plybook_proto::v1;

use self::beside::Beside;
use self::cursor::Cursor;
use self::frame::Frame;
use self::pages::Pages;
use self::timeline::Timeline;
use crate::exit::usage;
use crate::link::Link;
use crate::screen::Screen;

/// Flags of `plybook replay`.
#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    link: Link,
    /// A game of the server, by its id, or a .ply file, for which no server is asked
    #[arg(value_name = "GAME|FILE")]
    what: String,
    /// The entry to begin at; with --print the only one
    #[arg(long, value_name = "ENTRY", value_parser = clap::value_parser!(u32).range(1..))]
    at: Option<u32>,
    /// Writes the entries as text instead of showing them one by one
    #[arg(long)]
    print: bool,
    /// Makes a new game that goes on from this entry of GAME, with a seed of its own, and prints its id
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["at", "print"], value_parser = clap::value_parser!(u32).range(1..))]
    fork: Option<u32>,
}

/// Forks, prints or shows.
pub(crate) async fn run(args: ReplayArgs) -> anyhow::Result<()> {
    let file = Path::new(&args.what);
    let is_file = file.exists();
    if !is_file && Uuid::try_parse(&args.what).is_err() {
        return Err(usage(format!("{} is neither a file nor the id of a game", args.what)));
    }
    if let Some(entry) = args.fork {
        if is_file {
            let why = "a file is no game of a server; import it first, with `plybook import`, and fork the game by its id";
            return Err(usage(format!("--fork: {why}")));
        }
        return fork(&args, entry).await;
    }
    // A file tells of no request that became no entry.
    let (pages, beside) = if is_file { (Pages::open(file)?, Beside::default()) } else { fetched(&args).await? };
    let mut timeline = tokio::task::spawn_blocking(move || Timeline::of(pages, beside)).await?;
    let steps = timeline.last().0 + u32::from(timeline.fault().is_some());
    if let Some(at) = args.at.filter(|at| *at > steps) {
        return Err(usage(format!("--at: the book has {steps} entries; there is no entry {at}")));
    }
    if args.print {
        return print(&mut timeline, args.at, steps);
    }
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(usage("this is no terminal; --print writes the entries as text"));
    }
    terminal::show(&mut timeline, Cursor::new(args.at.unwrap_or(1), steps)).await
}

async fn fetched(args: &ReplayArgs) -> anyhow::Result<(Pages, Beside)> {
    let client = args.link.client()?;
    let book = client.book(&args.what).await?;
    let pages = Pages::read(&String::from_utf8_lossy(&book))?;
    let (beside, why_not) = Beside::fetch(&client, &args.what).await;
    if let Some(why) = why_not {
        eprintln!("{why}");
    }
    Ok((pages, beside))
}

fn print(timeline: &mut Timeline, at: Option<u32>, steps: u32) -> anyhow::Result<()> {
    let screen = Screen::new();
    let (first, last) = at.map_or((1, steps), |at| (at, at));
    let mut wrong = None;
    for step in first..=last {
        let frame = Frame::of(timeline, step);
        let end = if step == last { "" } else { "\n" };
        screen.say(format!("{}{end}", frame.print()))?;
        wrong = wrong.or(frame.wrong);
    }
    match wrong {
        Some(wrong) => bail!("the book is wrong: {wrong}"),
        None => Ok(()),
    }
}

async fn fork(args: &ReplayArgs, entry: u32) -> anyhow::Result<()> {
    let request = v1::ForkGameRequest { game_id: args.what.clone(), at_seq: Some(u64::from(entry)), ..Default::default() };
    let game = args.link.client()?.fork_game(request).await?.game.unwrap_or_default();
    let given = match game.seq.saturating_sub(1) {
        1 => "1 move".to_owned(),
        given => format!("{given} moves"),
    };
    let screen = Screen::new();
    screen.say(format!("Game {}", game.game_id))?;
    screen.say(format!("It begins with {given} of game {}, as they stood at entry {entry}, and has a seed of its own.", args.what))?;
    screen.say(format!("Go on with: plybook play{} --game {}", args.link.flag(), game.game_id))?;
    Ok(())
}
