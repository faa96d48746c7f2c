//! The way to the servers, as every command that is a client has it.
//!
//! Invariant: a token is in nothing that is printed, and half of a pair of files is refused in one sentence.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use plybook_client::credentials::BadToken;
use plybook_client::{Client, Options, Token, Trust};

use crate::exit::usage;

const LOCAL: &str = "http://127.0.0.1:50051";

/// Where the servers are, and who calls them.
#[derive(Args, Clone, Debug)]
pub(crate) struct Link {
    /// The server; several of one database are separated by commas, and the next is asked when one
    /// does not answer.
    #[arg(long, env = "PLYBOOK_SERVER", default_value = LOCAL, value_name = "URL[,URL…]")]
    pub(crate) server: String,
    /// Seconds to go on trying when no server answers.
    #[arg(long, env = "PLYBOOK_PATIENCE", default_value_t = 30, value_name = "SECONDS")]
    pub(crate) patience: u64,
    #[command(flatten)]
    credentials: Credentials,
}

/// Who calls, and whom they trust.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Credentials")]
struct Credentials {
    /// An API key or a JWT; better in the environment, or in a file, than where other processes see it
    #[arg(long, env = "PLYBOOK_TOKEN", hide_env_values = true, conflicts_with = "token_file")]
    token: Option<Secret>,
    /// A file that it stands in; read again once a second, so that it can be replaced
    #[arg(long, env = "PLYBOOK_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Sends it also where neither TLS hides it nor the server is on this machine
    #[arg(long, env = "PLYBOOK_TOKEN_IN_CLEAR")]
    token_in_clear: bool,
    /// The roots that vouch for the server, PEM; those of the system where none are given
    #[arg(long, env = "PLYBOOK_CA", value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The client's own certificate, PEM
    #[arg(long, env = "PLYBOOK_CERT", value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// Its private key, PEM
    #[arg(long, env = "PLYBOOK_KEY", value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

/// What is printed nowhere.
#[derive(Clone)]
struct Secret(String);

impl std::str::FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Secret, Self::Err> {
        Ok(Secret(text.to_owned()))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl Link {
    /// What another command needs to find the same servers. A token is for its owner to repeat.
    pub(crate) fn flag(&self) -> String {
        let server = if self.server == LOCAL { String::new() } else { format!(" --server {}", self.server) };
        server + &self.credentials.flags()
    }

    /// A client of these servers.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let patience = Duration::from_secs(self.patience);
        let (token, trust) = (self.credentials.token()?, self.credentials.trust()?);
        let options = Options { patience, token, trust, token_in_clear: self.credentials.token_in_clear, ..Options::default() };
        Client::with(&self.server, options).map_err(|bad| usage(format!("--server: {bad}")))
    }
}

impl Credentials {
    fn token(&self) -> anyhow::Result<Option<Token>> {
        let token = match (&self.token, &self.token_file) {
            (Some(Secret(token)), _) => Token::new(token).map_err(|error| usage(format!("--token: {error}")))?,
            (None, Some(file)) => Token::file(file).map_err(|error| match error {
                error @ BadToken::File { .. } => usage(format!("--token-file: {error}")),
                error => usage(format!("--token-file: {}: {error}", file.display())),
            })?,
            (None, None) => return Ok(None),
        };
        Ok(Some(token))
    }

    fn trust(&self) -> anyhow::Result<Trust> {
        let mut trust = Trust::system();
        if let Some(file) = &self.ca {
            trust = trust.roots(read("--ca", file)?);
        }
        if let (Some(cert), Some(key)) = (&self.cert, &self.key) {
            trust = trust.certificate(read("--cert", cert)?, read("--key", key)?);
        }
        Ok(trust)
    }

    fn flags(&self) -> String {
        let files = [("token-file", &self.token_file), ("ca", &self.ca), ("cert", &self.cert), ("key", &self.key)];
        let given = files.into_iter().filter_map(|(flag, file)| Some(format!(" --{flag} {}", file.as_ref()?.display())));
        let in_clear = self.token_in_clear.then(|| " --token-in-clear".to_owned());
        given.chain(in_clear).collect()
    }
}

fn read(flag: &str, file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).map_err(|error| usage(format!("{flag}: {}: {error}", file.display())))
}
