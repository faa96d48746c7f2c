//! Statistics of faces, and how probable each is where every face is as likely as any other.
//!
//! | statistic | degrees of freedom | from |
//! | --- | --- | --- |
//! | faces: Pearson's χ² over single faces | sides − 1 | Knuth, The Art of Computer Programming 2, §3.3.2 A |
//! | pairs: the serial test, ∇ψ²₂ = ψ²₂ − ψ²₁ over overlapping pairs in a circle | sides² − sides | I. J. Good 1953; NIST SP 800-22, §2.11 |
//! | runs: how many runs of low and of high faces there are (Wald and Wolfowitz) | 1, as z² | NIST SP 800-22, §2.3 |
//! | lengths: χ² over the lengths of the low and of the high runs, 1 to 15 and longer | 30 | Knuth §3.3.2 D, the gap test with p = 1/2 |
//!
//! Each becomes a P-value by the incomplete gamma function (SP 800-22, §5.5.3), so that one bound holds for all.
//!
//! Invariant: what is not even by chance alone is told from what is, at a level that is stated for all tables together.

use plybook_core::dice::Face;

/// Lengths of runs that have a class of their own; longer ones share the last.
const LENGTHS: usize = 16;

/// What a tally has seen of faces in a row. The loop over 10^7 of them counts pairs and lengths, and no more.
#[derive(Clone)]
pub(super) struct Tally {
    sides: usize,
    /// How often one face was followed by another, at `one * sides + other`, counted from 0.
    pairs: Vec<u64>,
    /// How often a run had such a length: low ones, then high ones.
    lengths: [u64; 2 * LENGTHS],
    first: Option<usize>,
    last: usize,
    length: usize,
}

impl Tally {
    /// Of a die with an even number of sides, so that half of its faces are low.
    pub(super) fn new(sides: u8) -> Tally {
        assert!(sides.is_multiple_of(2), "a half of the faces is low");
        let sides = usize::from(sides);
        Tally { sides, pairs: vec![0; sides * sides], lengths: [0; 2 * LENGTHS], first: None, last: 0, length: 0 }
    }

    /// The next face.
    pub(super) fn see(&mut self, face: Face) {
        let (half, face) = (self.sides / 2, usize::from(face).wrapping_sub(1));
        assert!(face < self.sides, "faces run from 1 to the number of sides");
        if self.first.is_some() {
            self.pairs[self.last * self.sides + face] += 1;
            if (self.last < half) == (face < half) {
                self.length += 1;
            } else {
                self.ends_a_run();
            }
        } else {
            self.first = Some(face);
            self.length = 1;
        }
        self.last = face;
    }

    fn ends_a_run(&mut self) {
        let high = usize::from(self.last >= self.sides / 2) * LENGTHS;
        self.lengths[high + self.length.min(LENGTHS) - 1] += 1;
        self.length = 1;
    }

    /// The last face is followed by the first one: Good's circle. The run that is still open is dropped: it has no length yet.
    pub(super) fn closed(mut self) -> Tally {
        let first = self.first.expect("a tally has faces");
        self.pairs[self.last * self.sides + first] += 1;
        self
    }

    /// Both, each being closed.
    pub(super) fn and(mut self, other: &Tally) -> Tally {
        assert_eq!(self.sides, other.sides);
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(ours, theirs)| *ours += theirs);
        self.lengths.iter_mut().zip(&other.lengths).for_each(|(ours, theirs)| *ours += theirs);
        self
    }

    /// How many faces were seen.
    pub(super) fn draws(&self) -> u64 {
        self.pairs.iter().sum()
    }

    /// Every statistic as its P-value: the probability that an even die's is as great, or greater.
    pub(super) fn p_values(&self) -> [(Statistic, f64); 4] {
        let n = self.draws() as f64;
        let sides = self.sides as f64;
        let faces: Vec<u64> = self.pairs.chunks(self.sides).map(|row| row.iter().sum()).collect();
        let single = pearson(&faces, |_| n / sides);
        let serial = pearson(&self.pairs, |_| n / (sides * sides)) - single;
        let lengths = self.lengths.chunks(LENGTHS).map(|lengths| {
            let runs = lengths.iter().sum::<u64>() as f64;
            pearson(lengths, |at| runs / 2f64.powi((at + 1).min(LENGTHS - 1) as i32))
        });
        [
            (Statistic::Faces, chi_square_tail(single, sides - 1.0)),
            (Statistic::Pairs, chi_square_tail(serial, sides * sides - sides)),
            (Statistic::Runs, chi_square_tail(self.runs_z(&faces).powi(2), 1.0)),
            (Statistic::Lengths, chi_square_tail(lengths.sum(), 2.0 * (LENGTHS - 1) as f64)),
        ]
    }

    /// (V − 2nπ(1 − π)) ∕ (2√n π(1 − π)), where π is the share of high faces and V the number of runs. SP 800-22 writes
    /// erfc(|…| ∕ √2) for what is here the tail of z² with one degree of freedom.
    fn runs_z(&self, faces: &[u64]) -> f64 {
        let n = self.draws() as f64;
        let half = self.sides / 2;
        let high = faces[half..].iter().sum::<u64>() as f64 / n;
        let changes = self.pairs.iter().enumerate().filter(|(at, _)| (at / self.sides < half) != (at % self.sides < half));
        let runs = changes.map(|(_, count)| *count).sum::<u64>() as f64;
        let even = high * (1.0 - high);
        (runs - 2.0 * n * even) / (2.0 * n.sqrt() * even)
    }

    /// The statistics that an even die would show less than once in `once_in` such tallies, at either end: too uneven, or
    /// too even to be chance. Where a statistic is a single number squared, being too near to nothing says nothing.
    pub(super) fn rejected(&self, once_in: f64) -> Vec<Statistic> {
        let tail = 1.0 / (once_in * Statistic::TAILS);
        let two_tailed = |statistic| statistic != Statistic::Runs && (statistic != Statistic::Faces || self.sides > 2);
        let beyond = |(statistic, p): &(Statistic, f64)| *p < tail || two_tailed(*statistic) && *p > 1.0 - tail;
        self.p_values().into_iter().filter(beyond).map(|(statistic, _)| statistic).collect()
    }
}

