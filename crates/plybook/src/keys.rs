//! `plybook keygen` and `plybook keys`: a key to sign with, and the public keys of servers.
//!
//! Invariant: a private key is written into its own file and nowhere else; what is printed is public,
//! and is a file that `--public-key` reads.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use plybook_core::receipt::{PublicKey, PublicKeys};
use plybook_server::key_file;
use plybook_server::signing::{Keys, SigningKey};

use crate::exit::usage;
use crate::link::Link;
use crate::screen::Screen;

/// Flags of `plybook keygen`.
#[derive(Args, Debug)]
pub(crate) struct KeygenArgs {
    /// The new file of the private key, for `plybook serve --signing-key`
    #[arg(long, default_value = "plybook.key", value_name = "FILE")]
    out: PathBuf,
}

/// Flags of `plybook keys`.
#[derive(Args, Debug)]
pub(crate) struct KeysArgs {
    #[command(flatten)]
    link: Link,
}

/// The keys of a node.
#[derive(Args, Debug)]
#[command(next_help_heading = "Receipts")]
pub(crate) struct SigningArgs {
    /// The private key that signs receipts and exports, as `plybook keygen` writes it, or PKCS#8 PEM
    #[arg(long, env = "PLYBOOK_SIGNING_KEY", value_name = "FILE")]
    signing_key: Option<PathBuf>,
    /// Public keys that signed before and are still shown; may be repeated
    #[arg(long, env = "PLYBOOK_PUBLIC_KEY", value_delimiter = ',', value_name = "FILE")]
    public_key: Vec<PathBuf>,
}

impl SigningArgs {
    /// Reads the files.
    pub(crate) fn read(&self) -> anyhow::Result<Keys> {
        let read = |file: &PathBuf| key_file::signing(file).map_err(|error| usage(format!("--signing-key: {error}")));
        let active = self.signing_key.as_ref().map(read).transpose()?;
        Ok(Keys::new(active, public_keys(&self.public_key)?.iter().copied()))
    }
}

/// The public keys in the files of `--public-key`.
pub(crate) fn public_keys(files: &[PathBuf]) -> anyhow::Result<PublicKeys> {
    Ok(public_key_list("--public-key", files)?.into_iter().collect())
}

/// The public keys in the files of a flag, in their order.
pub(crate) fn public_key_list(flag: &str, files: &[PathBuf]) -> anyhow::Result<Vec<PublicKey>> {
    let read = files.iter().map(|file| key_file::public(file)).collect::<Result<Vec<_>, _>>();
    Ok(read.map_err(|error| usage(format!("{flag}: {error}")))?.into_iter().flatten().collect())
}

/// Makes a key.
pub(crate) fn generate(args: &KeygenArgs) -> anyhow::Result<()> {
    let key = SigningKey::generate()?;
    key_file::write(&args.out, &key).context("--out")?;
    eprintln!("{}: the private key; what is printed on standard output is the key id and the public key", args.out.display());
    Screen::new().say(key.public().print())?;
    Ok(())
}

/// Lists the keys of a server.
pub(crate) async fn list(args: KeysArgs) -> anyhow::Result<()> {
    let keys = args.link.client()?.keys().await?;
    let screen = Screen::new();
    if keys.is_empty() {
        eprintln!("this server has no keys: it signs nothing");
    }
    for key in keys {
        let bytes: &[u8; 32] = key.key.as_slice().try_into().context("the server sent a key that has not 32 bytes")?;
        let read = PublicKey::from_bytes(bytes).context("the server sent a key that is none")?;
        screen.say(format!("{} {}", read.print(), if key.active { "active" } else { "retired" }))?;
    }
    Ok(())
}
