//! How many calls a second.
//!
//! A bucket is one number: the moment at which it will be full again (the generic cell rate algorithm). So a bucket that
//! is full is the same as none, and forgetting it loses nothing.
//!
//! Invariant: a table of buckets has at most [`RATE_KEYS_MAX`] of them. Whoever comes while it is full of such that are
//! in use shares one with all others who do.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use plybook_store::TenantId;

use crate::auth::Bearer;
use crate::limits::{RATE_KEYS_MAX, TOKEN_SHARE};

const NANOS: u64 = 1_000_000_000;

/// So many calls in so long, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Nanoseconds between two calls.
    interval: u64,
    /// Calls that may come at once.
    burst: u64,
}

impl Rate {
    /// So many a second, at least one, and so many at once.
    pub const fn per_second(calls: u32, burst: u32) -> Rate {
        let (calls, burst) = (if calls == 0 { 1 } else { calls }, if burst == 0 { 1 } else { burst });
        Rate { interval: NANOS / calls as u64, burst: burst as u64 }
    }

    /// So many in so many seconds, all of which may come at once.
    pub(super) const fn over(calls: u64, seconds: u64) -> Rate {
        let calls = if calls == 0 { 1 } else { calls };
        Rate { interval: seconds * NANOS / calls, burst: calls }
    }

    /// What one of a tenant's tokens has of it.
    pub(super) const fn of_token(self) -> Rate {
        let burst = self.burst / TOKEN_SHARE;
        Rate { interval: self.interval * TOKEN_SHARE, burst: if burst == 0 { 1 } else { burst } }
    }

    /// How many at once.
    pub const fn burst(self) -> u64 {
        self.burst
    }
}

/// The calls of one party: when its bucket is full again, as nanoseconds of a clock of the caller's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter(u64);

impl Meter {
    /// One call at this time, or how long to wait for it.
    pub(super) fn take(&mut self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now = nanos(now);
        let full = self.0.max(now).saturating_add(rate.interval);
        let latest = now.saturating_add(rate.interval.saturating_mul(rate.burst));
        if full > latest {
            return Err(Duration::from_nanos(full - latest));
        }
        self.0 = full;
        Ok(())
    }

    fn is_full(self, now: Duration) -> bool {
        self.0 <= nanos(now)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Buckets, one a party.
#[derive(Debug)]
pub(super) struct Buckets<K> {
    rate: Rate,
    began: Instant,
    meters: Mutex<Meters<K>>,
}

#[derive(Debug)]
struct Meters<K> {
    of: HashMap<K, Meter>,
    others: Meter,
}

impl<K: Eq + Hash + Copy> Buckets<K> {
    pub(super) fn new(rate: Rate) -> Buckets<K> {
        Buckets { rate, began: Instant::now(), meters: Mutex::new(Meters { of: HashMap::new(), others: Meter::default() }) }
    }

    /// One call of this party, or how long it should wait.
    pub(super) fn take(&self, party: K) -> Result<(), Duration> {
        self.with(party, |meter, now| meter.take(self.rate, now))
    }

    /// Whether this party may call, without counting it.
    pub(super) fn look(&self, party: K) -> Result<(), Duration> {
        self.with(party, |meter, now| { *meter }.take(self.rate, now))
    }

    fn with<R>(&self, party: K, ask: impl FnOnce(&mut Meter, Duration) -> R) -> R {
        let now = self.began.elapsed();
        let mut meters = self.meters.lock().unwrap_or_else(PoisonError::into_inner);
        let Meters { of, others } = &mut *meters;
        if of.len() >= RATE_KEYS_MAX && !of.contains_key(&party) {
            of.retain(|_, meter| !meter.is_full(now));
            if of.len() >= RATE_KEYS_MAX {
                return ask(others, now);
            }
        }
        ask(of.entry(party).or_default(), now)
    }
}

/// What an operator sets of rates. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimits {
    /// Of each tenant.
    pub tenant: Option<Rate>,
    /// Of each address, calls with no credentials or with such that do not hold.
    pub strangers: Option<Rate>,
}

/// The calls of tenants.
pub(super) type Tenants = Buckets<TenantId>;

/// The calls of tokens that are bound to one game.
pub(super) type Bearers = Buckets<Bearer>;

/// The calls of addresses.
pub(super) type Addresses = Buckets<IpAddr>;

/// An address as whoever has it has it: of version 6, everybody has as many as fit into 64 bits.
pub(super) fn party(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_burst_and_then_one_at_a_time() {
        let (rate, mut meter) = (Rate::per_second(10, 3), Meter::default());
        let at = Duration::from_millis;
        assert!((0..3).all(|_| meter.take(rate, at(0)).is_ok()));
        assert_eq!(meter.take(rate, at(0)), Err(at(100)));
        assert_eq!(meter.take(rate, at(60)), Err(at(40)));
        assert_eq!(meter.take(rate, at(100)), Ok(()));
        assert!(meter.take(rate, at(100)).is_err());
        assert!((0..3).all(|_| meter.take(rate, at(10_000)).is_ok()));
        assert!(meter.take(rate, at(10_000)).is_err());
    }

    #[test]
    fn a_token_has_a_part_of_its_tenants_rate() {
        let (rate, mut meter) = (Rate::per_second(100, 30).of_token(), Meter::default());
        assert!((0..3).all(|_| meter.take(rate, Duration::ZERO).is_ok()));
        assert_eq!(meter.take(rate, Duration::ZERO), Err(Duration::from_millis(100)));
        assert_eq!(Rate::per_second(5, 1).of_token().burst(), 1);
    }

    #[test]
    fn the_table_is_bounded_and_others_share() {
        let buckets = Buckets::new(Rate::over(1, 3_600));
        for party in 0..RATE_KEYS_MAX {
            buckets.take(party).unwrap();
        }
        assert!(buckets.take(0).is_err());
        buckets.look(RATE_KEYS_MAX).unwrap();
        buckets.take(RATE_KEYS_MAX).unwrap();
        assert!(buckets.look(RATE_KEYS_MAX + 1).is_err(), "it shares with the one before");
        assert_eq!(buckets.meters.lock().unwrap().of.len(), RATE_KEYS_MAX);
    }

    #[test]
    fn buckets_that_are_full_make_room() {
        let buckets = Buckets::new(Rate::per_second(1_000_000_000, 1));
        for party in 0..=RATE_KEYS_MAX {
            buckets.take(party).unwrap();
        }
        assert!(buckets.meters.lock().unwrap().of.len() <= RATE_KEYS_MAX);
    }

    #[test]
    fn an_address_counts_as_its_owner_has_it() {
        let of = |text: &str| party(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::"), of("2001:db8:1:3::"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
