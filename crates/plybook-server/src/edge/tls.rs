//! The certificates of a node, read again while it runs.
//!
//! Files are looked at every so often, whatever changed them: a link that is turned, as Kubernetes does it, tells nobody.
//! A pair that does not hold, or is written only by half, leaves the one before in its place, with a warning.
//!
//! Invariant: a node has certificates that hold from its start to its end. Connections live on with what they began with;
//! none that a client CA no longer vouches for is resumed, since each configuration has a memory of its own.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ServerConfig, WebPkiClientVerifier};
use tokio_rustls::rustls::{RootCertStore, version};

/// Where the certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The node's certificate and whatever stands between it and its root, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// Whose client certificates are taken, if any are.
    pub clients: Option<ClientCertificates>,
    /// How often the files are looked at.
    pub look_every: Duration,
}

/// Whose client certificates are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificates {
    /// The roots that vouch for them, PEM.
    pub roots: PathBuf,
    /// Whether a client without one is sent away.
    pub required: bool,
}

/// One of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPart {
    /// [`TlsFiles::certificate`].
    Certificate,
    /// [`TlsFiles::key`].
    Key,
    /// [`ClientCertificates::roots`].
    Roots,
}

impl TlsFiles {
    /// The fault of one of them.
    fn fault(&self, part: TlsPart, why: impl fmt::Display) -> TlsError {
        let roots = || self.clients.as_ref().map(|clients| clients.roots.clone()).unwrap_or_default();
        let file = match part {
            TlsPart::Certificate => self.certificate.clone(),
            TlsPart::Key => self.key.clone(),
            TlsPart::Roots => roots(),
        };
        TlsError { part, file, why: why.to_string() }
    }
}

/// Why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", file.display())]
pub struct TlsError {
    /// Which of the files is at fault.
    pub part: TlsPart,
    /// Where it is.
    pub file: PathBuf,
    /// Why.
    pub why: String,
}

/// What stands in the files.
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
    roots: Option<Vec<u8>>,
}

/// TLS as a node speaks it at the moment.
pub struct Tls {
    files: TlsFiles,
    http1: bool,
    current: RwLock<Arc<ServerConfig>>,
    /// What was found the last time: no more of it than is needed to tell it from something else.
    seen: Mutex<Result<[u8; 32], String>>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the files. Where HTTP/1.1 is spoken, it is offered after HTTP/2.
    pub fn read(files: TlsFiles, http1: bool) -> Result<Tls, TlsError> {
        let contents = Contents::read(&files)?;
        let current = RwLock::new(Arc::new(configure(&files, &contents, http1)?));
        Ok(Tls { http1, current, seen: Mutex::new(Ok(contents.digest())), files })
    }

    /// For one connection.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Looks at the files every so often, and never ends.
    pub async fn follow(self: Arc<Tls>) {
        loop {
            tokio::time::sleep(self.files.look_every).await;
            let tls = Arc::clone(&self);
            if tokio::task::spawn_blocking(move || tls.look()).await.is_err() {
                return;
            }
        }
    }

