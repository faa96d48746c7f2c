//! Flags of how often whom may call.
//!
//! Invariant: by default there is no rate, and a burst without a rate is refused.

use plybook_server::edge::{Rate, RateLimits};

use crate::exit::usage;

/// How often whom may call; on each node for itself.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rates")]
pub(super) struct RateArgs {
    /// Calls a second of each tenant; 0 sets no rate
    #[arg(long, env = "PLYBOOK_RATE_PER_TENANT", default_value_t = 0, value_name = "CALLS")]
    rate_per_tenant: u32,
    /// How many of them may come at once; as many as in two seconds where nothing is said
    #[arg(long, env = "PLYBOOK_RATE_BURST", value_name = "CALLS")]
    rate_burst: Option<u32>,
    /// Calls a second of each address whose credentials are missing or do not hold; 0 sets no rate
    #[arg(long, env = "PLYBOOK_RATE_OF_STRANGERS", default_value_t = 0, value_name = "CALLS")]
    rate_of_strangers: u32,
}

impl RateArgs {
    /// The rates.
    pub(super) fn read(&self) -> anyhow::Result<RateLimits> {
        if self.rate_burst.is_some() && self.rate_per_tenant == 0 {
            return Err(usage("--rate-burst: --rate-per-tenant is wanted with it"));
        }
        if self.rate_burst == Some(0) {
            return Err(usage("--rate-burst must be at least 1"));
        }
        let rate = |calls: u32, burst: Option<u32>| (calls > 0).then(|| Rate::per_second(calls, burst.unwrap_or(calls.saturating_mul(2))));
        Ok(RateLimits { tenant: rate(self.rate_per_tenant, self.rate_burst), strangers: rate(self.rate_of_strangers, None) })
    }
}
