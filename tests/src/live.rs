//! What is asked of a live game besides moves: leaving, offers, presence, claims; and terms to create one with.
//!
//! Invariant: a request has a fresh id and is decided on what its player has seen, unless a test says otherwise.

use plybook_proto::v1;
use tonic::Status;

use crate::refused::Refused;
use crate::wire::{Opening, PlayedGame, Wire, fresh};

/// A request that appends something which is no move.
#[derive(Clone, Debug)]
pub enum Live {
    /// Resign.
    Resign(v1::ResignRequest),
    /// AbortGame.
    Abort(v1::AbortGameRequest),
    /// RemoveSeat.
    Remove(v1::RemoveSeatRequest),
    /// OfferDraw.
    OfferDraw(v1::OfferDrawRequest),
    /// AnswerDraw.
    AnswerDraw(v1::AnswerDrawRequest),
    /// OfferUndo.
    OfferUndo(v1::OfferUndoRequest),
    /// AnswerUndo.
    AnswerUndo(v1::AnswerUndoRequest),
    /// ReportPresence.
    Presence(v1::ReportPresenceRequest),
    /// ClaimAbsence.
    Claim(v1::ClaimAbsenceRequest),
}

/// Changes the same field of whichever request it is.
macro_rules! each {
    ($live:expr, $request:ident => $with:expr) => {
        match $live {
            Live::Resign($request) => $with,
            Live::Abort($request) => $with,
            Live::Remove($request) => $with,
            Live::OfferDraw($request) => $with,
            Live::AnswerDraw($request) => $with,
            Live::OfferUndo($request) => $with,
            Live::AnswerUndo($request) => $with,
            Live::Presence($request) => $with,
            Live::Claim($request) => $with,
        }
    };
}

impl Live {
    /// With this request id.
    #[must_use]
    pub fn id(mut self, id: &str) -> Live {
        each!(&mut self, request => request.request_id = id.to_owned());
        self
    }

    /// To this game.
    #[must_use]
    pub fn game(mut self, id: &str) -> Live {
        each!(&mut self, request => request.game_id = id.to_owned());
        self
    }

    /// By this seat, or by none.
    #[must_use]
    pub fn seat(mut self, seat: Option<u32>) -> Live {
        each!(&mut self, request => request.seat = seat);
        self
    }

    /// Its answer carries a receipt.
    #[must_use]
    pub fn with_receipt(mut self) -> Live {
        each!(&mut self, request => request.with_receipt = true);
        self
    }

    /// Decided on this entry, or on none; only where the request expects one.
    #[must_use]
    pub fn expecting(mut self, seq: Option<u64>) -> Live {
        match &mut self {
            Live::OfferDraw(request) => request.expected_seq = seq,
            Live::AnswerDraw(request) => request.expected_seq = seq,
            Live::OfferUndo(request) => request.expected_seq = seq,
            Live::AnswerUndo(request) => request.expected_seq = seq,
            Live::Claim(request) => request.expected_seq = seq,
            Live::Resign(_) | Live::Abort(_) | Live::Remove(_) | Live::Presence(_) => panic!("{self:?} expects no entry"),
        }
        self
    }
}

impl Wire {
    /// Sends it. Nothing where nothing was appended.
    pub async fn asks(&self, live: Live) -> Result<(Option<v1::Event>, Option<v1::Receipt>), Status> {
        let mut games = self.games();
        macro_rules! send {
            ($rpc:ident, $request:expr) => {{
                let answer = games.$rpc($request).await?.into_inner();
                (answer.event.map(|boxed| *boxed), answer.receipt.map(|boxed| *boxed))
            }};
        }
        Ok(match live {
            Live::Resign(request) => send!(resign, request),
            Live::Abort(request) => send!(abort_game, request),
            Live::Remove(request) => send!(remove_seat, request),
            Live::OfferDraw(request) => send!(offer_draw, request),
            Live::AnswerDraw(request) => send!(answer_draw, request),
            Live::OfferUndo(request) => send!(offer_undo, request),
            Live::AnswerUndo(request) => send!(answer_undo, request),
            Live::Presence(request) => send!(report_presence, request),
            Live::Claim(request) => send!(claim_absence, request),
        })
    }

    /// The rematch of a game, or the refusal.
    pub async fn rematch(&self, id: &str) -> Result<v1::Game, Status> {
        let request = v1::RematchRequest { game_id: id.to_owned(), with_receipt: false };
        self.games().rematch(request).await.map(|answer| *answer.into_inner().game.unwrap())
    }
}

impl PlayedGame {
    /// A seat would leave.
    pub fn resigning(&self, seat: u32) -> Live {
        Live::Resign(v1::ResignRequest { request_id: fresh(), game_id: self.id.clone(), seat: Some(seat), with_receipt: false })
    }

    /// A seat, or nobody at the table, would abort the game.
    pub fn aborting(&self, seat: Option<u32>) -> Live {
        Live::Abort(v1::AbortGameRequest { request_id: fresh(), game_id: self.id.clone(), seat, with_receipt: false })
    }

    /// The caller would take a seat out.
    pub fn removing(&self, seat: u32) -> Live {
        Live::Remove(v1::RemoveSeatRequest { request_id: fresh(), game_id: self.id.clone(), seat: Some(seat), with_receipt: false })
    }

