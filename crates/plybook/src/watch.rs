//! `plybook watch`: a game redrawn at every entry, until it is closed.
//!
//! Invariant: every entry after the first picture gives one picture, in order, and none is skipped.

use clap::Args;
use plybook_client::Client;
use plybook_proto::v1;
use plybook_proto::v1::event::Body;

use crate::drawing::{self, Clocks, Look, Notation};
use crate::exit::Interrupts;
use crate::link::Link;
use crate::screen::Screen;
use crate::words;

/// Flags of `plybook watch`.
#[derive(Args, Debug)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    link: Link,
    /// The game.
    game: String,
    /// Begin with the first entry instead of the board as it is now.
    #[arg(long)]
    from_start: bool,
}

/// Draws until the game is closed, or whoever watches has seen enough.
pub(crate) async fn run(args: WatchArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::listen()?;
    tokio::select! {
        done = draw(args) => done,
        () = interrupts.next() => Ok(()),
    }
}

async fn draw(args: WatchArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let screen = Screen::new();
    let first = args.from_start.then_some(1);
    let game = client.game(&args.game, first).await?;
    let marks = words::marks(&game.seats);
    let view = View { notation: notation(&client, &game).await?, marks };
    screen.frame(&view.picture(&game, None))?;
    let mut events = client.events(&args.game, game.seq);
    while let Some(event) = events.next().await {
        let event = event?;
        let game = client.game(&args.game, Some(event.seq)).await?;
        screen.frame(&view.picture(&game, Some(&event)))?;
    }
    screen.say(format!("The game is closed. Its book: plybook export{} {}", args.link.flag(), args.game))?;
    Ok(())
}

async fn notation(client: &Client, game: &v1::Game) -> anyhow::Result<Notation> {
    let request = v1::ListLegalActionsRequest { game_id: game.game_id.clone(), page_size: 50, page_token: String::new() };
    Ok(Notation::of(game, &client.list_legal_actions(request).await?.actions))
}

struct View {
    notation: Notation,
    marks: Vec<String>,
}

impl View {
    fn picture(&self, game: &v1::Game, event: Option<&v1::Event>) -> String {
        let changed = event.map_or_else(Vec::new, changed);
        let bright = game.outcome.as_ref().map_or(changed.as_slice(), |outcome| &outcome.cells);
        let look = Look { marks: &self.marks, notation: self.notation, bright };
        let board = game.position.as_ref().map_or_else(String::new, |position| drawing::draw(position, look));
        let clocks = Clocks::of(game).map(|clocks| clocks.still(&self.marks));
        let board = drawing::beside(&board, &clocks.unwrap_or_default());
        let last = event
            .map_or_else(|| format!("Entry {}.", game.seq), |event| format!("Entry {}: {}.", event.seq, words::told(event, &self.marks)));
        let joining = game.joining.as_ref().map(|joining| words::joining(joining, &self.marks));
        let lines = [board, last].into_iter().chain(joining).chain(words::standing(game, &self.marks));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn changed(event: &v1::Event) -> Vec<u32> {
    let changes = match &event.body {
        Some(Body::MoveMade(made)) => &made.changes[..],
        _ => &[],
    };
    changes.iter().filter(|change| change.before.is_empty()).map(|change| change.cell).collect()
}
