//! Where the keys of an issuer come from: a file or an address, looked at again and again.
//!
//! Invariants: what cannot be read leaves the keys as they were; keys that changed are another generation, and what was
//! checked under an older one is checked again; however many tokens name unknown keys, the source is asked at its own pace.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jsonwebtoken::Algorithm;
use tokio::sync::{Mutex, RwLock};
use tokio::time::Instant;

use super::fetch::Fetch;
use super::key_set::{Key, KeySet};
use crate::config::ConfigError;
use crate::refusal::Refusal;

/// Longest document, in bytes.
pub const JWKS_BYTES_MAX: usize = 256 * 1024;
/// How often a file is looked at.
const FILE_EVERY: Duration = Duration::from_secs(2);
/// How often an address is asked.
const URL_EVERY: Duration = Duration::from_secs(300);
/// How soon after the last look an unknown key is looked for in a file.
const FILE_PACE: Duration = Duration::from_millis(250);
/// How soon after the last time an address is asked for an unknown key.
const URL_PACE: Duration = Duration::from_secs(10);

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JwksSource {
    /// A file.
    File(PathBuf),
    /// An address: https, or http on this machine.
    Url(String),
}

impl JwksSource {
    /// Reads an address, or the name of a file.
    pub fn parse(text: &str) -> JwksSource {
        if text.contains("://") { JwksSource::Url(text.to_owned()) } else { JwksSource::File(PathBuf::from(text)) }
    }
}

/// Whether a source makes sense: a file that is right, or an address that may be asked.
pub fn check(source: &JwksSource) -> Result<(), ConfigError> {
    match source {
        JwksSource::File(path) => {
            let read = read(path).and_then(|text| KeySet::read(&text));
            read.map(drop).map_err(|why| ConfigError(format!("the keys of tokens: {}: {why}", path.display())))
        }
        JwksSource::Url(url) => Fetch::new(url).map(drop),
    }
}

/// How keys are had.
#[derive(Debug)]
enum Way {
    File(PathBuf),
    Url(Box<Fetch>),
}

/// The keys of an issuer, as they are now.
#[derive(Debug)]
pub struct Jwks {
    way: Way,
    /// With the document that they were read from.
    keys: RwLock<(Arc<KeySet>, Vec<u8>)>,
    generation: AtomicU64,
    /// When the source was looked at last; whoever looks holds it.
    looked: Mutex<Option<Instant>>,
}

impl Jwks {
    /// Opens the source. A file must be right; an address may be away, and its keys come later.
    pub async fn open(source: &JwksSource) -> Result<Jwks, ConfigError> {
        let way = match source {
            JwksSource::File(path) => Way::File(path.clone()),
            JwksSource::Url(url) => Way::Url(Box::new(Fetch::new(url)?)),
        };
        let keys = Jwks { way, keys: RwLock::default(), generation: AtomicU64::new(0), looked: Mutex::new(None) };
        let mut looked = keys.looked.lock().await;
        let found = keys.look(&mut looked).await;
        drop(looked);
        match (found, source) {
            (Ok(()), _) => {}
            (Err(why), JwksSource::File(path)) => return Err(ConfigError(format!("the keys of tokens: {}: {why}", path.display()))),
            (Err(why), JwksSource::Url(_)) => tracing::warn!(%why, "the keys of tokens could not be fetched yet: no token is taken"),
        }
        Ok(keys)
    }

    /// Which keys these are: another number after each change.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The key of this name and algorithm, and the generation that it belongs to.
    pub async fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Result<(u64, Key), Refusal> {
        if let Some(found) = self.known(kid, algorithm).await {
            return Ok(found);
        }
        self.look_for_more().await;
        match self.known(kid, algorithm).await {
            Some(found) => Ok(found),
            None if self.keys.read().await.0.is_empty() => Err(Refusal::IssuerUnavailable),
            None => Err(Refusal::CredentialsInvalid { why: "its key is none of the issuer's" }),
        }
    }

    async fn known(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<(u64, Key)> {
        let keys = self.keys.read().await;
        keys.0.find(kid, algorithm).map(|key| (self.generation(), key.clone()))
    }

    /// Looks at the source now, where nobody has just done so.
    async fn look_for_more(&self) {
        let pace = match self.way {
            Way::File(_) => FILE_PACE,
            Way::Url(_) => URL_PACE,
        };
        let mut looked = self.looked.lock().await;
        if looked.is_some_and(|at| at.elapsed() < pace) {
            return;
        }
        self.say(self.look(&mut looked).await);
    }

    /// Looks at the source for as long as the node lives.
    pub async fn follow(self: Arc<Jwks>) {
        let every = match self.way {
            Way::File(_) => FILE_EVERY,
            Way::Url(_) => URL_EVERY,
        };
        loop {
            tokio::time::sleep(every).await;
            let mut looked = self.looked.lock().await;
            let found = self.look(&mut looked).await;
            drop(looked);
            self.say(found);
        }
    }

    fn say(&self, found: Result<(), String>) {
        if let Err(why) = found {
            tracing::warn!(%why, "the keys of tokens stay as they were");
        }
    }

    async fn look(&self, looked: &mut Option<Instant>) -> Result<(), String> {
        *looked = Some(Instant::now());
        let text = match &self.way {
            Way::File(path) => {
                let path = path.clone();
                tokio::task::spawn_blocking(move || read(&path)).await.map_err(|error| error.to_string())?
            }
            Way::Url(fetch) => fetch.get(JWKS_BYTES_MAX).await,
        };
        // When an unknown key may be looked for again counts from the end.
        *looked = Some(Instant::now());
        let text = text?;
        if self.keys.read().await.1 == text {
            return Ok(());
        }
        let keys = KeySet::read(&text)?;
        tracing::info!(keys = keys.len(), "the keys of tokens were read");
        let mut now = self.keys.write().await;
        *now = (Arc::new(keys), text);
        self.generation.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let mut text = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    file.take(JWKS_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(|error| format!("cannot be read: {error}"))?;
    if text.len() > JWKS_BYTES_MAX { Err(format!("is longer than {JWKS_BYTES_MAX} bytes")) } else { Ok(text) }
}
