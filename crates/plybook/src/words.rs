//! Refusals and outcomes in words.
//!
//! Invariant: every sentence names the reason, and the rule where there is one, so that a person can
//! look it up and a script can match it.

mod happened;
pub(crate) mod left;
mod standing;

pub(crate) use happened::{happened, open_offer, told};
use plybook_client::Refused;
use plybook_core::game::WhyLeft;
use plybook_proto::v1;
use plybook_proto::v1::ErrorReason;
use prost_types::Timestamp;
pub(crate) use standing::{standing, with_nodes};

/// A refusal, with what to do about it.
pub(crate) fn refusal(refused: &Refused, marks: &[String]) -> String {
    let mut codes = vec![if refused.reason.is_empty() { format!("{:?}", refused.code) } else { refused.reason.clone() }];
    codes.extend(["rule", "cause"].iter().filter_map(|key| refused.metadata.get(*key).cloned()));
    let message = sentence(refused);
    let mut text = format!("Refused: {message} [{}]", codes.join(", "));
    if let Some(hint) = hint(refused, marks) {
        text.push_str(&format!("\n{hint}"));
    }
    text
}

fn sentence(refused: &Refused) -> String {
    let fields: Vec<String> = refused.fields.iter().map(|(field, why)| format!("{field}: {why}")).collect();
    if refused.message.is_empty() || refused.fields.iter().any(|(_, why)| !refused.message.contains(why.as_str())) {
        let parts = [refused.message.clone(), fields.join("; ")];
        return parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
    }
    refused.message.clone()
}

fn hint(refused: &Refused, marks: &[String]) -> Option<String> {
    if refused.is(ErrorReason::NotYourTurn) {
        let seat = refused.number("seat_to_move")?;
        return Some(format!("It is the turn of {}.", seat_name(u32::try_from(seat).ok()?, marks)));
    }
    if refused.is(ErrorReason::OfferNotAllowed) {
        return match refused.metadata.get("cause").map(String::as_str) {
            Some("NOBODY_TO_ANSWER") => Some("Bots agree to nothing; a game against them is given up with \"resign\".".to_owned()),
            Some("REPEATED") => Some("It was offered already, and the position has not changed since.".to_owned()),
            Some("NOT_OPEN") => Some("Nothing is offered that waits for an answer.".to_owned()),
            _ => None,
        };
    }
    let known = [
        (ErrorReason::IllegalMove, "Type \"legal\" for what may be played."),
        (ErrorReason::InvalidAction, "Type \"legal\" for what may be played, \"help\" for the commands."),
        (ErrorReason::StaleSeq, "The game went on meanwhile; this is how it stands now."),
        (ErrorReason::GameFinished, "The game is over."),
        (ErrorReason::AbortNotAllowed, "A game that goes on is left with \"resign\"."),
        (ErrorReason::GameNotOver, "There is a rematch once the game is over."),
        (ErrorReason::NotJoined, "Seats that have not joined in time are absent; then \"close\" ends the game."),
    ];
    if refused.is(ErrorReason::UndoNotAllowed) {
        return match refused.metadata.get("cause").map(String::as_str) {
            Some("POLICY") => Some("This game was created with a policy that does not allow it.".to_owned()),
            Some("NOT_YOUR_MOVE") => Some("Only one's own last move can be taken back, until it is answered.".to_owned()),
            Some("CHANCE_REVEALED") => Some("The dice have been seen.".to_owned()),
            _ => None,
        };
    }
    known.iter().find(|(reason, _)| refused.is(*reason)).map(|(_, hint)| (*hint).to_owned())
}

/// `X`, or the seat's number where the mark is not known.
pub(crate) fn seat_name(seat: u32, marks: &[String]) -> String {
    marks.get(seat as usize).cloned().unwrap_or_else(|| format!("seat {seat}"))
}

/// Who won and why.
pub(crate) fn outcome(outcome: &v1::Outcome, marks: &[String]) -> String {
    let why = outcome.reason.replace('_', " ");
    let winners: Vec<String> = outcome.winners.iter().map(|seat| seat_name(*seat, marks)).collect();
    match winners.as_slice() {
        [] if outcome.no_result => format!("No result: {why}."),
        [] => format!("A draw: {why}."),
        [one] => format!("{one} wins: {why}."),
        several => format!("{} win together: {why}.", several.join(" and ")),
    }
}

