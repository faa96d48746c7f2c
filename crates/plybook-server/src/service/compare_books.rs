//! CompareBooks: where two books part, and where the games in them do.
//!
//! Invariant: both books are read in pages, side by side; a position is in the answer where the rules lead there
//! and it fits, and nothing else depends on the rules.

use plybook_core::compare::{BookPart, Comparison, Divergence, MovePart};
use plybook_core::{Header, Seq};
use plybook_proto::v1::{self, compared_book};
use plybook_store::{GameKey, StoredEntry};
use prost::Message as _;
use tonic::Request;

use crate::auth::{Caller, Rpc, authenticate};
use crate::limits::{PAGE_ENTRIES, REPLY_BYTES_MAX};
use crate::refusal::Refusal;
use crate::service::Service;
use crate::{replies, requests, telemetry};

/// What an answer takes besides its positions: two lines, and numbers.
const ROOM_FOR_THE_REST: usize = 16 * 1024;

pub(super) async fn answer(service: &Service, request: Request<v1::CompareBooksRequest>) -> Result<v1::CompareBooksResponse, Refusal> {
    let caller = authenticate(&request)?;
    let message = request.into_inner();
    let keys = [named(&caller, "left", message.left.as_ref())?, named(&caller, "right", message.right.as_ref())?];
    for key in keys {
        caller.may_see(Rpc::CompareBooks, key.game)?;
    }
    telemetry::record_game(keys[0].game);
    let Divergence { common, book, moves } = compare(service, keys).await?;
    let mut positions = Positions { service, keys, room: REPLY_BYTES_MAX - ROOM_FOR_THE_REST, left_out: false };
    let (equal, common_entries) = (book.is_none(), u64::from(common));
    let book = match book {
        Some(part) => Some(positions.book(part).await?),
        None => None,
    };
    let moves = match moves {
        Some(part) => Some(positions.moves(part).await?),
        None => None,
    };
    Ok(v1::CompareBooksResponse { equal, common_entries, book, moves, positions_left_out: positions.left_out })
}

fn named(caller: &Caller, side: &str, book: Option<&v1::ComparedBook>) -> Result<GameKey, Refusal> {
    match book.and_then(|book| book.book.as_ref()) {
        Some(compared_book::Book::GameId(id)) => match requests::game_id(id) {
            Err(Refusal::InvalidField { field, why }) => Err(Refusal::field(format!("{side}.{field}"), why)),
            id => Ok(caller.game(id?)),
        },
        None => Err(Refusal::field(side, "is required")),
    }
}

async fn compare(service: &Service, keys: [GameKey; 2]) -> Result<Divergence, Refusal> {
    let (left, right) = (header(service, keys[0]).await?, header(service, keys[1]).await?);
    let mut comparison = Comparison::begin(left, right);
    let mut ended = [false; 2];
    while ended != [true; 2] {
        let mut pages = [Vec::new(), Vec::new()];
        for side in 0..2 {
            // A book that has ended stays so, even if its game goes on meanwhile.
            if !ended[side] {
                pages[side] = service.games.store().entries(keys[side], comparison.at(), PAGE_ENTRIES).await?;
                ended[side] = pages[side].len() < PAGE_ENTRIES as usize;
            }
        }
        for at in 0..pages[0].len().max(pages[1].len()) {
            let followed = comparison.follow(line(&pages[0], at), line(&pages[1], at));
            followed.map_err(|error| Refusal::BookCorrupt { first_bad: error.seq, why: error.why })?;
        }
    }
    Ok(comparison.finish())
}

fn line(page: &[StoredEntry], at: usize) -> Option<&str> {
    page.get(at).map(|stored| stored.line.as_str())
}

async fn header(service: &Service, key: GameKey) -> Result<Header, Refusal> {
    let first = service.games.store().entries(key, Seq::ZERO, 1).await?;
    let first = first.first().ok_or(Refusal::GameNotFound)?;
    Header::parse(&first.line).map_err(|error| Refusal::BookCorrupt { first_bad: Seq::FIRST, why: error.to_string() })
}

/// The positions of an answer, while there is room.
struct Positions<'a> {
    service: &'a Service,
    keys: [GameKey; 2],
    room: usize,
    left_out: bool,
}

impl Positions<'_> {
    async fn book(&mut self, part: BookPart) -> Result<v1::BookDivergence, Refusal> {
        let BookPart { seq, lines: [left_line, right_line] } = part;
        let before = Seq(seq.0 - 1);
        Ok(v1::BookDivergence {
            seq: u64::from(seq.0),
            before: self.at(0, (before > Seq::ZERO).then_some(before)).await?,
            left: self.at(0, left_line.as_ref().map(|_| seq)).await?,
            right: self.at(1, right_line.as_ref().map(|_| seq)).await?,
            left_line,
            right_line,
        })
    }

    async fn moves(&mut self, part: MovePart) -> Result<v1::MoveDivergence, Refusal> {
        let MovePart { ply, before, at: [left, right] } = part;
        let number = |seq: Option<Seq>| seq.map(|seq| u64::from(seq.0));
        Ok(v1::MoveDivergence {
            ply,
            left_seq: number(left),
            right_seq: number(right),
            before: self.at(0, Some(before[0])).await?,
            left: self.at(0, left).await?,
            right: self.at(1, right).await?,
        })
    }

    /// The position after an entry; nothing where the rules do not lead there.
    async fn at(&mut self, side: usize, seq: Option<Seq>) -> Result<Option<v1::Position>, Refusal> {
        let Some(seq) = seq else { return Ok(None) };
        let position = match self.service.games.at(self.keys[side], seq).await {
            Ok((game, _)) => replies::position::of(&game),
            Err(
                Refusal::BookCorrupt { .. }
                | Refusal::EntryIllegalNow { .. }
                | Refusal::RulesetVersion { .. }
                | Refusal::UnknownRuleset { .. },
            ) => return Ok(None),
            Err(refusal) => return Err(refusal),
        };
        match self.room.checked_sub(position.encoded_len() + 16) {
            Some(room) => {
                self.room = room;
                Ok(Some(position))
            }
            None => {
                self.left_out = true;
                Ok(None)
            }
        }
    }
}