    fn look(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = Contents::read(&self.files);
        let found = contents.as_ref().map(Contents::digest).map_err(TlsError::to_string);
        if *seen == found {
            return;
        }
        *seen = found;
        match contents.and_then(|contents| configure(&self.files, &contents, self.http1)) {
            Ok(config) => {
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
                tracing::info!(certificate = %self.files.certificate.display(), "new certificates are in use");
            }
            Err(error) => tracing::warn!(%error, "the new certificates do not hold: the ones before stay in use"),
        }
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> Result<Contents, TlsError> {
        let read = |file: &PathBuf, part| std::fs::read(file).map_err(|error| files.fault(part, error));
        let roots = files.clients.as_ref().map(|clients| read(&clients.roots, TlsPart::Roots)).transpose()?;
        let certificate = read(&files.certificate, TlsPart::Certificate)?;
        Ok(Contents { certificate, key: read(&files.key, TlsPart::Key)?, roots })
    }

    fn digest(&self) -> [u8; 32] {
        let parts = [Some(&self.certificate), Some(&self.key), self.roots.as_ref()];
        let sum = |sum: Sha256, part: Option<&Vec<u8>>| sum.chain_update(Sha256::digest(part.map_or(&[][..], Vec::as_slice)));
        parts.into_iter().fold(Sha256::new(), sum).finalize().into()
    }
}

fn configure(files: &TlsFiles, contents: &Contents, http1: bool) -> Result<ServerConfig, TlsError> {
    use TlsPart::{Certificate, Key, Roots};
    let provider: Arc<CryptoProvider> = Arc::new(aws_lc_rs::default_provider());
    let chain = certificates(&contents.certificate).map_err(|why| files.fault(Certificate, why))?;
    let key = PrivateKeyDer::from_pem_slice(&contents.key).map_err(|_| files.fault(Key, "there is no private key in it, as PEM"))?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(|error| files.fault(Certificate, error))?;
    let builder = match (&files.clients, &contents.roots) {
        (Some(clients), Some(pem)) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(pem).map_err(|why| files.fault(Roots, why))? {
                roots.add(root).map_err(|error| files.fault(Roots, error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = if clients.required { verifier } else { verifier.allow_unauthenticated() };
            builder.with_client_cert_verifier(verifier.build().map_err(|error| files.fault(Roots, error))?)
        }
        _ => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| files.fault(Certificate, error))?;
    config.alpn_protocols = if http1 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { vec![b"h2".to_vec()] };
    Ok(config)
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err("there is no certificate in it, as PEM".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    fn pair() -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        (certificate.pem(), key.serialize_pem())
    }

    #[test]
    fn what_does_not_hold_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |(certificate, key): &(String, String)| {
            std::fs::write(at("node.pem"), certificate).unwrap();
            std::fs::write(at("node.key"), key).unwrap();
        };
        let (first, second) = (pair(), pair());
        write(&first);
        let look_every = Duration::from_secs(1);
        let clients = Some(ClientCertificates { roots: at("node.pem"), required: true });
        let files = TlsFiles { certificate: at("node.pem"), key: at("node.key"), clients, look_every };
        let tls = Tls::read(files, false).unwrap();
        let in_use = || Arc::clone(&tls.current.read().unwrap());
        let before = in_use();
        for broken in [
            (second.0.clone(), first.1.clone()),
            (first.0.clone(), "no key".to_owned()),
            ("no certificate".to_owned(), first.1.clone()),
            (String::new(), String::new()),
        ] {
            write(&broken);
            tls.look();
            assert!(Arc::ptr_eq(&before, &in_use()), "{broken:?}");
        }
        std::fs::remove_file(at("node.key")).unwrap();
        tls.look();
        assert!(Arc::ptr_eq(&before, &in_use()), "a file that is gone");
        write(&second);
        tls.look();
        let after = in_use();
        assert!(!Arc::ptr_eq(&before, &after));
        tls.look();
        assert!(Arc::ptr_eq(&after, &in_use()), "nothing has changed since");
    }

    #[test]
    fn a_start_without_certificates_that_hold_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (certificate, key) = pair();
        std::fs::write(at("good.pem"), &certificate).unwrap();
        std::fs::write(at("good.key"), &key).unwrap();
        std::fs::write(at("empty"), "").unwrap();
        for (certificate, key, roots, at_fault) in [
            ("none", "good.key", None, "none"),
            ("empty", "good.key", None, "empty"),
            ("good.key", "good.key", None, "good.key"),
            ("good.pem", "none", None, "none"),
            ("good.pem", "good.pem", None, "good.pem"),
            ("good.pem", "good.key", Some("empty"), "empty"),
            ("good.pem", "good.key", Some("none"), "none"),
        ] {
            let clients = roots.map(|roots| ClientCertificates { roots: at(roots), required: false });
            let files = TlsFiles { certificate: at(certificate), key: at(key), clients, look_every: Duration::from_secs(1) };
            let error = Tls::read(files, false).unwrap_err().to_string();
            assert!(error.contains(at_fault) && !error.contains("PRIVATE"), "{error}");
        }
    }
}
