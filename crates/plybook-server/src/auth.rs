//! Who is calling, and what they may do.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`caller`], [`role`], [`principal`] | who calls, as what, and under which name in the book |
//! | [`access`] | the one list of what each role may call |
//! | [`config`] | what an operator sets |
//! | [`authenticator`], [`layer`] | a request's credential, read once a call |
//! | [`api_key`], [`records`] | secrets that backends keep, and what a node remembers of them |
//! | [`jwt`], [`claims`], [`key_set`], [`jwks`], `fetch` | tokens of an issuer, and its keys |
//! | [`seat_token`] | tokens that the service mints for players and watchers |
//! | [`peer`], [`client_certs`], [`cert_list`] | client certificates, and whom they stand for at the moment |
//! | [`tenure`] | until when a credential goes on to hold |
//!
//! Invariants: a caller is computed here, once a call and before its body is read, never taken from a request's message;
//! whatever is not allowed in [`access`] is refused; no credential is in any log, error or `Debug`.

pub mod access;
pub mod api_key;
pub mod authenticator;
pub mod caller;
pub mod cert_list;
pub mod claims;
pub mod client_certs;
pub mod config;
mod fetch;
pub mod jwks;
pub mod jwt;
pub mod key_set;
pub mod layer;
pub mod peer;
pub mod principal;
pub mod records;
pub mod role;
pub mod seat_token;
pub mod tenure;

pub use access::Rpc;
pub use authenticator::Authenticator;
pub use caller::{Bearer, Caller, Permitted};
pub use config::AuthConfig;
pub use layer::AuthLayer;
pub use peer::PeerIdentity;
pub use role::Role;

use crate::refusal::Refusal;

/// The caller of a request, as [`AuthLayer`] found it.
pub fn authenticate<T>(request: &tonic::Request<T>) -> Result<Caller, Refusal> {
    let caller = request.extensions().get::<Caller>();
    caller.cloned().ok_or_else(|| Refusal::internal("a call came past authentication"))
}
