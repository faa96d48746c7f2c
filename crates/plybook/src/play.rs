//! `plybook play`: a whole game in the terminal.
//!
//! Invariant: the server alone says what is legal, whose turn it is and who won; the keyboard is only
//! asked when one of its seats may act.

mod command;
mod joins;
mod keyboard;
mod opening;
mod receipts;
mod table;

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::Args;
use plybook_client::{Client, Error};

use crate::exit::Interrupts;
use crate::link::Link;
use crate::screen::Screen;
use command::Command;
use joins::{Joins, Nonces};
use keyboard::{Keyboard, Typed};
pub(crate) use opening::Opening;
use receipts::Receipts;
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
    /// Sit in this seat only, from 0; another terminal plays the others. Without it, all seats are
    /// played at this keyboard.
    #[arg(long, value_name = "NUMBER")]
    seat: Option<u32>,
    /// A nonce that a seat played here had before its program was left; may be repeated. Without it, each draws its own.
    #[arg(long = "nonce", value_name = "SEAT:HEX", requires = "game")]
    nonces: Vec<String>,
    /// Ask for a receipt with everything done here, and add it to this file as a line, for `plybook verify --receipt`
    #[arg(long, value_name = "FILE")]
    receipts: Option<PathBuf>,
}

/// Plays until the game is over or the keyboard has enough.
pub(crate) async fn run(args: PlayArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let screen = Screen::new();
    // Before there is a game: it would be one that cannot be played as asked.
    let receipts = args.receipts.as_deref().map(Receipts::open).transpose()?;
    let nonces = Nonces::kept(&args.nonces)?;
    let game_id = match &args.game {
        Some(game_id) => game_id.clone(),
        None => {
            let created = args.opening.create(&client, args.seat, receipts.is_some()).await?;
            let game = created.game.unwrap_or_default();
            if let (Some(receipts), Some(receipt)) = (&receipts, &created.receipt) {
                receipts.keep(receipt)?;
            }
            screen.say(format!("Game {}", game.game_id))?;
            if let Some(seat) = args.seat {
                let others = (0..game.seats.len() as u32).filter(|other| *other != seat);
                for other in others {
                    screen.say(format!(
                        "Seat {other} plays with: plybook play{} --game {} --seat {other}",
                        args.link.flag(),
                        game.game_id
                    ))?;
                }
            }
            game.game_id
        }
    };
    // From here on there is a game to go on with, and leaving tells how.
    let mut interrupts = Interrupts::listen()?;
    let (flag, seat) = (args.link.flag(), args.seat);
    tokio::select! {
        done = sit_and_play(client, args, receipts, nonces.clone(), &game_id) => done,
        () = interrupts.next() => {
            Ok(Screen::new().say(format!("\nInterrupted; go on with: {}", go_on(&flag, &game_id, seat, &nonces)))?)
        }
    }
}

async fn sit_and_play(client: Client, args: PlayArgs, receipts: Option<Receipts>, nonces: Nonces, game_id: &str) -> anyhow::Result<()> {
    let screen = Screen::new();
    let table = Table::sit(client.clone(), game_id, args.seat, receipts.is_some()).await?;
    let joins = Joins::begin(&client, table.game(), args.seat, nonces.clone(), receipts.as_ref())?;
    let session = Session {
        client,
        screen,
        table,
        keyboard: Keyboard::new(),
        seat: args.seat,
        typing: std::io::stdin().is_terminal(),
        flag: args.link.flag(),
        receipts,
        joins,
        nonces,
        prompted: false,
    };
    session.play().await
}

/// The command that goes on with a game here.
fn go_on(flag: &str, game_id: &str, seat: Option<u32>, nonces: &Nonces) -> String {
    let seat = seat.map_or_else(String::new, |seat| format!(" --seat {seat}"));
    format!("plybook play{flag} --game {game_id}{seat}{}", nonces.flags())
}

struct Session {
    client: Client,
    screen: Screen,
    table: Table,
    keyboard: Keyboard,
    /// The seat played here, where it is not all of them.
    seat: Option<u32>,
    /// Whether a person types; otherwise lines are taken only when they are due.
    typing: bool,
    /// What another command needs to find the same servers.
    flag: String,
    /// Where receipts are kept.
    receipts: Option<Receipts>,
    /// Seats that are joining.
    joins: Joins,
    /// Their nonces.
    nonces: Nonces,
    /// Whether the prompt stands in the last line.
    prompted: bool,
}

