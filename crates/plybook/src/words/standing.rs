//! How a game stands beside its board, in words: who moves and by whose hand, who has left, who is away, what is offered.
//!
//! Invariant: it is as of the entry at which the game was read.

use plybook_proto::v1;

use super::{open_offer, outcome, seat_name, time};

/// One line each, the turn or the end first; of joining, nothing.
pub(crate) fn standing(game: &v1::Game, marks: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = turn(game, marks).into_iter().collect();
    lines.extend(game.left_seats.iter().map(|left| format!("{} {} (entry {}).", seat_name(left.seat, marks), why_left(left), left.seq)));
    if game.state() == v1::GameState::Closed {
        return lines;
    }
    lines.extend(game.away_seats.iter().filter(|_| game.outcome.is_none()).map(|away| absence(away, marks)));
    let over = |offer: &&v1::Offer| game.outcome.is_some() && offer.kind() != v1::OfferKind::Undo;
    lines.extend(game.offers.iter().filter(|offer| !over(offer)).map(|offer| open_offer(offer, marks)));
    if let Some(deadline) = game.deadline.filter(|deadline| deadline.kind() == v1::DeadlineKind::Reopening) {
        lines.push(format!("It may be reopened until {}.", time(deadline.time.as_ref())));
    }
    lines
}

fn turn(game: &v1::Game, marks: &[String]) -> Option<String> {
    if let Some(ended) = &game.outcome {
        return Some(outcome(ended, marks));
    }
    let name = seat_name(game.seat_to_move?, marks);
    let Some(turn) = &game.bot_turn else { return Some(format!("{name} to move.")) };
    let bot = turn.bot.as_ref().map_or_else(String::new, strategy);
    Some(match turn.stands_in {
        true => format!("{name} to move: the fallback, {bot}, moves instead."),
        false => format!("{name} to move: its bot, {bot}."),
    })
}

fn strategy(bot: &v1::Bot) -> String {
    let (id, version) = bot.strategy.as_ref().map_or_else(Default::default, |spec| (spec.id.as_str(), spec.version));
    with_nodes(id, version, bot.nodes)
}

/// `minimax@1 with 20000 nodes`.
pub(crate) fn with_nodes(strategy: &str, version: u32, nodes: u64) -> String {
    format!("{strategy}@{version} with {nodes} {}", if nodes == 1 { "node" } else { "nodes" })
}

fn absence(away: &v1::AwaySeat, marks: &[String]) -> String {
    let grace = match &away.grace_until {
        Some(until) => format!("and has until {} to come back", time(Some(until))),
        None => "and nobody is there to wait".to_owned(),
    };
    format!("{} is away since {}, {grace}.", seat_name(away.seat, marks), time(away.away_since.as_ref()))
}

fn why_left(left: &v1::LeftSeat) -> &'static str {
    match left.because() {
        v1::LeftBecause::Resigned => "resigned",
        v1::LeftBecause::Removed => "was removed",
        v1::LeftBecause::Timeout => "ran out of time",
        v1::LeftBecause::Absent => "was away for too long",
        v1::LeftBecause::Unspecified => "left",
    }
}
