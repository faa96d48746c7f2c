//! Something that is asked of a game, and appends to its book.

use std::future::IntoFuture;
use std::pin::Pin;

use plybook_proto::v1;

use crate::client::Client;
use crate::error::Error;

/// What is asked for; await it to have it done.
#[derive(Clone, Debug)]
#[must_use = "nothing is asked before it is awaited"]
pub struct Ask {
    client: Client,
    game_id: String,
    request_id: String,
    seat: Option<u32>,
    expected_seq: Option<u64>,
    what: What,
    with_position: bool,
    with_receipt: bool,
}

/// What was appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The entry.
    pub event: v1::Event,
    /// The position after it, if it was asked for.
    pub position: Option<v1::Position>,
    /// Signed, if it was asked for or is the game's policy.
    pub receipt: Option<v1::Receipt>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Move(v1::Action),
    Undo(Option<u64>),
    Resign,
    Abort,
    Remove,
    OfferDraw,
    AnswerDraw(v1::OfferAnswer),
    OfferUndo(u64),
    AnswerUndo(u64, v1::OfferAnswer),
    Present(bool),
    Claim(v1::AbsenceClaim),
    Close,
}

/// Builds a request of the fields that it names, sends it, and takes the answer apart.
macro_rules! send {
    ($self:ident, $call:ident, $request:ident { $($field:ident $(: $value:expr)?),* } $($position:ident)?) => {{
        let request = v1::$request { request_id: $self.request_id, game_id: $self.game_id, with_receipt: $self.with_receipt, $($field $(: $value)?),* };
        let answer = $self.client.$call(request).await?;
        (answer.event, None $(.or(answer.$position))?, answer.receipt)
    }};
}

impl Ask {
    pub(super) const fn new(client: Client, game_id: String, seat: Option<u32>, what: What) -> Ask {
        let request_id = String::new();
        Ask { client, game_id, request_id, seat, expected_seq: None, what, with_position: false, with_receipt: false }
    }

    pub(super) fn expecting(mut self, seq: u64) -> Ask {
        self.expected_seq = Some(seq);
        self
    }

    /// And the position after it, of a move or an undo.
    pub fn with_position(mut self) -> Ask {
        self.with_position = true;
        self
    }

    /// And a receipt for it.
    pub fn with_receipt(mut self) -> Ask {
        self.with_receipt = true;
        self
    }

    /// Under this id, such as that of an earlier process which did not learn what came of it.
    pub fn request_id(mut self, id: &str) -> Ask {
        self.request_id = id.to_owned();
        self
    }

    async fn send(self) -> Result<Done, Error> {
        let Ask { seat, expected_seq, with_position, .. } = self;
        let (event, position, receipt) = match self.what {
            What::Move(action) => {
                send!(self, make_move, MakeMoveRequest { expected_seq, seat, action: Some(action), with_position } position)
            }
            What::Undo(target_seq) => send!(self, undo, UndoRequest { expected_seq, seat, target_seq, with_position } position),
            What::Resign => send!(self, resign, ResignRequest { seat }),
            What::Abort => send!(self, abort_game, AbortGameRequest { seat }),
            What::Remove => send!(self, remove_seat, RemoveSeatRequest { seat }),
            What::OfferDraw => send!(self, offer_draw, OfferDrawRequest { expected_seq, seat }),
            What::AnswerDraw(answer) => send!(self, answer_draw, AnswerDrawRequest { expected_seq, seat, answer: answer.into() }),
            What::OfferUndo(target) => send!(self, offer_undo, OfferUndoRequest { expected_seq, seat, target_seq: Some(target) }),
            What::AnswerUndo(target, answer) => {
                let (target_seq, answer) = (Some(target), answer.into());
                send!(self, answer_undo, AnswerUndoRequest { expected_seq, seat, target_seq, answer, with_position } position)
            }
            What::Present(present) => send!(self, report_presence, ReportPresenceRequest { seat, present }),
            What::Claim(claim) => send!(self, claim_absence, ClaimAbsenceRequest { expected_seq, seat, claim: claim.into() }),
            What::Close => send!(self, close_game, CloseGameRequest { expected_seq }),
        };
        Ok(Done { event: *event.unwrap_or_default(), position: position.map(|boxed| *boxed), receipt: receipt.map(|boxed| *boxed) })
    }
}

impl IntoFuture for Ask {
    type Output = Result<Done, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<Done, Error>> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
