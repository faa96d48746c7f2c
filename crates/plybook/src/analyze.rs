//! `plybook analyze`: what every legal action is worth, and who threatens what.
//!
//! Invariant: it plays nothing.

use clap::Args;
use plybook_proto::v1;
use serde_json::json;

use crate::advice;
use crate::link::Link;
use crate::screen::Screen;
use crate::words;

/// Least width of an action's name.
const WIDTH: usize = 8;

/// Flags of `plybook analyze`.
#[derive(Args, Debug)]
pub(crate) struct AnalyzeArgs {
    #[command(flatten)]
    link: Link,
    /// The game.
    game: String,
    /// After this entry instead of the last one.
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Nodes to spend; the server's own number where none is given.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    nodes: u64,
    /// At most so many actions, the best.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i32).range(1..))]
    actions: i32,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Asks, and tells.
pub(crate) async fn run(args: AnalyzeArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let request = v1::AnalyzePositionRequest { game_id: args.game.clone(), at_seq: args.at, nodes: args.nodes, max_actions: args.actions };
    let found = client.analyze_position(request).await?;
    let told = if args.json { object(&found).to_string() } else { in_words(&found, &client.game(&args.game, Some(found.head_seq)).await?) };
    Screen::new().say(told)?;
    Ok(())
}

fn object(found: &v1::AnalyzePositionResponse) -> serde_json::Value {
    let threat = |threat: &v1::Threat| json!({ "action": threat.notation, "cells": threat.cells });
    let of_seat = |of: &v1::SeatThreats| json!({ "seat": of.seat, "threats": of.threats.iter().map(threat).collect::<Vec<_>>() });
    json!({
        "head_seq": found.head_seq, "seat_to_move": found.seat_to_move, "exact": found.exact, "nodes": found.nodes,
        "left_out": found.left_out,
        "actions": found.actions.iter().map(advice::action_json).collect::<Vec<_>>(),
        "threats": found.threats.iter().map(of_seat).collect::<Vec<_>>(),
    })
}

/// The board with the scores on it, the actions best first, and the threats.
fn in_words(found: &v1::AnalyzePositionResponse, game: &v1::Game) -> String {
    let marks = words::marks(&game.seats);
    let mut lines: Vec<String> = advice::heat_map(game, &found.actions).into_iter().collect();
    let sure = if found.exact { "This is exact" } else { "As far as the nodes reach" };
    let seat = words::seat_name(found.seat_to_move, &marks);
    lines.push(format!("{seat} to move after entry {}. {sure}, {} nodes.", found.head_seq, found.nodes));
    let width = found.actions.iter().map(|action| action.notation.chars().count()).max().unwrap_or(0).max(WIDTH);
    for action in &found.actions {
        let score = action.score.as_ref().map_or_else(String::new, advice::score);
        lines.push(format!("  {:width$}  {score}", action.notation));
    }
    if found.left_out > 0 {
        lines.push(format!("  (and {} that are no better)", found.left_out));
    }
    lines.extend(advice::threats(&found.threats, &marks, usize::MAX));
    lines.join("\n")
}
