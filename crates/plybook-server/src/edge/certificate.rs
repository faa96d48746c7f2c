//! Whom a client's certificate speaks for.
//!
//! Its names, the most telling first: the URIs of its subject's alternative names, as SPIFFE has them, then the DNS names
//! there; where it has neither, the common name of its subject. Each with its kind, so that none can pass for
//! another: `uri:spiffe://shop/rooms`, `dns:rooms.internal`, `cn:rooms`.
//!
//! Invariant: only a certificate that was verified comes here, and what it has no name for has no identity.

use tokio_rustls::rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use crate::auth::PeerIdentity;

/// More names than anybody maps: each costs a look.
const NAMES_MAX: usize = 32;

/// The names of a verified certificate.
pub(super) fn identity(leaf: &CertificateDer<'_>) -> Option<PeerIdentity> {
    let (_, certificate) = X509Certificate::from_der(leaf).ok()?;
    let alternative = certificate.subject_alternative_name().ok()?;
    let given = alternative.iter().flat_map(|extension| &extension.value.general_names);
    let (mut uris, mut hosts) = (Vec::new(), Vec::new());
    for name in given {
        match name {
            GeneralName::URI(uri) => uris.push(format!("uri:{uri}")),
            GeneralName::DNSName(host) => hosts.push(format!("dns:{}", host.to_ascii_lowercase())),
            _ => {}
        }
    }
    let mut names: Vec<String> = uris.into_iter().chain(hosts).collect();
    if names.is_empty() {
        let common = certificate.subject().iter_common_name().filter_map(|name| name.as_str().ok());
        names.extend(common.map(|name| format!("cn:{name}")));
    }
    names.truncate(NAMES_MAX);
    (!names.is_empty()).then(|| PeerIdentity { names: names.into() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};

    use super::*;

    fn names(common: &str, alternative: Vec<SanType>) -> Option<Vec<String>> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        if !common.is_empty() {
            params.distinguished_name.push(DnType::CommonName, common);
        }
        params.subject_alt_names = alternative;
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        identity(certificate.der()).map(|identity| identity.names.to_vec())
    }

    #[test]
    fn the_most_telling_name_comes_first_and_none_passes_for_another() {
        let uri = |text: &str| SanType::URI(text.try_into().unwrap());
        let host = |text: &str| SanType::DnsName(text.try_into().unwrap());
        let all = vec![host("Rooms.internal"), uri("spiffe://shop/rooms"), host("rooms")];
        assert_eq!(names("ann", all).unwrap(), ["uri:spiffe://shop/rooms", "dns:rooms.internal", "dns:rooms"]);
        assert_eq!(names("rooms", vec![host("uri:x")]).unwrap(), ["dns:uri:x"]);
        assert_eq!(names("dns:rooms", Vec::new()).unwrap(), ["cn:dns:rooms"]);
        assert_eq!(names("", Vec::new()), None);
        let many = (0..100).map(|n| host(&format!("h{n}"))).collect();
        assert_eq!(names("", many).unwrap().len(), NAMES_MAX);
    }

    #[test]
    fn what_is_no_certificate_has_no_identity() {
        assert_eq!(identity(&CertificateDer::from(vec![0x30, 0x82, 0xff])), None);
        assert_eq!(identity(&CertificateDer::from(Vec::new())), None);
    }
}
