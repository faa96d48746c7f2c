//! One game at this keyboard: what happens at the table and what is typed, side by side.
//!
//! Invariant: whatever happens at the table is seen at once, also while somebody types; the keyboard is only
//! asked when a seat played here has something to say.

use std::io::IsTerminal as _;
use std::time::Duration;

use plybook_client::events::Events;
use plybook_client::{Client, Error};
use plybook_proto::v1;

use super::command::{self, Command};
use super::joins::Joins;
use super::keyboard::{Keyboard, Typed};
use super::receipts::Receipts;
use super::table::Table;
use super::{Back, hint};
use crate::screen::Screen;
use crate::words;

/// How long a script has after the end of a game to ask for the next one; a person is waited for.
const AFTER_THE_END: Duration = Duration::from_secs(1);

/// What a line comes to.
#[derive(Debug)]
pub(super) enum Next {
    /// The game goes on.
    Same,
    /// Whoever sits here leaves.
    Leave,
    /// Another game is played.
    Rematch(Box<v1::Game>),
}

/// A game, and whoever plays it here.
pub(super) struct Session<'a> {
    pub(super) client: Client,
    pub(super) table: Table,
    pub(super) keyboard: &'a mut Keyboard,
    /// How to come back.
    pub(super) back: Back,
    /// Where receipts are kept.
    pub(super) receipts: Option<Receipts>,
    /// Seats that are joining.
    pub(super) joins: Joins,
    screen: Screen,
    /// Whether a person types; otherwise lines are taken only when they are due.
    typing: bool,
    /// Whether the prompt stands in the last line.
    prompted: bool,
    /// A line that came while only an answer was wanted, and is none: it waits for this seat's turn.
    held: Option<String>,
}

