//! Where a stream was, as text.
//!
//! Invariant: a token is opaque to callers, and only a stream of the same tenant with the same filter takes it: it carries a
//! checksum over both and over the place. A checksum is no signature: it finds mistakes, and whoever makes up a token gains
//! nothing, for it says where to go on and never whose games, and the store shows nothing behind an entry that is not there.

use plybook_store::feed::FEED_CURSOR_BYTES_MAX;
use plybook_store::{FeedCursor, TenantId};

use crate::feed::FeedFilter;
use crate::refusal::Refusal;
use crate::requests::canon::Canon;

const VERSION: u8 = 1;
const CHECK_BYTES: usize = 8;

/// What the tokens of one stream are bound to.
#[derive(Clone, Debug)]
pub struct Bond {
    tenant: TenantId,
    filter: [u8; 32],
}

impl Bond {
    /// To a tenant and a filter.
    pub fn new(tenant: TenantId, filter: &FeedFilter) -> Bond {
        Bond { tenant, filter: filter.digest() }
    }

    /// The token of a place; nothing is the place before the first entry.
    pub fn token(&self, at: Option<&FeedCursor>) -> String {
        let at = at.map(FeedCursor::to_bytes).unwrap_or_default();
        let mut bytes = Vec::with_capacity(1 + CHECK_BYTES + at.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.check(&at));
        bytes.extend_from_slice(&at);
        hex::encode(bytes)
    }

    /// The place of a token.
    pub fn place(&self, token: &str) -> Result<Option<FeedCursor>, Refusal> {
        const NO_TOKEN: Refusal = Refusal::ResumeTokenInvalid { why: "is no token of this server" };
        if token.len() > 2 * (1 + CHECK_BYTES + FEED_CURSOR_BYTES_MAX) {
            return Err(NO_TOKEN);
        }
        let bytes = hex::decode(token).map_err(|_| NO_TOKEN)?;
        let Some((&VERSION, rest)) = bytes.split_first() else { return Err(NO_TOKEN) };
        let (check, at) = rest.split_at_checked(CHECK_BYTES).ok_or(NO_TOKEN)?;
        if check != self.check(at) {
            return Err(Refusal::ResumeTokenInvalid { why: "is not of a feed with this filter" });
        }
        if at.is_empty() {
            return Ok(None);
        }
        FeedCursor::from_bytes(at).ok_or(NO_TOKEN).map(Some)
    }

    fn check(&self, at: &[u8]) -> [u8; CHECK_BYTES] {
        let hash = Canon::of("feed token").signed(self.tenant.0.into()).bytes(&self.filter).bytes(at).hash();
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(&hash[..CHECK_BYTES]);
        check
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use plybook_proto::v1;

    use super::*;

    fn filter(player: &str) -> FeedFilter {
        FeedFilter::of(v1::FeedFilter { player_id: player.to_owned(), ..Default::default() }).unwrap()
    }

    fn cursor() -> FeedCursor {
        let bytes = [&b"s"[..], &7_i64.to_be_bytes(), &[9; 8]].concat();
        FeedCursor::from_bytes(&bytes).unwrap()
    }

    /// A token must be taken by every later release: these never change.
    #[test]
    fn tokens_are_pinned_and_come_back() {
        let bond = Bond::new(TenantId::DEFAULT, &filter("ann"));
        let (first, later) = (bond.token(None), bond.token(Some(&cursor())));
        assert_eq!(bond.place(&first).unwrap(), None);
        assert_eq!(bond.place(&later).unwrap(), Some(cursor()));
        assert_eq!(first, "01a9cf9375e4a11ba7");
        assert_eq!(later, "018710801ff7c433f67300000000000000070909090909090909");
    }

    #[test]
    fn no_other_text_is_a_token() {
        let bond = Bond::new(TenantId::DEFAULT, &filter("ann"));
        let token = bond.token(Some(&cursor()));
        for other in [Bond::new(TenantId(2), &filter("ann")), Bond::new(TenantId::DEFAULT, &filter("bob"))] {
            assert!(matches!(other.place(&token), Err(Refusal::ResumeTokenInvalid { .. })));
        }
        let bytes = hex::decode(&token).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(bond.place(&hex::encode(flipped)).is_err(), "bit {bit}");
        }
        for cut in 0..token.len() {
            assert!(bond.place(&token[..cut]).is_err());
        }
        for garbage in ["", "0", "01", "zz", "é", &token.repeat(9), &format!("{token}00")] {
            assert!(bond.place(garbage).is_err(), "{garbage}");
        }
    }
}
