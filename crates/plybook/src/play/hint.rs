//! A hint: what the strongest strategy would play, and who threatens to win where.
//!
//! Invariant: it plays nothing.

use plybook_client::{Client, Error};
use plybook_proto::v1;

use crate::drawing::{self, Look, Notation};
use crate::{suggest, words};

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
    let threats = threats(&analysis.threats, &words::marks(&game.seats));
    let map = map(game, notation, &analysis.threats, best).filter(|_| !threats.is_empty());
    let told = map.into_iter().chain(threats).chain([format!("{}.", suggest::sentence(&found, game))]);
    Ok(told.collect::<Vec<_>>().join("\n"))
}

fn threats(threats: &[v1::SeatThreats], marks: &[String]) -> Vec<String> {
    let told = |seat: &v1::SeatThreats| {
        let named: Vec<&str> = seat.threats.iter().take(NAMED_MAX).map(|threat| threat.notation.as_str()).collect();
        let more = if seat.threats.len() > NAMED_MAX { " and more" } else { "" };
        format!("{} would win at once with {}{more}.", words::seat_name(seat.seat, marks), named.join(", "))
    };
    threats.iter().filter(|seat| !seat.threats.is_empty()).map(told).collect()
}

/// The board, with `X!` on a vacant cell where X would win at once, and the suggestion in brackets.
fn map(game: &v1::Game, notation: Notation, threats: &[v1::SeatThreats], best: &[u32]) -> Option<String> {
    let mut position = game.position.clone()?;
    let layout = position.topology.as_ref().and_then(|topology| topology.layout.as_ref());
    if !matches!(layout, Some(v1::topology::Layout::Grid(_))) {
        return None;
    }
    let mut marks = words::marks(&game.seats);
    let seats = marks.len() as u32;
    marks.extend(marks.clone().iter().map(|mark| format!("{mark}!")));
    let vacant = |cell: &u32| game.position.iter().all(|position| position.cells.iter().all(|at| at.cell != *cell));
    for seat in threats {
        for cell in seat.threats.iter().flat_map(|threat| &threat.cells).filter(|cell| vacant(cell)) {
            let piece = v1::Piece { seat: seats + seat.seat, kind: String::new() };
            match position.cells.iter_mut().find(|at| at.cell == *cell) {
                Some(at) if at.pieces.contains(&piece) => {}
                Some(at) => at.pieces.push(piece),
                None => position.cells.push(v1::OccupiedCell { cell: *cell, pieces: vec![piece] }),
            }
        }
    }
    Some(drawing::draw(&position, Look { marks: &marks, notation, bright: best }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use plybook_core::grid::RowOne;

    use super::*;

    #[test]
    fn threats_stand_on_vacant_cells() {
        let layout = v1::topology::Layout::Grid(v1::Grid { width: 3, height: 2 });
        let pieces = vec![v1::Piece { seat: 0, kind: "stone".into() }];
        let position = v1::Position {
            topology: Some(v1::Topology { layout: Some(layout), jumps: vec![] }),
            cells: vec![v1::OccupiedCell { cell: 0, pieces }],
            ..v1::Position::default()
        };
        let seat = |mark: &str| v1::Seat { mark: mark.into(), ..v1::Seat::default() };
        let game = v1::Game { position: Some(position), seats: vec![seat("X"), seat("O")], ..v1::Game::default() };
        let threat = |cells: &[u32], notation: &str| v1::Threat { cells: cells.into(), notation: notation.into(), action: None };
        let by_seat = [
            v1::SeatThreats { seat: 0, threats: vec![threat(&[1], "b2"), threat(&[1], "b2^"), threat(&[0], "a2")] },
            v1::SeatThreats { seat: 1, threats: vec![threat(&[1], "b2"), threat(&[5], "c1")] },
        ];
        let drawn = map(&game, Notation::Cells(RowOne::Bottom), &by_seat, &[1]).unwrap();
        assert_eq!(drawn, "2   X   [X!O!]  .\n1   .     .     O!\n    a     b     c");
        let told = threats(&by_seat, &["X".to_owned(), "O".to_owned()]);
        assert_eq!(told, ["X would win at once with b2, b2^, a2.", "O would win at once with b2, c1."]);
    }
}
