//! Throwaway certificates, and what a server shows of its own.
//!
//! Invariant: every authority and every leaf is made anew, so none can pass for another.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use plybook_client::Trust;
use plybook_server::edge::{ClientCertificates, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair, SanType};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Who vouches for certificates.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its private key, PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl Authority {
    /// A new one.
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "a throwaway authority");
        Authority { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// Its own certificate, PEM.
    pub fn roots(&self) -> String {
        self.issuer.pem()
    }

    /// For a server on this machine.
    pub fn server(&self) -> Leaf {
        self.leaf(CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap())
    }

    /// For a client of this common name, and these alternative ones: URIs where they have a scheme, hosts elsewhere.
    pub fn client(&self, common: &str, names: &[&str]) -> Leaf {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, common);
        let name = |name: &&str| {
            let text = (*name).try_into().unwrap();
            if name.contains("://") { SanType::URI(text) } else { SanType::DnsName(text) }
        };
        params.subject_alt_names = names.iter().map(name).collect();
        self.leaf(params)
    }

    fn leaf(&self, params: CertificateParams) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Leaf { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Trusting this authority alone.
    pub fn trust(&self) -> Trust {
        Trust::system().roots(self.roots())
    }
}

impl Default for Authority {
    fn default() -> Authority {
        Authority::new()
    }
}

/// A folder in which a node's certificates lie.
pub struct Safe {
    folder: tempfile::TempDir,
}

impl Safe {
    /// With this certificate, and these roots for clients where there are any.
    pub fn with(leaf: &Leaf, client_roots: Option<&str>) -> Safe {
        let safe = Safe { folder: tempfile::tempdir().unwrap() };
        safe.put("node", leaf);
        if let Some(roots) = client_roots {
            safe.write("clients.pem", roots);
        }
        safe
    }

    /// Puts a pair in, in the place of the one that has its name.
    pub fn put(&self, name: &str, leaf: &Leaf) {
        self.write(&format!("{name}.pem"), &leaf.certificate);
        self.write(&format!("{name}.key"), &leaf.key);
    }

    /// Puts a file in, in one step.
    pub fn write(&self, name: &str, text: &str) {
        let draft = self.path("draft");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, self.path(name)).unwrap();
    }

    /// Where a file lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The same as a flag takes it.
    pub fn flag(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// What a node is told of them, looking often. Whether clients without a certificate are sent away, where there are roots for theirs.
    pub fn files(&self, required: bool) -> TlsFiles {
        let roots = Some(self.path("clients.pem")).filter(|file| Path::exists(file));
        TlsFiles {
            certificate: self.path("node.pem"),
            key: self.path("node.key"),
            clients: roots.map(|roots| ClientCertificates { roots, required }),
            look_every: Duration::from_millis(20),
        }
    }
}

/// The certificate that a server shows to a new connection, if it is one of this authority.
pub async fn shown(address: &str, authority: &Authority) -> Option<CertificateDer<'static>> {
    let mut roots = RootCertStore::empty();
    roots.add(der(&authority.roots())).unwrap();
    let config =
        ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider())).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let host = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(host, stream).await.ok()?;
    Some(stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned())
}

/// The certificate of a PEM file.
pub fn der(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}
