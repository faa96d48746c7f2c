//! The feed: every entry of a tenant's games, followed from one token.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`feeds`] | whose feed is followed here, and the news for it |
//! | [`tail`] | the end of one tenant's feed: new entries, read once however many follow |
//! | [`follower`] | one stream: read behind the token, then wait |
//! | [`wanted`] | which entries a stream wants |
//! | [`shown`] | which of a page it gets |
//! | [`token`] | where a stream was, as text |
//! | [`lag`] | for how long entries have been waiting to be shown |
//!
//! Invariant: the order, and what may be shown, is the store's to say; here nothing is put in another order, left out or
//! repeated. News only wakes.

pub mod feeds;
pub mod follower;
pub mod lag;
pub mod shown;
pub mod tail;
pub mod token;
pub mod wanted;

pub use feeds::Feeds;
pub use follower::{Follower, Ground, Wanted};
pub use lag::Lag;
pub use tail::Tail;
pub use wanted::FeedFilter;
