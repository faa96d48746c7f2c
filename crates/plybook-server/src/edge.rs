//! Where callers come in: connections before they are calls, and calls before they are read.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`incoming`] | connections, accepted and opened beside one another |
//! | [`tls`], [`certificate`] | certificates that are read again while the node runs, and whom a client's speaks for |
//! | [`mod@line`], [`outgoing`] | the bytes of one connection, and how those that leave gather |
//! | [`connection`], [`connections`] | what one connection costs, and how many there may be |
//! | [`attempts`], [`admission`] | around the calls: before it is known who calls, and after |
//! | `content_type` | whether a call says that it is one |
//! | [`direct`] | the contract's services, found by their names |
//! | [`headers`] | what the headers of a call must be, and how many bytes |
//! | [`rates`] | calls a second, of a tenant or an address |
//! | [`answers`] | large answers that wait for a caller to take them |
//! | [`web`] | gRPC-Web, for browsers |
//!
//! Invariant: whatever a peer does or leaves undone costs this node a bounded share of one connection, and of that
//! connection it is the one who pays: everybody else goes on.

pub mod admission;
pub mod answers;
pub mod attempts;
pub mod certificate;
pub mod connection;
pub mod connections;
mod content_type;
pub mod direct;
pub mod headers;
pub mod incoming;
pub mod line;
pub mod outgoing;
pub mod rates;
pub mod tls;
pub mod web;

pub use admission::AdmissionLayer;
pub use attempts::AttemptsLayer;
pub use connection::{Connection, Peer};
pub use connections::Connections;
pub use direct::DirectLayer;
pub use headers::HeadersLayer;
pub use incoming::Incoming;
pub use outgoing::Outgoing;
pub use rates::{Rate, RateLimits};
pub use tls::{ClientCertificates, Tls, TlsError, TlsFiles, TlsPart};
pub use web::Web;