/// What is computed of a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Faces,
    Pairs,
    Runs,
    Lengths,
}

impl Statistic {
    /// Four statistics with at most two ends each (Bonferroni).
    const TAILS: f64 = 8.0;
}

/// Σ (seen − expected)² ∕ expected.
fn pearson(seen: &[u64], expected: impl Fn(usize) -> f64) -> f64 {
    seen.iter().enumerate().map(|(at, seen)| (*seen as f64 - expected(at)).powi(2) / expected(at)).sum()
}

/// How probable it is that χ² with so many degrees of freedom is at least this: Q(freedom ∕ 2, statistic ∕ 2).
pub(super) fn chi_square_tail(statistic: f64, freedom: f64) -> f64 {
    upper_gamma(freedom / 2.0, statistic.max(0.0) / 2.0)
}

/// The regularised upper incomplete gamma function, by its series below a + 1 and its continued fraction above
/// (Abramowitz and Stegun 6.5.29 and 6.5.31; Lentz's method as in Numerical Recipes §6.2).
fn upper_gamma(a: f64, x: f64) -> f64 {
    if x == 0.0 {
        return 1.0;
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * f64::EPSILON {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - sum * scale;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / f64::MIN_POSITIVE, 1.0 / b);
    let mut fraction = d;
    for i in 1..10_000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        fraction *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction * scale
}

/// Lanczos' approximation with g = 7 and nine terms (P. Godfrey), good to fifteen digits.
fn ln_gamma(a: f64) -> f64 {
    const TERMS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if a < 0.5 {
        return (std::f64::consts::PI / (std::f64::consts::PI * a).sin()).ln() - ln_gamma(1.0 - a);
    }
    let a = a - 1.0;
    let sum: f64 = TERMS[0] + TERMS[1..].iter().zip(1u8..).map(|(term, i)| term / (a + f64::from(i))).sum::<f64>();
    let t = a + 7.5;
    0.5 * std::f64::consts::TAU.ln() + (a + 0.5) * t.ln() - t + sum.ln()
}

/// The critical values that tables print (Abramowitz and Stegun 26.8; Wilson and Hilferty's cube root agrees), and closed forms.
#[test]
fn p_values_are_those_of_the_tables() {
    for (freedom, p, critical) in [
        (1.0, 0.05, 3.841_46),
        (1.0, 0.001, 10.827_6),
        (5.0, 0.001, 20.515),
        (11.0, 0.01, 24.725_0),
        (15.0, 0.99, 5.229_35),
        (19.0, 0.001, 43.820_2),
        (100.0, 0.95, 77.929_5),
        (100.0, 0.001, 149.449),
    ] {
        let found = chi_square_tail(critical, freedom);
        assert!((found / p - 1.0).abs() < 1e-3, "χ² {critical} with {freedom} degrees of freedom: {found}, not {p}");
    }
    for statistic in [0.1, 1.0, 7.0, 60.0, 900.0] {
        let exact = f64::exp(-statistic / 2.0);
        assert!((chi_square_tail(statistic, 2.0) / exact - 1.0).abs() < 1e-10, "two degrees of freedom have a closed form");
        let exact = exact * (1.0 + statistic / 2.0);
        assert!((chi_square_tail(statistic, 4.0) / exact - 1.0).abs() < 1e-10, "and so have four");
    }
    for freedom in [380.0f64, 132.0] {
        // Wilson and Hilferty's approximation; a normal variable is beyond 3 standard deviations with 1.3499e-3.
        let cube = (1.0 - 2.0 / (9.0 * freedom) + 3.0 * (2.0 / (9.0 * freedom)).sqrt()).powi(3);
        let found = chi_square_tail(freedom * cube, freedom);
        assert!((found / 1.349_9e-3 - 1.0).abs() < 0.02, "{freedom} degrees of freedom: {found}");
    }
}

/// SP 800-22 works this example out in §2.3.8: a hundred binary digits of π, whose P-value is 0.500798.
#[test]
fn the_runs_test_is_that_of_its_source() {
    let bits = "1100100100001111110110101010001000100001011010001100001000110100110001001100011001100010100010111000";
    let mut tally = Tally::new(2);
    bits.bytes().for_each(|bit| tally.see(bit - b'0' + 1));
    let [_, _, (_, p), _] = tally.clone().closed().p_values();
    // It begins with 1 and ends with 0: the circle's last change is the run that the source's line has more.
    assert!((p - 0.500_798).abs() < 1e-6, "{p}");
    let count = |text: &str| bits.as_bytes().windows(text.len()).filter(|window| *window == text.as_bytes()).count() as u64;
    assert_eq!(tally.pairs, [count("00"), count("01"), count("10"), count("11")]);
    assert_eq!(tally.lengths.iter().sum::<u64>(), count("01") + count("10"), "a run ends where the next begins");
}
