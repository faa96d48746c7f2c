//! Who a client is, and whom it trusts.
//!
//! Invariants: a token is in no `Debug`, log or error, and leaves in clear only where its owner says so; a token from a file
//! is read again, so that one which is replaced in time never runs out.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::transport::{Certificate, ClientTlsConfig, Identity};
use tonic::{Request, Status};

/// A file of a token is looked at again after so long, with the next call.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a certificate begins with.
const PEM: &[u8] = b"-----BEGIN CERTIFICATE-----";

type Header = MetadataValue<Ascii>;

/// What says who calls: a JWT or an API key.
#[derive(Clone)]
pub struct Token(Source);

#[derive(Clone)]
enum Source {
    Given(Header),
    File(Arc<TokenFile>),
}

struct TokenFile {
    path: PathBuf,
    read: Mutex<(Header, Instant)>,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum BadToken {
    /// It cannot stand in a header.
    #[error("a token is one line of printable ASCII")]
    Text,
    /// The file cannot be read.
    #[error("{}: {why}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        why: std::io::Error,
    },
}

impl Token {
    /// This one.
    pub fn new(token: &str) -> Result<Token, BadToken> {
        Ok(Token(Source::Given(header(token)?)))
    }

    /// The one that stands in a file, which is read again once a second while calls are made. A file that cannot be read
    /// at such a time leaves the token as it was.
    pub fn file(path: impl Into<PathBuf>) -> Result<Token, BadToken> {
        let path = path.into();
        let read = Mutex::new((read(&path)?, Instant::now()));
        Ok(Token(Source::File(Arc::new(TokenFile { path, read }))))
    }

    fn header(&self) -> Header {
        match &self.0 {
            Source::Given(header) => header.clone(),
            Source::File(file) => file.header(),
        }
    }
}

impl TokenFile {
    fn header(&self) -> Header {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if known.1.elapsed() >= LOOK_EVERY {
            known.1 = Instant::now();
            match read(&self.path) {
                Ok(header) => known.0 = header,
                Err(error) => tracing::warn!(%error, "the token stays as it was"),
            }
        }
        known.0.clone()
    }
}

fn read(path: &Path) -> Result<Header, BadToken> {
    let text = fs::read_to_string(path).map_err(|why| BadToken::File { file: path.to_owned(), why })?;
    header(&text)
}

fn header(token: &str) -> Result<Header, BadToken> {
    let token = token.trim();
    let is_line = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header: Option<Header> = is_line.then(|| format!("Bearer {token}").parse().ok()).flatten();
    let mut header = header.ok_or(BadToken::Text)?;
    header.set_sensitive(true);
    Ok(header)
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Given(_) => f.write_str("Token(…)"),
            Source::File(file) => f.debug_tuple("Token").field(&file.path).finish(),
        }
    }
}

/// Puts the token before each call.
#[derive(Clone, Debug)]
pub(crate) struct Bearer(pub(crate) Option<Token>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.header());
        }
        Ok(request)
    }
}

/// Whom a client trusts, and which certificate it shows.
#[derive(Clone, Default)]
pub struct Trust {
    roots: Option<Vec<u8>>,
    identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl Trust {
    /// The roots of this system, and no certificate of one's own.
    pub fn system() -> Trust {
        Trust::default()
    }

    /// These roots alone, PEM.
    #[must_use]
    pub fn roots(self, pem: impl Into<Vec<u8>>) -> Trust {
        Trust { roots: Some(pem.into()), ..self }
    }

    /// Showing this certificate, with its private key; both PEM.
    #[must_use]
    pub fn certificate(self, pem: impl Into<Vec<u8>>, key_pem: impl Into<Vec<u8>>) -> Trust {
        Trust { identity: Some((pem.into(), key_pem.into())), ..self }
    }

    /// Whether anything was set, which is of use through TLS alone.
    pub(crate) const fn is_set(&self) -> bool {
        self.roots.is_some() || self.identity.is_some()
    }

    /// Why not, where the roots are none: whoever trusts nobody would only hear that no server is to be trusted.
    pub(crate) fn tls(&self) -> Result<ClientTlsConfig, &'static str> {
        let config = match &self.roots {
            Some(pem) if !pem.windows(PEM.len()).any(|text| text == PEM) => return Err("there is no certificate among the roots, as PEM"),
            Some(pem) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem)),
            None => ClientTlsConfig::new().with_native_roots(),
        };
        Ok(match &self.identity {
            Some((certificate, key)) => config.identity(Identity::from_pem(certificate, key)),
            None => config,
        })
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust").field("own_roots", &self.roots.is_some()).field("certificate", &self.identity.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    #[test]
    fn a_token_is_never_shown() {
        let token = Token::new(" swordfish\n").unwrap();
        assert_eq!(token.header(), "Bearer swordfish");
        assert!(token.header().is_sensitive());
        let bearer = Bearer(Some(token));
        assert!(!format!("{bearer:?}").contains("swordfish"));
        let trust = Trust::system().roots("root").certificate("leaf", "swordfish");
        assert_eq!(format!("{trust:?}"), "Trust { own_roots: true, certificate: true }");
    }

    #[test]
    fn a_token_is_one_line() {
        for bad in ["", "  \n", "two words", "two\nlines", "ü"] {
            let error = Token::new(bad).unwrap_err();
            assert_eq!(error.to_string(), "a token is one line of printable ASCII", "{bad:?}");
        }
    }

    #[test]
    fn a_file_is_read_again_and_what_cannot_be_read_changes_nothing() {
        let path = std::env::temp_dir().join(format!("plybook-token-{}", std::process::id()));
        fs::write(&path, "first\n").unwrap();
        let token = Token::file(&path).unwrap();
        let Source::File(file) = &token.0 else { panic!("it is a file") };
        let look_again = || {
            let mut known = file.read.lock().unwrap();
            known.1 = Instant::now().checked_sub(LOOK_EVERY).unwrap();
        };
        fs::write(&path, "second\n").unwrap();
        look_again();
        assert_eq!(token.header(), "Bearer second");
        fs::remove_file(&path).unwrap();
        look_again();
        assert_eq!(token.header(), "Bearer second");
        assert!(Token::file(&path).unwrap_err().to_string().contains("plybook-token"));
    }
}
