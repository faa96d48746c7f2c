//! Who is calling, and what they may do.
//!
//! | module | the noun |
//! | --- | --- |
//! | [`caller`], [`role`], [`principal`] | who calls, as what, and under which name in the book |
//! | [`access`] | the one list of what each role may call |
//! | [`config`] | what an operator sets |
//! | [`authenticator`], [`layer`] | a request's credential, read once a call |
//! | [`peer`] | a client certificate, and whom it stands for |
//!
//! Invariants: a caller is computed here, once a call and before its body is read, never taken from a request's message;
//! whatever is not allowed in [`access`] is refused; no credential is in any log, error or `Debug`.

pub mod access;
pub mod authenticator;
pub mod caller;
pub mod config;
pub mod layer;
pub mod peer;
pub mod principal;
pub mod role;

pub use access::Rpc;
pub use authenticator::Authenticator;
pub use caller::{Caller, Permitted};
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
