//! A game as whoever plays it has it: seats, and what they ask for.
//!
//! Invariants: what is decided on an entry cannot be sent without naming it; nothing is sent before it is awaited, and then
//! one request, however often it has to be sent.

mod ask;

use plybook_proto::v1;

use crate::client::Client;
use crate::error::Error;
use crate::events::Events;
use ask::What;
pub use ask::{Ask, Done};

/// One game. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table {
    client: Client,
    game_id: String,
}

/// A seat at a table.
#[derive(Clone, Debug)]
pub struct Place {
    table: Table,
    seat: u32,
}

/// Something that is decided on what was seen of the game: say how far, with [`Undecided::at`].
#[derive(Clone, Debug)]
#[must_use = "nothing is asked before it says what it was decided on, and is awaited"]
pub struct Undecided(Ask);

impl Undecided {
    /// Decided on this entry, the last that was seen: 1 before the first move.
    pub fn at(self, seq: u64) -> Ask {
        self.0.expecting(seq)
    }
}

impl Client {
    /// A game to be played.
    ///
    /// ```no_run
    /// # async fn play(client: plybook_client::Client, game_id: &str) -> Result<(), plybook_client::Error> {
    /// let table = client.table(game_id);
    /// let (ann, bob) = (table.seat(0), table.seat(1));
    /// let moved = ann.play("b2").at(1).await?;
    /// let answered = bob.play("a1").at(moved.event.seq).with_position().await?;
    /// println!("{:?}", answered.position);
    /// ann.resign().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A move that does not say what it was decided on does not compile:
    ///
    /// ```compile_fail,E0277
    /// # async fn play(table: plybook_client::Table) -> Result<(), plybook_client::Error> {
    /// table.seat(0).play("b2").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn table(&self, game_id: &str) -> Table {
        Table { client: self.clone(), game_id: game_id.to_owned() }
    }
}

impl Table {
    /// Its id.
    pub fn game_id(&self) -> &str {
        &self.game_id
    }

    /// A seat, from 0.
    pub fn seat(&self, seat: u32) -> Place {
        Place { table: self.clone(), seat }
    }

    /// How the game stands.
    pub async fn read(&self) -> Result<v1::Game, Error> {
        self.client.game(&self.game_id, None).await
    }

    /// How it stood at an entry.
    pub async fn read_at(&self, seq: u64) -> Result<v1::Game, Error> {
        self.client.game(&self.game_id, Some(seq)).await
    }

    /// Its entries after `after_seq` (0: from the beginning), and whatever comes, until it is closed.
    pub fn events(&self, after_seq: u64) -> Events {
        self.client.events(&self.game_id, after_seq)
    }

    /// All that the seat to move may do, and the head that it is of.
    pub async fn legal_actions(&self) -> Result<(u64, Vec<v1::LegalAction>), Error> {
        let (mut actions, mut page_token) = (Vec::new(), String::new());
        loop {
            let request = v1::ListLegalActionsRequest { game_id: self.game_id.clone(), page_size: 0, page_token };
            let page = self.client.list_legal_actions(request).await?;
            actions.extend(page.actions);
            if page.next_page_token.is_empty() {
                return Ok((page.head_seq, actions));
            }
            page_token = page.next_page_token;
        }
    }

    /// Closes the game, once it is finished, or where seats did not join in time.
    pub fn close(&self) -> Undecided {
        Undecided(self.ask(None, What::Close))
    }

    /// Ends it without a result, in the service's own name.
    pub fn abort(&self) -> Ask {
        self.ask(None, What::Abort)
    }

    /// Takes a seat out, in the service's own name.
    pub fn remove(&self, seat: u32) -> Ask {
        self.ask(Some(seat), What::Remove)
    }

    fn ask(&self, seat: Option<u32>, what: What) -> Ask {
        Ask::new(self.client.clone(), self.game_id.clone(), seat, what)
    }
}

impl Place {
    /// A move, in the ruleset's notation.
    pub fn play(&self, notation: &str) -> Undecided {
        self.act(v1::Action { shape: Some(v1::action::Shape::Notation(notation.to_owned())) })
    }

    /// A move, as a shape such as those of [`Table::legal_actions`].
    pub fn act(&self, action: v1::Action) -> Undecided {
        Undecided(self.ask(What::Move(action)))
    }

    /// The seat's latest standing move, and everything after it, taken back.
    pub fn undo(&self) -> Undecided {
        Undecided(self.ask(What::Undo(None)))
    }

    /// The move of this entry, and everything after it, taken back.
    pub fn undo_of(&self, seq: u64) -> Undecided {
        Undecided(self.ask(What::Undo(Some(seq))))
    }

    /// Leaves the game.
    pub fn resign(&self) -> Ask {
        self.ask(What::Resign)
    }

    /// Ends the game without a result, while there are few enough moves.
    pub fn abort(&self) -> Ask {
        self.ask(What::Abort)
    }

    /// Offers a draw.
    pub fn offer_draw(&self) -> Undecided {
        Undecided(self.ask(What::OfferDraw))
    }

    /// Answers the open offer of a draw, or withdraws it.
    pub fn answer_draw(&self, answer: v1::OfferAnswer) -> Undecided {
        Undecided(self.ask(What::AnswerDraw(answer)))
    }

    /// Offers to take back the move of an entry, and everything after it.
    pub fn offer_undo(&self, of: u64) -> Undecided {
        Undecided(self.ask(What::OfferUndo(of)))
    }

    /// Answers the open offer to take back the move of an entry, or withdraws it.
    pub fn answer_undo(&self, of: u64, answer: v1::OfferAnswer) -> Undecided {
        Undecided(self.ask(What::AnswerUndo(of, answer)))
    }

    /// Reports whether the seat's player is there.
    pub fn present(&self, present: bool) -> Ask {
        self.ask(What::Present(present))
    }

    /// Claims what the seat may while others are away.
    pub fn claim(&self, claim: v1::AbsenceClaim) -> Undecided {
        Undecided(self.ask(What::Claim(claim)))
    }

    fn ask(&self, what: What) -> Ask {
        self.table.ask(Some(self.seat), what)
    }
}
