//! Logarithms and roots in whole numbers, 16 binary places.
//!
//! Invariant: a result is below the true value by less than one part in a thousand of one.

/// One.
pub(super) const ONE: u64 = 1 << 16;
/// The natural logarithm of 2.
const LN_2: u64 = 45_426;

/// The logarithm to base 2 of a number from 1 on.
const fn log2(number: u32) -> u64 {
    let whole = number.ilog2();
    // The rest, from 1 up to 2, with 31 binary places: squaring it yields one binary place at a time.
    let mut rest = (number as u64) << (31 - whole);
    let mut log = whole as u64;
    let mut place = 0;
    while place < 16 {
        rest = (rest * rest) >> 31;
        log <<= 1;
        if rest >= 1 << 32 {
            rest >>= 1;
            log |= 1;
        }
        place += 1;
    }
    log
}

/// √(ln `all` / `part`), for counts from 1 on.
pub(super) const fn doubt(all: u32, part: u32) -> u64 {
    let ln = (log2(all) * LN_2) >> 16;
    ((ln << 16) / part as u64).isqrt()
}

#[cfg(test)]
mod tests {
    use super::{ONE, doubt, log2};

    #[test]
    fn logarithms_and_roots_are_right() {
        assert_eq!([1, 2, 1024, 1 << 31].map(log2), [0, ONE, 10 * ONE, 31 * ONE]);
        // log2 3 = 1.58496250, log2 1000 = 9.96578428, log2 (2^32 − 1) = 31.99999999966
        assert_eq!([3, 1000, u32::MAX].map(log2), [103_872, 653_117, 32 * ONE - 1]);
        // √(ln 100 / 7) = 0.811112, √(ln 2 / 1) = 0.832555
        assert_eq!([doubt(1, 1), doubt(2, 1), doubt(100, 7)], [0, 54_562, 53_156]);
        assert!(doubt(1_000_000, 10) > doubt(1_000_000, 11));
    }
}
