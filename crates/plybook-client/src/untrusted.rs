//! What TLS refuses for good: a certificate, of this client or of the server.
//!
//! The transport tells of it in words alone: what it was made of does not come through HTTP/2.
//!
//! Invariant: only what concerns a certificate is final; whatever else breaks a connection passes.

use std::collections::BTreeMap;

use tonic::{Code, Status};

use crate::error::Refused;

/// What rustls says of an alert of the other side.
const ALERT: &str = "received fatal alert: ";
/// What rustls says of the server's certificate.
const PEER: &str = "invalid peer certificate: ";

/// The refusal, if it is one.
pub(crate) fn refusal(status: &Status) -> Option<Refused> {
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        if let Some(message) = told(&error.to_string()) {
            let (reason, code) = (String::new(), Code::Unauthenticated);
            return Some(Refused { reason, code, message, metadata: BTreeMap::new(), fields: Vec::new() });
        }
        source = error.source();
    }
    None
}

fn told(text: &str) -> Option<String> {
    if let Some((_, why)) = text.split_once(PEER) {
        return Some(format!("the server's certificate is not to be trusted: {why}"));
    }
    let (_, alert) = text.split_once(ALERT)?;
    match alert.split(|c: char| !c.is_ascii_alphanumeric()).next()? {
        "CertificateRequired" => Some("the server takes nobody without a client certificate, and none was shown".to_owned()),
        // A DecryptError is one that an authority of a known name has signed with another key.
        alert @ ("BadCertificate"
        | "DecryptError"
        | "UnsupportedCertificate"
        | "CertificateRevoked"
        | "CertificateExpired"
        | "CertificateUnknown"
        | "UnknownCA"
        | "AccessDenied") => Some(format!("the server does not take the client certificate: {alert}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_concerns_a_certificate_is_final_and_nothing_else() {
        for (text, final_) in [
            ("received fatal alert: CertificateRequired", true),
            ("connection error: received fatal alert: UnknownCA", true),
            ("received fatal alert: BadCertificate, and more", true),
            ("received fatal alert: DecryptError", true),
            ("invalid peer certificate: UnknownIssuer", true),
            ("received fatal alert: HandshakeFailure", false),
            ("received fatal alert: InternalError", false),
            ("connection reset by peer", false),
        ] {
            assert_eq!(told(text).is_some(), final_, "{text}");
        }
        assert!(refusal(&Status::unavailable("received fatal alert: UnknownCA")).is_none(), "a server's own words are no alert");
    }
}
