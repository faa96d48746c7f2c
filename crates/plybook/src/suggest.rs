//! `plybook suggest`: what a strategy would play.
//!
//! Invariant: it plays nothing.

use clap::Args;
use plybook_proto::v1;
use serde_json::json;

use crate::advice;
use crate::exit::usage;
use crate::link::Link;
use crate::screen::Screen;
use crate::words;

/// Flags of `plybook suggest`.
#[derive(Args, Debug)]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    link: Link,
    /// The game.
    #[arg(required_unless_present = "list")]
    game: Option<String>,
    /// After this entry instead of the last one.
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
    /// Who chooses, such as mcts or mcts@1; the strongest that plays the game where nobody is named.
    #[arg(long, value_name = "NAME[@VERSION]")]
    strategy: Option<String>,
    /// Nodes to spend; the strategy's own number where none is given.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    nodes: u64,
    /// List the strategies of the server instead.
    #[arg(long, conflicts_with_all = ["game", "at", "strategy", "nodes"])]
    list: bool,
    /// Print JSON: one object, with --list one a line.
    #[arg(long)]
    json: bool,
}

/// Asks, and tells.
pub(crate) async fn run(args: SuggestArgs) -> anyhow::Result<()> {
    let client = args.link.client()?;
    let Some(game_id) = args.game else {
        let strategies = client.strategies().await?;
        Screen::new().say(if args.json { objects(&strategies) } else { table(&strategies) })?;
        return Ok(());
    };
    let strategy = args.strategy.as_deref().map(|text| spec("--strategy", text)).transpose().map_err(usage)?;
    let request = v1::SuggestMoveRequest { game_id: game_id.clone(), at_seq: args.at, strategy, nodes: args.nodes };
    let found = client.suggest_move(request).await?;
    let told = if args.json { object(&found).to_string() } else { sentence(&found, &client.game(&game_id, Some(found.head_seq)).await?) };
    Screen::new().say(told)?;
    Ok(())
}

/// Reads `mcts@1`, or `mcts` for the newest, as a flag has it.
pub(crate) fn spec(flag: &str, text: &str) -> Result<v1::StrategySpec, String> {
    let (id, version) = text.split_once('@').unwrap_or((text, "0"));
    let version = version.parse().ok().filter(|version| *version > 0 || !text.contains('@'));
    let version = version.filter(|_| !id.is_empty()).ok_or_else(|| format!("{flag}: {text:?} is not of the form NAME or NAME@VERSION"))?;
    Ok(v1::StrategySpec { id: id.to_owned(), version })
}

fn name(strategy: Option<&v1::StrategySpec>) -> String {
    strategy.map_or_else(String::new, |spec| format!("{}@{}", spec.id, spec.version))
}

fn object(found: &v1::SuggestMoveResponse) -> serde_json::Value {
    let mut object = json!({
        "head_seq": found.head_seq, "seat_to_move": found.seat_to_move, "strategy": name(found.strategy.as_ref()), "nodes": found.nodes,
    });
    if let (Some(object), Some(suggestion)) = (object.as_object_mut(), &found.suggestion) {
        object.extend(advice::action_json(suggestion).as_object().cloned().unwrap_or_default());
    }
    object
}

/// What was found, without a full stop.
pub(crate) fn sentence(found: &v1::SuggestMoveResponse, game: &v1::Game) -> String {
    let seat = words::seat_name(found.seat_to_move, &words::marks(&game.seats));
    let suggestion = found.suggestion.clone().unwrap_or_default();
    let score = suggestion.score.as_ref().map_or_else(String::new, advice::score);
    let by = name(found.strategy.as_ref());
    format!("{seat} might play {}: {score} ({by} after entry {}, {} nodes)", suggestion.notation, found.head_seq, found.nodes)
}

fn objects(strategies: &[v1::Strategy]) -> String {
    let object = |one: &v1::Strategy| {
        json!({
            "id": one.id, "version": one.version, "title": one.title, "default_nodes": one.default_nodes, "most_nodes": one.most_nodes,
            "ruleset_ids": one.ruleset_ids, "is_default": one.is_default,
        })
    };
    strategies.iter().map(|one| object(one).to_string()).collect::<Vec<_>>().join("\n")
}

fn table(strategies: &[v1::Strategy]) -> String {
    let row = |one: &v1::Strategy| {
        let plays = if one.ruleset_ids.is_empty() { "every game".to_owned() } else { one.ruleset_ids.join(", ") };
        let nodes = format!("{} to {}", one.default_nodes, one.most_nodes);
        format!("{:14}{:22}{}; {plays}", format!("{}@{}", one.id, one.version), nodes, one.title)
    };
    let head = format!("{:14}{:22}{}", "STRATEGY", "NODES", "WHAT IT DOES, AND WHAT IT PLAYS");
    [head].into_iter().chain(strategies.iter().map(row)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::spec;

    #[test]
    fn strategies_are_named_with_or_without_a_version() {
        let read = |text: &str| spec("--bot", text).ok().map(|spec| (spec.id, spec.version));
        assert_eq!(read("mcts"), Some(("mcts".to_owned(), 0)));
        assert_eq!(read("mcts@2"), Some(("mcts".to_owned(), 2)));
        for bad in ["", "@1", "mcts@", "mcts@0", "mcts@x", "mcts@1@2", "mcts@-1"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