impl Session {
    async fn play(mut self) -> anyhow::Result<()> {
        let mut events = self.client.events(self.table.game_id(), self.table.seq());
        self.show()?;
        while !self.table.closed() {
            let due = self.table.may_act() || self.table.finished();
            if due && self.keyboard.ended() {
                self.screen.say(format!("The input ended; go on with: {}", self.go_on()))?;
                return Ok(());
            }
            if due && !std::mem::replace(&mut self.prompted, true) {
                self.screen.prompt(&self.table.prompt())?;
            }
            tokio::select! {
                event = events.next() => match event {
                    Some(event) => {
                        if self.table.hear(event?).await? {
                            self.screen.say("")?;
                            self.show()?;
                        }
                    }
                    None => {
                        self.table.refresh().await?;
                        events = self.client.events(self.table.game_id(), self.table.seq());
                    }
                },
                trouble = self.joins.trouble() => {
                    self.screen.say(format!("\n{trouble}"))?;
                }
                line = self.keyboard.line(), if (due || self.typing) && !self.keyboard.ended() => {
                    self.prompted = false;
                    if !self.hear(line?, due).await? {
                        return Ok(());
                    }
                }
            }
        }
        self.screen.say(format!("The game is closed. Its book: plybook export{} {}", self.flag, self.table.game_id()))?;
        Ok(())
    }

    /// Takes what came from the keyboard; answers whether to go on.
    async fn hear(&mut self, typed: Typed, due: bool) -> anyhow::Result<bool> {
        match typed {
            Typed::Line(line) => {
                if due && !self.typing {
                    self.screen.say(&line)?;
                }
                self.obey(&line).await
            }
            Typed::NotText => {
                self.screen.say("\nRefused: the line is not text (UTF-8), so nothing was done.")?;
                Ok(true)
            }
            // Whoever types the end of the input at a terminal means to leave.
            Typed::End if self.typing => {
                self.screen.say("")?;
                self.leave().map(|()| false)
            }
            Typed::End => Ok(true),
        }
    }

    /// Does what a line says; answers whether to go on.
    async fn obey(&mut self, line: &str) -> anyhow::Result<bool> {
        let done = match Command::read(line) {
            Command::Nothing => return Ok(true),
            Command::Quit => return self.leave().map(|()| false),
            Command::Help => {
                self.screen.say(command::HELP)?;
                return Ok(true);
            }
            Command::Board => Ok(()),
            Command::Legal => return self.legal().await.map(|()| true),
            Command::Undo(plies) => self.table.undo(plies).await,
            Command::Close => self.table.close().await,
            Command::Move(notation) => self.table.make_move(&notation).await,
        };
        if let (Some(receipts), Some(receipt)) = (&self.receipts, self.table.take_receipt()) {
            receipts.keep(&receipt)?;
        }
        match done {
            Ok(()) => self.show()?,
            Err(Error::Refused(refused)) => {
                self.screen.say(crate::words::refusal(&refused, self.table.marks()))?;
                // What was refused may have been decided on an old board.
                let before = self.table.seq();
                self.table.refresh().await?;
                if self.table.seq() != before {
                    self.show()?;
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(true)
    }

    fn leave(&self) -> anyhow::Result<()> {
        Ok(self.screen.say(format!("The game stays as it is; go on with: {}", self.go_on()))?)
    }

    fn go_on(&self) -> String {
        go_on(&self.flag, self.table.game_id(), self.seat, &self.nonces)
    }

    async fn legal(&self) -> anyhow::Result<()> {
        match self.table.legal().await {
            Ok(legal) => self.screen.say(command::in_lines(&legal))?,
            Err(Error::Refused(refused)) => self.screen.say(crate::words::refusal(&refused, self.table.marks()))?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn show(&mut self) -> anyhow::Result<()> {
        self.prompted = false;
        Ok(self.screen.say(self.table.picture())?)
    }
}
