//! What a verified client certificate says of its holder.
//!
//! Invariant: whoever ends TLS puts it into a request's extensions only after the certificate was verified; what it may
//! do is decided by [`super::Authenticator`], not by the certificate.

use std::sync::Arc;

/// The names of a verified client certificate's leaf, the most telling first, each with its kind:
/// `uri:spiffe://shop/rooms`, `dns:rooms.internal`, `cn:rooms`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerIdentity {
    /// The names.
    pub names: Arc<[String]>,
}
