//! The result as a picture: throughput and latency over concurrency, both axes logarithmic.
//!
//! Invariant: whatever is drawn lies inside its frame, however few and however equal the figures are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::contender::Name;
use super::row::{Figures, Row};
use super::table::number;

const WIDTH: f64 = 960.0;
const PANEL: f64 = 300.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const GAP: f64 = 60.0;
/// Where the names of the series begin.
const LEGEND: f64 = 680.0;
const LINE: f64 = 16.0;
/// One line of a panel: callers and a figure.
type Points = Vec<(f64, f64)>;
/// The figures of a panel: the drawn line, and the dashed one.
type Pair = fn(&Figures) -> [Option<f64>; 2];

/// An SVG document.
pub(super) fn chart(rows: &[Row], told: &str) -> String {
    let series = series(rows);
    let legend = TOP + LINE * series.len() as f64 + GAP;
    let height = (TOP + 2.0 * PANEL + 2.0 * GAP).max(legend);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    text(&mut svg, LEFT, 20.0, "start", told);
    let panels: [(&str, Pair); 2] =
        [("a second", |figures| [Some(figures.rate), None]), ("ms: p50, and p99 dashed", |figures| [figures.p50_ms, figures.p99_ms])];
    for (place, (title, figures)) in panels.into_iter().enumerate() {
        let lines: Vec<[Points; 2]> = series.values().map(|points| [0, 1].map(|which| points_of(points, figures, which))).collect();
        panel(&mut svg, TOP + place as f64 * (PANEL + GAP), title, &lines);
    }
    for (place, label) in series.keys().enumerate() {
        let y = TOP + LINE * (place as f64 + 0.5);
        let _ =
            writeln!(svg, "<rect x=\"{LEGEND}\" y=\"{:.1}\" width=\"12\" height=\"4\" fill=\"{}\"/>", y - 5.0, colour(place, series.len()));
        text(&mut svg, LEGEND + 18.0, y, "start", label);
    }
    svg += "</svg>\n";
    svg
}

/// Figures by label, over the number of callers; floors once, whatever they were measured beside.
fn series(rows: &[Row]) -> BTreeMap<String, Vec<(usize, &Figures)>> {
    let mut series: BTreeMap<String, Vec<(usize, &Figures)>> = BTreeMap::new();
    let mut add = |label: String, callers: usize, figures| {
        let points = series.entry(label).or_default();
        if points.iter().all(|(at, _)| *at != callers) {
            points.push((callers, figures));
        }
    };
    for row in rows {
        add(label(&row.name), row.name.callers, &row.figures);
        for beside in row.beside.iter().filter(|beside| beside.floor.workload == "floor") {
            add(label(&beside.floor), row.name.callers, &beside.figures);
        }
    }
    series.values_mut().for_each(|points| points.sort_by_key(|(callers, _)| *callers));
    series
}

/// What differs from one number of callers to the next is no part of a series' name.
fn label(name: &Name) -> String {
    let mut name = name.clone();
    name.setting.retain(|(what, _)| *what != "games" || name.workload == "watch");
    format!("{}, {}", name.label(), name.unit.plural())
}

fn points_of(points: &[(usize, &Figures)], figures: Pair, which: usize) -> Points {
    let known = points.iter().filter_map(|(callers, of)| Some((*callers as f64, figures(of)[which]?)));
    known.filter(|(_, figure)| *figure > 0.0).collect()
}

fn panel(svg: &mut String, top: f64, title: &str, lines: &[[Points; 2]]) {
    let all: Points = lines.iter().flatten().flatten().copied().collect();
    let (xs, ys) = (Axis::over(all.iter().map(|point| point.0), 2.0), Axis::over(all.iter().map(|point| point.1), 10.0));
    let (right, bottom) = (LEGEND - 30.0, top + PANEL - 20.0);
    let at = |(x, y): (f64, f64)| (LEFT + xs.place(x) * (right - LEFT), bottom - ys.place(y) * (bottom - top - 20.0));
    text(svg, LEFT, top + 8.0, "start", title);
    for tick in xs.ticks() {
        let (x, _) = at((tick, 1.0));
        let _ = writeln!(svg, "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" stroke=\"#eee\"/>", top + 20.0);
        text(svg, x, bottom + 15.0, "middle", &number(Some(tick)));
    }
    for tick in ys.ticks() {
        let (_, y) = at((1.0, tick));
        let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>");
        text(svg, LEFT - 6.0, y + 4.0, "end", &number(Some(tick)));
    }
    text(svg, right, bottom + 30.0, "end", "callers");
    for (place, pair) in lines.iter().enumerate() {
        for (points, dash) in pair.iter().zip(["", " stroke-dasharray=\"5 3\""]) {
            let path: Vec<String> = points.iter().map(|point| at(*point)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let colour = colour(place, lines.len());
            let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>", path.join(" "));
            for (x, y) in points.iter().map(|point| at(*point)) {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
        }
    }
}

/// A logarithmic axis from one whole power to another.
struct Axis {
    base: f64,
    from: f64,
    to: f64,
}

impl Axis {
    fn over(figures: impl Iterator<Item = f64>, base: f64) -> Axis {
        let logs: Vec<f64> = figures.map(|figure| figure.log(base)).collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if least > most {
            return Axis { base, from: 0.0, to: 1.0 };
        }
        let from = least.floor();
        Axis { base, from, to: most.ceil().max(from + 1.0) }
    }

    /// Between 0 and 1.
    fn place(&self, figure: f64) -> f64 {
        ((figure.log(self.base) - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (base, from) = (self.base, self.from);
        (0..=(self.to - from) as u32).map(move |step| base.powf(from + f64::from(step)))
    }
}

/// As far from each other as so many can be.
fn colour(place: usize, of: usize) -> String {
    format!("hsl({}, 70%, {}%)", place * 360 / of.max(1), 35 + place % 2 * 15)
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, what: &str) {
    let what = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>");
}
