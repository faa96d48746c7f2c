//! A hint: what the strongest strategy would play, and who threatens to win where.
//!
//! Invariant: it plays nothing.

use plybook_client::{Client, Error};
use plybook_proto::v1;

use crate::drawing::{self, Look, Notation};
use crate::{advice, suggest, words};

/// Threats are seen at once; what actions are worth is the suggestion's to say.
const THREAT_NODES: u64 = 1_000;
/// Most threats of a seat that are named.
const NAMED_MAX: usize = 8;

/// Asks for the seat to move, and tells.
pub(super) async fn ask(client: &Client, game: &v1::Game, notation: Notation) -> Result<String, Error> {
    let (game_id, at_seq) = (game.game_id.clone(), Some(game.seq));
    let request = v1::AnalyzePositionRequest { game_id: game_id.clone(), at_seq, nodes: THREAT_NODES, max_actions: 0 };
    let analysis = client.analyze_position(request).await?;
    let found = client.suggest_move(v1::SuggestMoveRequest { game_id, at_seq, ..Default::default() }).await?;
    let best = found.suggestion.as_ref().map_or(&[][..], |suggestion| suggestion.cells.as_slice());
    let threats = advice::threats(&analysis.threats, &words::marks(&game.seats), NAMED_MAX);
    let map = map(game, notation, &analysis.threats, best).filter(|_| !threats.is_empty());
    let told = map.into_iter().chain(threats).chain([format!("{}.", suggest::sentence(&found, game))]);
    Ok(told.collect::<Vec<_>>().join("\n"))
}

/// The board, with `X!` on a vacant cell where X would win at once, and the suggestion in brackets.
fn map(game: &v1::Game, notation: Notation, threats: &[v1::SeatThreats], best: &[u32]) -> Option<String> {
    let marks = words::marks(&game.seats);
    let cells = |seat: &v1::SeatThreats| seat.threats.iter().flat_map(|threat| threat.cells.clone()).collect::<Vec<_>>();
    let notes = threats.iter().flat_map(|seat| {
        let note = format!("{}!", words::seat_name(seat.seat, &marks));
        cells(seat).into_iter().map(move |cell| (cell, note.clone()))
    });
    Some(drawing::draw_with(game.position.as_ref()?, Look { marks: &marks, notation, bright: best }, notes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use plybook_core::grid::RowOne;

    use super::*;
    use crate::drawing::notes::tests::small_game;

    #[test]
    fn threats_stand_on_vacant_cells() {
        let threat = |cells: &[u32], notation: &str| v1::Threat { cells: cells.into(), notation: notation.into(), action: None };
        let by_seat = [
            v1::SeatThreats { seat: 0, threats: vec![threat(&[1], "b2"), threat(&[1], "b2^"), threat(&[0], "a2")] },
            v1::SeatThreats { seat: 1, threats: vec![threat(&[1], "b2"), threat(&[5], "c1")] },
        ];
        let drawn = map(&small_game(0), Notation::Cells(RowOne::Bottom), &by_seat, &[1]).unwrap();
        assert_eq!(drawn, "2   X   [X!O!]  .\n1   .     .     O!\n    a     b     c");
        let told = advice::threats(&by_seat, &["X".to_owned(), "O".to_owned()], 2);
        assert_eq!(told, ["X would win at once with b2, b2^ and more.", "O would win at once with b2, c1."]);
    }
}