/// Whom the game waits for before its first move.
pub(crate) fn joining(joining: &v1::Joining, marks: &[String]) -> String {
    let waiting = seat_names(&joining.waiting_seats, marks);
    let what = match joining.step() {
        v1::JoinStep::Reveal if joining.waiting_seats.len() == 1 => "reveal its nonce",
        v1::JoinStep::Reveal => "reveal their nonces",
        v1::JoinStep::Commit | v1::JoinStep::Unspecified => "commit to a nonce",
    };
    let until = joining.deadline.as_ref().map_or_else(String::new, |deadline| format!(" until {}", time(Some(deadline))));
    format!("Waiting for {waiting} to {what}{until}.")
}

/// A moment as books have it; nothing where there is none.
pub(crate) fn time(time: Option<&Timestamp>) -> String {
    time.map_or_else(String::new, |time| {
        let unix_ms = time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000);
        plybook_core::Time::from_unix_ms(u64::try_from(unix_ms).unwrap_or_default()).to_string()
    })
}

/// Several seats by their marks.
pub(crate) fn seat_names(seats: &[u32], marks: &[String]) -> String {
    seats.iter().map(|seat| seat_name(*seat, marks)).collect::<Vec<_>>().join(" and ")
}

/// A seat with whoever plays it: `O (minimax)`, `X (ann)`.
pub(crate) fn seat_and_player(seat: u32, game: &v1::Game, marks: &[String]) -> String {
    let mark = seat_name(seat, marks);
    let Some(place) = game.seats.get(seat as usize) else { return mark };
    let bot = place.bot.as_ref().and_then(|bot| bot.strategy.as_ref()).map(|strategy| strategy.id.as_str());
    match Some(place.player_id.as_str()).filter(|player| !player.is_empty()).or(bot) {
        Some(player) => format!("{mark} ({player})"),
        None => mark,
    }
}

/// How a seat left, after its name.
pub(crate) const fn why_left(why: WhyLeft) -> &'static str {
    match why {
        WhyLeft::Resigned => "resigned",
        WhyLeft::Removed => "was removed",
        WhyLeft::Timeout => "ran out of time",
        WhyLeft::Absent => "was away for too long",
    }
}

/// The marks of a table.
pub(crate) fn marks(seats: &[v1::Seat]) -> Vec<String> {
    seats.iter().map(|seat| seat.mark.clone()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::collections::BTreeMap;

    use plybook_client::Code;

    use super::*;

    fn refused(reason: &str, message: &str, metadata: &[(&str, &str)]) -> Refused {
        let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>();
        Refused { reason: reason.into(), code: Code::FailedPrecondition, message: message.into(), metadata, fields: vec![] }
    }

    #[test]
    fn refusals_name_reason_and_rule() {
        let marks = ["X".to_owned(), "O".to_owned()];
        let told = refusal(&refused("ILLEGAL_MOVE", "b2 is taken", &[("rule", "CELL_OCCUPIED")]), &marks);
        assert_eq!(told, "Refused: b2 is taken [ILLEGAL_MOVE, CELL_OCCUPIED]\nType \"legal\" for what may be played.");
        let told = refusal(&refused("NOT_YOUR_TURN", "it is seat 1's turn", &[("seat_to_move", "1")]), &marks);
        assert!(told.ends_with("\nIt is the turn of O."), "{told}");
        let told = refusal(&refused("UNDO_NOT_ALLOWED", "dice were shown", &[("cause", "CHANCE_REVEALED")]), &marks);
        assert!(told.contains("[UNDO_NOT_ALLOWED, CHANCE_REVEALED]\nThe dice"), "{told}");
    }

    #[test]
    fn outcomes_name_everybody_who_won() {
        let marks = ["X".to_owned(), "O".to_owned(), "A".to_owned()];
        let told = |winners: &[u32]| {
            outcome(&v1::Outcome { winners: winners.into(), cells: vec![], reason: "board_full".into(), no_result: false }, &marks)
        };
        assert_eq!(told(&[]), "A draw: board full.");
        assert_eq!(told(&[1]), "O wins: board full.");
        assert_eq!(told(&[0, 2]), "X and A win together: board full.");
    }
}
