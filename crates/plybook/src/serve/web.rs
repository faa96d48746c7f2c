//! Flags of gRPC-Web.
//!
//! Invariant: an origin without `--grpc-web` is refused rather than passed over.

use plybook_server::edge::Web;

use crate::exit::usage;

/// For browsers.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Browsers")]
pub(super) struct WebArgs {
    /// Speaks gRPC-Web as well, over HTTP/2 and HTTP/1.1, so that a browser can call and watch
    #[arg(long, env = "PLYBOOK_GRPC_WEB")]
    grpc_web: bool,
    /// A page that may read answers, such as http://localhost:3000; repeated, or separated by commas; * is every page
    #[arg(long, env = "PLYBOOK_GRPC_WEB_ORIGIN", value_delimiter = ',', value_name = "ORIGIN")]
    grpc_web_origin: Vec<String>,
}

impl WebArgs {
    /// What browsers may, if anything.
    pub(super) fn read(&self) -> anyhow::Result<Option<Web>> {
        if !self.grpc_web {
            return if self.grpc_web_origin.is_empty() { Ok(None) } else { Err(usage("--grpc-web-origin: --grpc-web is wanted with it")) };
        }
        Web::for_pages(&self.grpc_web_origin).map(Some).map_err(|error| usage(format!("--grpc-web-origin: {error}")))
    }
}
