//! Flags of TLS.
//!
//! Invariant: half of a pair is refused in one sentence, and so is whatever belongs to a flag that is not there.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use plybook_server::edge::{ClientCertificates, Tls, TlsFiles, TlsPart};

use crate::exit::usage;

/// Certificates.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "TLS")]
pub(super) struct TlsArgs {
    /// The node's certificate and whatever stands between it and its root, PEM; looked at again while the node runs
    #[arg(long, env = "PLYBOOK_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, env = "PLYBOOK_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// The roots that vouch for client certificates, PEM
    #[arg(long, env = "PLYBOOK_TLS_CLIENT_CA", value_name = "FILE")]
    tls_client_ca: Option<PathBuf>,
    /// Whether a client without a certificate is sent away, where --tls-client-ca is given
    #[arg(long, env = "PLYBOOK_TLS_CLIENT_AUTH", default_value = "required")]
    tls_client_auth: ClientAuth,
    /// How often the files are looked at, in ms
    #[arg(long, env = "PLYBOOK_TLS_LOOK_MS", default_value_t = 10_000)]
    tls_look_ms: u64,
}

/// What becomes of a client without a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ClientAuth {
    /// It is sent away
    Required,
    /// It may say otherwise who it is
    Optional,
}

/// The flag that names a file.
const fn flag(part: TlsPart) -> &'static str {
    match part {
        TlsPart::Certificate => "--tls-cert",
        TlsPart::Key => "--tls-key",
        TlsPart::Roots => "--tls-client-ca",
    }
}

impl TlsArgs {
    /// The files, if there are any, and they hold.
    pub(super) fn read(&self) -> anyhow::Result<Option<TlsFiles>> {
        let (certificate, key) = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (None, None) if self.tls_client_ca.is_some() => {
                return Err(usage("--tls-client-ca: there is no TLS without --tls-cert and --tls-key"));
            }
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(usage("--tls-cert: --tls-key is wanted with it")),
            (None, Some(_)) => return Err(usage("--tls-key: --tls-cert is wanted with it")),
        };
        if self.tls_look_ms == 0 {
            return Err(usage("--tls-look-ms must be at least 1"));
        }
        let required = self.tls_client_auth == ClientAuth::Required;
        let clients = self.tls_client_ca.clone().map(|roots| ClientCertificates { roots, required });
        let files = TlsFiles { certificate, key, clients, look_every: Duration::from_millis(self.tls_look_ms) };
        // The server reads them again; what does not hold is told before anything is opened.
        Tls::read(files.clone(), false).map_err(|error| usage(format!("{}: {error}", flag(error.part))))?;
        Ok(Some(files))
    }
}
