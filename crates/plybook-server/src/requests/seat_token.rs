//! The shape of a MintSeatToken.

use std::time::Duration;

use plybook_core::Seat;
use plybook_proto::v1;
use plybook_proto::v1::mint_seat_token_request as asked;
use uuid::Uuid;

use crate::limits::SEAT_TOKEN_TTL_DEFAULT;
use crate::refusal::Refusal;
use crate::requests::{game_id, seat_numbered};

/// Who will have a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The player at a seat.
    Seat(Seat),
    /// Somebody who watches.
    Spectator,
}

/// A token to be minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mint {
    /// Of which game.
    pub game: Uuid,
    /// For whom.
    pub holder: Holder,
    /// For how long, in whole seconds.
    pub ttl: Duration,
}

/// The shape of a MintSeatToken, where a token may hold so long.
pub fn mint(message: &v1::MintSeatTokenRequest, most: Duration) -> Result<Mint, Refusal> {
    let game = game_id(&message.game_id)?;
    let holder = match message.holder {
        Some(asked::Holder::Seat(seat)) => Holder::Seat(seat_numbered(seat)?),
        Some(asked::Holder::Spectator(true)) => Holder::Spectator,
        Some(asked::Holder::Spectator(false)) => return Err(Refusal::field("spectator", "is true where it is set")),
        None => return Err(Refusal::field("holder", "is required: a seat, or spectator")),
    };
    let ttl = match message.ttl {
        None => SEAT_TOKEN_TTL_DEFAULT.min(most),
        Some(ttl) => Duration::try_from(ttl).map_err(|_| Refusal::field("ttl", "is negative"))?,
    };
    if ttl < Duration::from_secs(1) {
        return Err(Refusal::field("ttl", "is less than a second"));
    }
    if ttl > most {
        return Err(Refusal::Limit { limit: "seat_token_ttl_seconds", most: most.as_secs() });
    }
    Ok(Mint { game, holder, ttl })
}
