//! What a call says that it is.
//!
//! gRPC over HTTP/2 names itself in `content-type`, and a server answers 415 to what names itself otherwise. A browser sends
//! `text/plain` anywhere without asking, with whatever certificate it has there; `application/grpc` it does not.
//!
//! Invariant: nothing is done for a call that does not say that it is one. What browsers may send by gRPC-Web has been turned into a
//! call before.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

const GRPC: &str = "application/grpc";

/// `application/grpc`, with a format behind `+` or parameters behind `;`.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let named = headers.get(CONTENT_TYPE).and_then(|named| named.to_str().ok());
    let behind = named.filter(|named| named.is_char_boundary(GRPC.len())).map(|named| named.split_at(GRPC.len()));
    behind.is_some_and(|(name, behind)| name.eq_ignore_ascii_case(GRPC) && (behind.is_empty() || behind.starts_with(['+', ';', ' '])))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_call_says_that_it_is_one() {
        let said = |named: &str| is_grpc(&HeaderMap::from_iter([(CONTENT_TYPE, named.parse().unwrap())]));
        for call in ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8", "Application/gRPC"] {
            assert!(said(call), "{call}");
        }
        for other in
            ["", "text/plain", "application/json", "application/grpcx", "application/grpc-web", "application/grp", "äpplication/grpc"]
        {
            assert!(!said(other), "{other}");
        }
        assert!(!is_grpc(&HeaderMap::new()));
    }
}
