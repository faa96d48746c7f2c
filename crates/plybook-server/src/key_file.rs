//! Keys in files.
//!
//! Invariants: a private key that others on the machine can read is refused, but for a group that root lets read it; no message repeats what
//! stands in a file; a file that is there already is never written over. A public key's file names the
//! key's id, so that a private key is never taken for a public one and shown.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use ed25519_dalek::pkcs8::{DecodePrivateKey as _, spki::DecodePublicKey as _};
use plybook_core::receipt::PublicKey;

use crate::config::ConfigError;
use crate::signing::SigningKey;

/// No file of keys is longer, in bytes.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Writes a new key, 64 hexadecimal digits, into a new file that only its owner can read.
pub fn write(path: &Path, key: &SigningKey) -> Result<(), ConfigError> {
    let refuse = |error: std::io::Error| bad(path, &format!("cannot be written: {error}"));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(refuse)?;
    let text = format!("{}\n", hex::encode(key.reveal()));
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a key is none; the first error is the one to tell.
        let _ = std::fs::remove_file(path);
    }
    written.map_err(refuse)
}

/// Reads a private key: 64 hexadecimal digits as [`write()`] writes them, or PKCS#8 as PEM.
pub fn signing(path: &Path) -> Result<SigningKey, ConfigError> {
    let mut file = File::open(path).map_err(|error| bad(path, &format!("cannot be read: {error}")))?;
    let metadata = file.metadata().map_err(|error| bad(path, &format!("cannot be read: {error}")))?;
    // What root gives a group to read is how secrets are handed to a service that is nobody on its machine; as Postgres has it.
    let others = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if metadata.permissions().mode() & others != 0 {
        return Err(bad(path, "can be read by others than its owner: chmod 600 it"));
    }
    let text = read(path, &mut file)?;
    let none = || bad(path, "holds no private key: neither 64 hexadecimal digits nor an Ed25519 key in PKCS#8 PEM");
    if text.trim_start().starts_with("-----BEGIN") {
        return SigningKey::new(ed25519_dalek::SigningKey::from_pkcs8_pem(text.trim()).map_err(|_| none())?);
    }
    let mut seed = [0; 32];
    hex::decode_to_slice(text.trim_end(), &mut seed).map_err(|_| none())?;
    SigningKey::from_seed(&seed)
}

/// Reads public keys: lines as `plybook keygen` and `plybook keys` print them, or one key as PEM.
pub fn public(path: &Path) -> Result<Vec<PublicKey>, ConfigError> {
    let mut file = File::open(path).map_err(|error| bad(path, &format!("cannot be read: {error}")))?;
    let text = read(path, &mut file)?;
    if text.trim_start().starts_with("-----BEGIN") {
        let key = ed25519_dalek::VerifyingKey::from_public_key_pem(text.trim())
            .map_err(|_| bad(path, "holds no public key: its PEM is not that of an Ed25519 public key"))?;
        return Ok(vec![PublicKey::from_bytes(&key.to_bytes()).map_err(|error| bad(path, &error.to_string()))?]);
    }
    let line = |line: &str| {
        let key = ["active", "retired"].iter().find_map(|word| line.strip_suffix(word)).unwrap_or(line);
        PublicKey::parse(key.trim()).map_err(|error| bad(path, &format!("holds no public key: {error}")))
    };
    let keys = text.lines().filter(|line| !line.trim().is_empty()).map(line).collect::<Result<Vec<_>, _>>()?;
    if keys.is_empty() { Err(bad(path, "holds no public key: it is empty")) } else { Ok(keys) }
}

fn read(path: &Path, file: &mut File) -> Result<String, ConfigError> {
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text);
    match read {
        Err(error) => Err(bad(path, &format!("cannot be read: {error}"))),
        Ok(bytes) if bytes as u64 > FILE_BYTES_MAX => Err(bad(path, "is too long for a file of keys")),
        Ok(_) => Ok(text),
    }
}

fn bad(path: &Path, why: &str) -> ConfigError {
    ConfigError(format!("the key file {} {why}", path.display()))
}
