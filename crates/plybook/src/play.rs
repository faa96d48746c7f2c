//! `plybook play`: a whole game in the terminal.
//!
//! Invariant: the server alone says what is legal, whose turn it is and who won; the keyboard is only
//! asked when one of its seats may act.

mod alarms;
mod command;
mod hint;
mod joins;
mod keyboard;
mod lineup;
mod opening;
mod pace;
mod place;
mod receipts;
mod session;
mod table;
mod terms;

use std::path::PathBuf;

use clap::Args;
use plybook_client::Client;
use plybook_proto::v1;

use crate::exit::{Interrupts, usage};
use crate::link::Link;
use crate::screen::Screen;
use crate::words;
use joins::{Joins, Nonces};
use keyboard::Keyboard;
use opening::{Opening, Sitting};
use place::Place;
use receipts::Receipts;
use session::{Next, Session};
use table::Table;

/// Flags of `plybook play`.
#[derive(Args, Debug)]
pub(crate) struct PlayArgs {
    #[command(flatten)]
    link: Link,
    #[command(flatten)]
    opening: Opening,
    /// Go on with this game instead of creating one.
    #[arg(long, value_name = "ID")]
    game: Option<String>,
    /// Sit in this seat only, from 0; another terminal, or a bot, plays the others. Without it, all seats that are no
    /// bot's are played at this keyboard; against bots, seat 0 is yours.
    #[arg(long, value_name = "NUMBER")]
    seat: Option<u32>,
    /// Sit in the seat with this mark only, such as O.
    #[arg(long = "as", value_name = "MARK", conflicts_with = "seat")]
    mark: Option<String>,
    /// A nonce that a seat played here had before its program was left; may be repeated. Without it, each draws its own.
    #[arg(long = "nonce", value_name = "SEAT:HEX", requires = "game")]
    nonces: Vec<String>,
    /// Ask for a receipt with everything done here, and add it to this file as a line, for `plybook verify --receipt`
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
}

/// How to come back to a game.
#[derive(Clone, Debug)]
struct Back {
    /// What another command needs to find the same servers.
    link: String,
    game_id: String,
    place: Place,
    marks: Vec<String>,
    nonces: Nonces,
}

impl Back {
    /// The command.
    fn command(&self) -> String {
        let Back { link, game_id, place, marks, nonces } = self;
        format!("plybook play{link} --game {game_id}{}{}", place.flag(marks), nonces.flags())
    }
}

/// Plays until the game is over or the keyboard has enough.
pub(crate) async fn run(args: PlayArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let screen = Screen::new();
    // Before there is a game: it would be one that cannot be played as asked.
    let receipts = args.receipts.as_deref().map(Receipts::open).transpose()?;
    let nonces = Nonces::kept(&args.nonces)?;
    let (game, place) = match &args.game {
        Some(game_id) => found(&client, game_id, &args).await?,
        None => created(&client, &screen, &args, receipts.as_ref()).await?,
    };
    let marks = words::marks(&game.seats);
    let mut back = Back { link: args.link.flag(), game_id: game.game_id, place, marks, nonces };
    // From here on there is a game to go on with, and leaving tells how.
    let mut interrupts = Interrupts::listen()?;
    let mut keyboard = Keyboard::new();
    loop {
        let next = tokio::select! {
            next = sit_and_play(&client, &mut keyboard, &back, receipts.clone()) => next?,
            () = interrupts.next() => {
                return Ok(screen.say(format!("\nInterrupted; go on with: {}", back.command()))?);
            }
        };
        let Next::Rematch(game) = next else { return Ok(()) };
        screen.say(format!("\nGame {}, the rematch", game.game_id))?;
        let place = back.place.in_rematch(&game);
        tell_others(&screen, &back.link, &game, &place)?;
        back = Back { place, marks: words::marks(&game.seats), game_id: game.game_id, nonces: Nonces::default(), ..back };
    }
}

/// A game to go on with, and where whoever calls sits in it.
async fn found(client: &Client, game_id: &str, args: &PlayArgs) -> anyhow::Result<(v1::Game, Place)> {
    let game = client.game(game_id, None).await?;
    let place = match (&args.mark, args.seat) {
        (Some(mark), _) => Place::named(mark, &words::marks(&game.seats)).map_err(usage)?,
        (None, Some(seat)) => Place::numbered(seat),
        (None, None) => Place::default(),
    };
    Ok((game, place))
}

/// A new game, and where whoever calls sits in it.
async fn created(client: &Client, screen: &Screen, args: &PlayArgs, receipts: Option<&Receipts>) -> anyhow::Result<(v1::Game, Place)> {
    let sitting = match (&args.mark, args.seat) {
        (Some(mark), _) => Sitting::Marked(mark),
        (None, Some(seat)) => Sitting::Numbered(seat),
        (None, None) => Sitting::Anywhere,
    };
    let (created, place) = args.opening.create(client, sitting, receipts.is_some()).await?;
    let game = *created.game.unwrap_or_default();
    if let (Some(receipts), Some(receipt)) = (receipts, &created.receipt) {
        receipts.keep(receipt)?;
    }
    screen.say(format!("Game {}", game.game_id))?;
    tell_others(screen, &args.link.flag(), &game, &place)?;
    Ok((game, place))
}

/// How the other people come to the table, and who else sits there.
fn tell_others(screen: &Screen, link: &str, game: &v1::Game, place: &Place) -> anyhow::Result<()> {
    let marks = words::marks(&game.seats);
    for (seat, at) in (0..).zip(&game.seats) {
        if let Some((bot, strategy)) = at.bot.as_ref().and_then(|bot| Some((bot, bot.strategy.as_ref()?))) {
            let mark = words::seat_name(seat, &marks);
            screen.say(format!("{mark} is a bot: {}@{}, {} nodes a move", strategy.id, strategy.version, bot.nodes))?;
        } else if !place.has(seat) {
            let flag = place.of(seat).flag(&marks);
            screen.say(format!("Seat {seat} plays with: plybook play{link} --game {}{flag}", game.game_id))?;
        }
    }
    Ok(())
}

async fn sit_and_play(client: &Client, keyboard: &mut Keyboard, back: &Back, receipts: Option<Receipts>) -> anyhow::Result<Next> {
    let table = Table::sit(client.clone(), &back.game_id, back.place.clone(), receipts.is_some()).await?;
    let joins = Joins::begin(client, table.game(), back.place.seat, back.nonces.clone(), receipts.as_ref())?;
    Session::new(client.clone(), table, keyboard, back.clone(), receipts, joins).play().await
}