    /// A seat would offer a draw.
    pub fn offering_draw(&self, seat: u32) -> Live {
        let (request_id, game_id, expected_seq) = (fresh(), self.id.clone(), Some(self.head));
        Live::OfferDraw(v1::OfferDrawRequest { request_id, game_id, expected_seq, seat: Some(seat), with_receipt: false })
    }

    /// A seat would answer the offer of a draw.
    pub fn answering_draw(&self, seat: u32, answer: v1::OfferAnswer) -> Live {
        let (request_id, game_id, expected_seq) = (fresh(), self.id.clone(), Some(self.head));
        let (seat, answer) = (Some(seat), answer.into());
        Live::AnswerDraw(v1::AnswerDrawRequest { request_id, game_id, expected_seq, seat, answer, with_receipt: false })
    }

    /// A seat would offer to take a move back.
    pub fn offering_undo(&self, seat: u32, target: u64) -> Live {
        let (request_id, game_id, expected_seq) = (fresh(), self.id.clone(), Some(self.head));
        let (seat, target_seq) = (Some(seat), Some(target));
        Live::OfferUndo(v1::OfferUndoRequest { request_id, game_id, expected_seq, seat, target_seq, with_receipt: false })
    }

    /// A seat would answer the offer to take a move back.
    pub fn answering_undo(&self, seat: u32, target: u64, answer: v1::OfferAnswer) -> Live {
        Live::AnswerUndo(v1::AnswerUndoRequest {
            request_id: fresh(),
            game_id: self.id.clone(),
            expected_seq: Some(self.head),
            seat: Some(seat),
            target_seq: Some(target),
            answer: answer.into(),
            with_position: false,
            with_receipt: false,
        })
    }

    /// The caller would report a seat's presence.
    pub fn reporting(&self, seat: u32, present: bool) -> Live {
        let (request_id, game_id) = (fresh(), self.id.clone());
        Live::Presence(v1::ReportPresenceRequest { request_id, game_id, seat: Some(seat), present, with_receipt: false })
    }

    /// A seat would claim something.
    pub fn claiming(&self, seat: u32, claim: v1::AbsenceClaim) -> Live {
        let (request_id, game_id, expected_seq) = (fresh(), self.id.clone(), Some(self.head));
        let (seat, claim) = (Some(seat), claim.into());
        Live::Claim(v1::ClaimAbsenceRequest { request_id, game_id, expected_seq, seat, claim, with_receipt: false })
    }

    /// Sends it; it must append an entry, which is taken as seen.
    pub async fn acts(&mut self, live: Live) -> v1::Event {
        let told = format!("{live:?}");
        let (event, _) = self.wire.asks(live).await.unwrap_or_else(|status| panic!("{told} is refused: {status:?}"));
        self.sees(event.unwrap_or_else(|| panic!("{told} appends nothing")))
    }

    /// Sends it; it must be refused.
    pub async fn refuses_act(&self, live: Live) -> Refused {
        Refused::by(self.wire.asks(live).await)
    }
}

/// The event of a stream's frame, if it is one.
pub fn event_of(frame: v1::stream_events_response::Frame) -> Option<v1::Event> {
    match frame {
        v1::stream_events_response::Frame::Event(event) => Some(event),
        _ => None,
    }
}

/// So many milliseconds.
pub const fn ms(ms: i64) -> prost_types::Duration {
    prost_types::Duration { seconds: ms / 1_000, nanos: (ms % 1_000 * 1_000_000) as i32 }
}

/// A strategy in its newest version, with these nodes (0: its own default).
pub fn bot(strategy: &str, nodes: u64) -> v1::Bot {
    v1::Bot { strategy: Some(v1::StrategySpec { id: strategy.to_owned(), version: 0 }), nodes }
}

/// A stock that grows by an increment.
pub fn fischer(total_ms: i64, increment_ms: i64) -> v1::ClockPolicy {
    use v1::clock_policy::Pace;
    let pace = v1::FischerPace { total: Some(ms(total_ms)), increment: Some(ms(increment_ms)) };
    v1::ClockPolicy { pace: Some(Pace::Fischer(pace)), ..v1::ClockPolicy::default() }
}

/// So long for each move.
pub fn per_move(each_ms: i64) -> v1::ClockPolicy {
    v1::ClockPolicy { pace: Some(v1::clock_policy::Pace::PerMove(ms(each_ms))), ..v1::ClockPolicy::default() }
}

impl Opening {
    /// A seat is played by this bot.
    #[must_use]
    pub fn bot(mut self, seat: usize, bot: v1::Bot) -> Opening {
        self.request.seats[seat].bot = Some(bot);
        self
    }

    /// With terms changed like this.
    #[must_use]
    pub fn terms(mut self, change: impl FnOnce(&mut v1::Terms)) -> Opening {
        change(self.request.terms.get_or_insert_default());
        self
    }

    /// With this clock.
    #[must_use]
    pub fn clock(self, clock: v1::ClockPolicy) -> Opening {
        self.terms(|terms| terms.clock = Some(clock))
    }

    /// A seat may be away for so long.
    #[must_use]
    pub fn absence(self, grace_ms: i64, if_away: v1::IfAway) -> Opening {
        self.terms(|terms| terms.absence = Some(v1::AbsencePolicy { grace: Some(ms(grace_ms)), if_away: if_away.into() }))
    }
}
