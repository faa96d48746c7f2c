//! The way to the servers, as every command that is a client has it.

use std::time::Duration;

use clap::Args;
use plybook_client::{Client, Options};

use crate::exit::usage;

const LOCAL: &str = "http://127.0.0.1:50051";

/// Where the servers are.
#[derive(Args, Clone, Debug)]
pub(crate) struct Link {
    /// The server; several of one database are separated by commas, and the next is asked when one
    /// does not answer.
    #[arg(long, env = "PLYBOOK_SERVER", default_value = LOCAL, value_name = "URL[,URL…]")]
    pub(crate) server: String,
    /// Seconds to go on trying when no server answers.
    #[arg(long, env = "PLYBOOK_PATIENCE", default_value_t = 30, value_name = "SECONDS")]
    pub(crate) patience: u64,
}

impl Link {
    /// What another command needs to find the same servers.
    pub(crate) fn flag(&self) -> String {
        if self.server == LOCAL { String::new() } else { format!(" --server {}", self.server) }
    }

    /// A client of these servers.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let options = Options { patience: Duration::from_secs(self.patience), ..Options::default() };
        Client::with(&self.server, options).map_err(|bad| usage(format!("--server: {bad}")))
    }
}
