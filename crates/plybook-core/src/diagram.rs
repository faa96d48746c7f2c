//! Boards as text, for tests, logs and terminals.
//!
//! Invariant: a grid prints one row a line from the top, `.` for a vacant cell, and parses back.
//! Marks of one character stand side by side; longer ones are separated by spaces.

use crate::board::{Board, Content};
use crate::seat::Seat;

/// Draws a grid whose cells hold one piece at most.
pub fn draw(board: &Board, marks: &[&str]) -> String {
    let wide = marks.iter().any(|mark| mark.chars().count() != 1);
    let mark = |content: Content| content.owner().and_then(|seat| marks.get(seat.index()).copied()).unwrap_or(".");
    let row = |row: u16| {
        let cells = (0..board.cols()).map(|col| mark(board.at(i32::from(row), i32::from(col))));
        cells.collect::<Vec<_>>().join(if wide { " " } else { "" })
    };
    (0..board.rows()).map(row).collect::<Vec<_>>().join("\n")
}

/// Reads what [`draw`] prints; nothing if the rows differ in length or a mark is unknown.
pub fn read(text: &str, marks: &[&str]) -> Option<Board> {
    let wide = marks.iter().any(|mark| mark.chars().count() != 1);
    let split = |line: &str| -> Vec<String> {
        if wide { line.split(' ').map(str::to_owned).collect() } else { line.chars().map(String::from).collect() }
    };
    let rows: Vec<Vec<String>> = text.lines().map(split).collect();
    let cols = rows.first()?.len();
    if cols == 0 || cols > usize::from(u16::MAX) || rows.len() > usize::from(u16::MAX) || rows.iter().any(|row| row.len() != cols) {
        return None;
    }
    let mut board = Board::new(rows.len() as u16, cols as u16);
    for (row, cells) in rows.iter().enumerate() {
        for (col, mark) in cells.iter().enumerate() {
            let content = match marks.iter().position(|known| known == mark) {
                Some(seat) => Content::of(Seat(seat as u8)),
                None if mark == "." => Content::NOTHING,
                None => return None,
            };
            let cell = board.cell(row as i32, col as i32)?;
            board.set(cell, content);
        }
    }
    Some(board)
}

#[cfg(test)]
mod tests {
    use super::{draw, read};

    #[test]
    fn boards_print_and_parse() {
        let text = "XO.\n.X.\n..O";
        assert_eq!(read(text, &["X", "O"]).map(|board| draw(&board, &["X", "O"])).as_deref(), Some(text));
        let wide = "red . blue\n. red .";
        assert_eq!(read(wide, &["red", "blue"]).map(|board| draw(&board, &["red", "blue"])).as_deref(), Some(wide));
        assert_eq!(read("XO\nX", &["X", "O"]), None);
        assert_eq!(read("XZ", &["X", "O"]), None);
        assert_eq!(read("", &["X"]), None);
    }
}
