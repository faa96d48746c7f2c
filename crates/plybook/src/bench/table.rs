//! The result as a table for people: each workload, its floors below it.
//!
//! Invariant: a cell that could not be measured is a dash.

use super::append::UNSIGNED;
use super::floor::KINDS;
use super::row::{Figures, Row};

const HEAD: [&str; 9] = ["WORKLOAD", "CALLERS", "A SECOND", "P50 MS", "P99 MS", "WAL B/MOVE", "x PLAIN", "x INSERT", "x EMPTY"];

/// Lines of the table.
pub(super) fn table(rows: &[Row]) -> Vec<String> {
    let mut cells: Vec<[String; 9]> = vec![HEAD.map(str::to_owned)];
    for row in rows {
        let ratio = |at: usize| {
            let found = row.beside.iter().find(|beside| beside.floor.kind.as_deref() == KINDS.get(at).copied());
            number(found.and_then(|beside| beside.ratio))
        };
        cells.push(line(row.name.label(), row, &row.figures, row.name.unit.plural(), [ratio(0), ratio(1), ratio(2)]));
        // A floor's own row has itself for a floor, and the floor of bots is one of them.
        for beside in row.beside.iter().filter(|beside| beside.floor.workload != row.name.workload) {
            let label = format!("  {}", beside.floor.kind.as_deref().unwrap_or_default());
            cells.push(line(label, row, &beside.figures, beside.floor.unit.plural(), [(); 3].map(|()| String::new())));
        }
        let mut more: Vec<String> = row.more.iter().map(|(name, figure)| format!("{name} {}", number(Some(*figure)))).collect();
        // A floor of this workload alone has no column.
        let own = row.beside.iter().find(|beside| beside.floor.kind.as_deref() == Some(UNSIGNED));
        more.extend(own.map(|beside| format!("x {UNSIGNED} {}", number(beside.ratio))));
        if !more.is_empty() {
            let mut note = [(); 9].map(|()| String::new());
            note[0] = format!("  {}", more.join(", "));
            cells.push(note);
        }
    }
    let note = |row: &[String; 9]| row[1..].iter().all(String::is_empty);
    let mut widths = [0; 9];
    for row in cells.iter().filter(|row| !note(row)) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let written = |row: &[String; 9]| {
        if note(row) {
            return row[0].clone();
        }
        let first = format!("{:width$}", row[0], width = widths[0]);
        let rest = row[1..].iter().zip(&widths[1..]).map(|(cell, width)| format!("  {cell:>width$}"));
        format!("{first}{}", rest.collect::<String>()).trim_end().to_owned()
    };
    cells.iter().map(written).collect()
}

fn line(label: String, row: &Row, figures: &Figures, unit: &str, [plain, insert, empty]: [String; 3]) -> [String; 9] {
    let rate = format!("{} {unit}", number(Some(figures.rate)));
    let (p50, p99, wal) = (number(figures.p50_ms), number(figures.p99_ms), number(figures.wal_bytes));
    [label, row.name.callers.to_string(), rate, p50, p99, wal, plain, insert, empty]
}

/// Three digits, or all before the point.
pub(super) fn number(figure: Option<f64>) -> String {
    match figure {
        None => "-".to_owned(),
        Some(figure) if figure >= 100.0 => format!("{figure:.0}"),
        Some(figure) if figure >= 10.0 => format!("{figure:.1}"),
        Some(figure) if figure >= 1.0 => format!("{figure:.2}"),
        Some(figure) => format!("{figure:.3}"),
    }
}
