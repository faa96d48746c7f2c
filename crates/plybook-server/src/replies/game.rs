//! Games, whole or as they stand in a list.

use plybook_core::entry::Body;
use plybook_core::game::State;
use plybook_core::header::{Place, SeedFrom, UndoBy, UndoPolicy};
use plybook_core::receipt::Signature;
use plybook_core::{Digest, Game, Header, Seat, Seed, Seq, Time};
use plybook_proto::v1;
use plybook_store::{Foreign, StoredEntry, Summary};

use crate::refusal::Refusal;
use crate::replies;

/// A game at its head, with its position, as it was when that entry was written. `seed` is given once the game is
/// closed.
pub fn whole(game: &Game, seed: Option<&Seed>) -> v1::Game {
    whole_at(game, seed, game.head().time)
}

/// The same as it is at `now`.
pub fn whole_at(game: &Game, seed: Option<&Seed>, now: Time) -> v1::Game {
    let head = game.head();
    let whole = v1::Game {
        state: state(game.state()).into(),
        seat_to_move: game.to_move().map(replies::seat),
        outcome: game.outcome().map(replies::outcome),
        position: Some(replies::position::of(game)),
        joining: game.waits_for().map(replies::joining::joining),
        revealed_seed: seed.map_or_else(Vec::new, |seed| seed.reveal().to_vec()),
        ..frame(game.header(), head.seq, head.digest)
    };
    replies::living::with(whole, game, now)
}

/// A game at its head as it stands in a list, with its deadline.
pub fn brief(game: &Game) -> v1::Game {
    let head = game.head();
    v1::Game {
        state: state(game.state()).into(),
        seat_to_move: game.to_move().map(replies::seat),
        outcome: game.outcome().map(replies::outcome),
        deadline: replies::living::deadline(game),
        ..frame(game.header(), head.seq, head.digest)
    }
}

/// A game in a list.
pub fn listed(summary: &Summary) -> Result<v1::Game, Refusal> {
    let corrupt = |first_bad: Seq, why: String| Refusal::BookCorrupt { first_bad, why };
    let (Some(first), Some(last)) = (&summary.header, &summary.last) else {
        return Err(corrupt(Seq::FIRST, "it is missing".to_owned()));
    };
    let header = Header::parse(&first.line).map_err(|error| corrupt(Seq::FIRST, error.to_string()))?;
    let mut game = frame(&header, last.seq, last.digest);
    game.foreign = summary.foreign.as_ref().map(foreign);
    game.state = state(summary.state).into();
    if last.seq == Seq::FIRST {
        game.seat_to_move = replies::event::first_seat(&header).map(replies::seat);
        return Ok(game);
    }
    let read = |stored: &StoredEntry| header.read_entry(&stored.line).map_err(|error| corrupt(stored.seq, error.why));
    let entry = read(last)?;
    game.seat_to_move = replies::event::next_seat(&header, &entry).map(replies::seat);
    game.revealed_seed = entry.seed.as_ref().map_or_else(Vec::new, |seed| seed.reveal().to_vec());
    // Where talk of an undo stands between the end and the last entry, that does not tell how the game ended.
    game.outcome = match (&entry.body, &summary.before_last) {
        (Body::Close, Some(ending)) => read(ending)?.outcome().map(replies::outcome),
        (Body::Close, None) => return Err(corrupt(Seq(last.seq.0 - 1), "it is missing".to_owned())),
        _ => entry.outcome().map(replies::outcome),
    };
    Ok(game)
}

/// A game in a list whose book cannot be read.
pub fn unreadable(summary: &Summary) -> v1::Game {
    let foreign = summary.foreign.as_ref().map(foreign);
    v1::Game { game_id: summary.game.to_string(), state: state(summary.state).into(), foreign, ..v1::Game::default() }
}

/// What is kept beside an imported book.
pub fn foreign(foreign: &Foreign) -> v1::Foreign {
    let key_id = foreign.signature.as_deref().and_then(Signature::parse).map(|signature| signature.key_id);
    v1::Foreign {
        import_time: Some(replies::time(foreign.imported)),
        imported_by: foreign.by.clone(),
        key_id: key_id.map_or_else(String::new, |id| id.to_string()),
    }
}

fn frame(header: &Header, seq: Seq, digest: Digest) -> v1::Game {
    v1::Game {
        game_id: header.game.to_string(),
        ruleset: Some(replies::ruleset::spec(&header.ruleset, &header.params)),
        seats: seats(header),
        create_time: Some(replies::time(header.created)),
        seq: u64::from(seq.0),
        book_digest: digest.0.to_vec(),
        seed_commitment: header.commitment.0.to_vec(),
        seed_from_caller: header.seed_from == SeedFrom::Caller,
        undo_policy: Some(undo_policy(header.undo)),
        joint_entropy: replies::joining::joint(header),
        receipt_policy: replies::joining::receipts(header.receipts).into(),
        origin: replies::joining::origin(header),
        terms: replies::terms::terms(header),
        rematch_of: replies::terms::rematch_of(header),
        ..v1::Game::default()
    }
}

/// The seats of a header.
pub fn seats(header: &Header) -> Vec<v1::Seat> {
    let seat = |(seat, place): (u8, &Place)| v1::Seat {
        player_id: place.player.clone(),
        mark: place.mark.clone(),
        bot: header.terms.bot(Seat(seat)).map(replies::terms::bot),
    };
    (0..).zip(&header.seats).map(seat).collect()
}

/// What may be taken back.
pub fn undo_policy(policy: UndoPolicy) -> v1::UndoPolicy {
    let by = match policy.by {
        UndoBy::None => v1::UndoBy::None,
        UndoBy::OwnLastMove => v1::UndoBy::OwnLastMove,
        UndoBy::Agreement => v1::UndoBy::Agreement,
        UndoBy::Free => v1::UndoBy::Free,
    };
    v1::UndoPolicy { by: by.into(), over_throw: policy.over_throw, after_end: policy.after_end }
}

const fn state(state: State) -> v1::GameState {
    match state {
        State::Active => v1::GameState::Active,
        State::Finished => v1::GameState::Finished,
        State::Closed => v1::GameState::Closed,
    }
}