impl<'a> Session<'a> {
    /// A game that is about to be played.
    pub(super) fn new(
        client: Client,
        table: Table,
        keyboard: &'a mut Keyboard,
        back: Back,
        receipts: Option<Receipts>,
        joins: Joins,
    ) -> Session<'a> {
        let (screen, typing) = (Screen::new(), std::io::stdin().is_terminal());
        Session { client, table, keyboard, back, receipts, joins, screen, typing, prompted: false, held: None }
    }

    /// Plays until the game is over or the keyboard has enough.
    pub(super) async fn play(mut self) -> anyhow::Result<Next> {
        let mut events = self.events();
        self.screen.say(self.table.board())?;
        while !self.table.closed() {
            if let Some(line) = self.held.take_if(|_| self.table.may_act() || self.table.finished()) {
                self.screen.say(&line)?;
                match self.obey(&line).await? {
                    Next::Same => continue,
                    next => return Ok(next),
                }
            }
            let due = self.table.may_act() || self.table.finished() || self.table.is_asked();
            if due && self.keyboard.ended() && self.held.is_none() {
                self.screen.say(format!("The input ended; go on with: {}", self.back.command()))?;
                return Ok(Next::Leave);
            }
            if due && !std::mem::replace(&mut self.prompted, true) {
                self.screen.prompt(&self.table.prompt())?;
            }
            match self.step(&mut events, due).await? {
                Next::Same => {}
                next => return Ok(next),
            }
        }
        self.screen.say(format!("The game is closed. Its book: plybook export{} {}", self.back.link, self.table.game_id()))?;
        self.after_the_end().await
    }

    fn events(&self) -> Events {
        self.client.events(self.table.game_id(), self.table.seq())
    }

    /// Waits for whatever comes first.
    async fn step(&mut self, events: &mut Events, due: bool) -> anyhow::Result<Next> {
        let alarm = self.table.alarm();
        let reads = (due || self.typing) && !self.keyboard.ended() && self.held.is_none();
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
                    *events = self.events();
                }
            },
            trouble = self.joins.trouble() => {
                self.screen.say(format!("\n{trouble}"))?;
            }
            () = tokio::time::sleep(alarm.unwrap_or_default().0), if alarm.is_some() => {
                let seconds = alarm.unwrap_or_default().1;
                self.screen.say(format!("\n{} left to move.", words::left::spoken(seconds * 1000)))?;
                self.prompted = false;
            }
            line = self.keyboard.line(), if reads => {
                self.prompted = false;
                return self.hear(line?, due).await;
            }
        }
        Ok(Next::Same)
    }

    /// Takes what came from the keyboard.
    async fn hear(&mut self, typed: Typed, due: bool) -> anyhow::Result<Next> {
        match typed {
            Typed::Line(line) if self.typing => self.obey(&line).await,
            Typed::Line(line) => {
                let waits = !self.table.may_act() && !self.table.finished() && !Command::read(&line).any_time();
                if waits {
                    self.prompted = true;
                    self.held = Some(line);
                    return Ok(Next::Same);
                }
                if due {
                    self.screen.say(&line)?;
                }
                self.obey(&line).await
            }
            Typed::NotText => {
                self.screen.say("\nRefused: the line is not text (UTF-8), so nothing was done.")?;
                Ok(Next::Same)
            }
            // Whoever types the end of the input at a terminal means to leave.
            Typed::End if self.typing => {
                self.screen.say("")?;
                self.leave()
            }
            Typed::End => Ok(Next::Same),
        }
    }

    /// Does what a line says.
    async fn obey(&mut self, line: &str) -> anyhow::Result<Next> {
        let done = match Command::read(line) {
            Command::Nothing => return Ok(Next::Same),
            Command::Quit => return self.leave(),
            Command::Help => return self.says(command::HELP),
            Command::Legal => return self.legal().await,
            Command::Hint => return self.hint().await,
            Command::Rematch => return self.rematch().await,
            Command::Board => {
                let board = self.table.board();
                return self.says(&board);
            }
            Command::Undo(plies) => self.table.undo(plies).await,
            Command::Close => self.table.close().await,
            Command::Resign => self.table.resign().await,
            Command::Abort => self.table.abort().await,
            Command::Draw => self.table.offer_draw().await,
            Command::Accept => self.table.answer(true).await,
            Command::Decline => self.table.answer(false).await,
            Command::Move(notation) => self.table.make_move(&notation).await,
        };
        self.keep_receipt()?;
        match done {
            Ok(()) => self.show()?,
            Err(Error::Refused(refused)) => {
                self.screen.say(words::refusal(&refused, self.table.marks()))?;
                // What was refused may have been decided on an old board.
                let before = self.table.seq();
                self.table.refresh().await?;
                if self.table.seq() != before {
                    self.show()?;
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Next::Same)
    }

    /// Once nothing more can happen, whoever played may want another game.
    async fn after_the_end(&mut self) -> anyhow::Result<Next> {
        if self.table.only_watches() || self.keyboard.ended() {
            return Ok(Next::Leave);
        }
        loop {
            let typed = match self.held.take() {
                Some(line) => Typed::Line(line),
                None if self.typing => {
                    self.screen.prompt("rematch, or Enter to leave> ")?;
                    self.keyboard.line().await?
                }
                None => match tokio::time::timeout(AFTER_THE_END, self.keyboard.line()).await {
                    Ok(typed) => typed?,
                    Err(_) => return Ok(Next::Leave),
                },
            };
            let Typed::Line(line) = typed else { return Ok(Next::Leave) };
            if Command::read(&line) != Command::Rematch {
                return Ok(Next::Leave);
            }
            if !self.typing {
                self.screen.say(&line)?;
            }
            match self.rematch().await? {
                Next::Same => {}
                next => return Ok(next),
            }
        }
    }

    async fn rematch(&mut self) -> anyhow::Result<Next> {
        let made = self.table.rematch().await;
        self.keep_receipt()?;
        match made {
            Ok(game) => Ok(Next::Rematch(Box::new(game))),
            Err(Error::Refused(refused)) => self.says(&words::refusal(&refused, self.table.marks())),
            Err(error) => Err(error.into()),
        }
    }

    fn keep_receipt(&mut self) -> anyhow::Result<()> {
        match (&self.receipts, self.table.take_receipt()) {
            (Some(receipts), Some(receipt)) => receipts.keep(&receipt),
            _ => Ok(()),
        }
    }

    fn leave(&self) -> anyhow::Result<Next> {
        self.screen.say(format!("The game stays as it is; go on with: {}", self.back.command()))?;
        Ok(Next::Leave)
    }

    async fn legal(&self) -> anyhow::Result<Next> {
        match self.table.legal().await {
            Ok(legal) => self.says(&command::in_lines(&legal)),
            Err(Error::Refused(refused)) => self.says(&words::refusal(&refused, self.table.marks())),
            Err(error) => Err(error.into()),
        }
    }

    async fn hint(&self) -> anyhow::Result<Next> {
        match hint::ask(&self.client, self.table.game(), self.table.notation()).await {
            Ok(hint) => self.says(&hint),
            Err(Error::Refused(refused)) => self.says(&words::refusal(&refused, self.table.marks())),
            Err(error) => Err(error.into()),
        }
    }

    fn says(&self, text: &str) -> anyhow::Result<Next> {
        self.screen.say(text)?;
        Ok(Next::Same)
    }

    fn show(&mut self) -> anyhow::Result<()> {
        self.prompted = false;
        Ok(self.screen.say(self.table.picture())?)
    }
}
