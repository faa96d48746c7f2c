//! The keys of a node: one that signs heads, and public ones for whoever checks.
//!
//! Invariants: a private key leaves this module in no reply, log or `Debug`; a signature depends on the
//! key and on what is signed alone. A repeated request gets a receipt of the same head: other heads may
//! be signed with it than were before.

mod signer;
mod wish;

use std::fmt;
use std::sync::Arc;

use ed25519_dalek::Signer as _;
use plybook_core::Receipt;
use plybook_core::limits::HEADS_SIGNED_MAX;
use plybook_core::receipt::{KeyId, PublicKey, PublicKeys, Signature, SignedHead, SignedHeads, Tree};

pub use self::signer::Signer;
pub use self::wish::ReceiptWish;

use crate::config::ConfigError;
use crate::refusal::Refusal;

/// An Ed25519 private key.
#[derive(Clone)]
pub struct SigningKey {
    key: ed25519_dalek::SigningKey,
    public: PublicKey,
}

impl SigningKey {
    /// From the 32 bytes that RFC 8032 calls the private key.
    pub fn from_seed(seed: &[u8; 32]) -> Result<SigningKey, ConfigError> {
        SigningKey::new(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// A new one, of the operating system's randomness.
    pub fn generate() -> Result<SigningKey, ConfigError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| ConfigError(format!("the operating system gave no randomness: {error}")))?;
        SigningKey::from_seed(&seed)
    }

    pub(crate) fn new(key: ed25519_dalek::SigningKey) -> Result<SigningKey, ConfigError> {
        let public = PublicKey::from_bytes(&key.verifying_key().to_bytes()).map_err(|error| ConfigError(error.to_string()))?;
        Ok(SigningKey { key, public })
    }

    /// What everybody may know of it.
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs a head.
    pub fn sign(&self, head: &SignedHead) -> Signature {
        self.over(&head.bytes())
    }

    /// Signs a head alone for whoever asked.
    pub fn receipt(&self, head: SignedHead) -> Receipt {
        Receipt::new(head, self.sign(&head))
    }

    /// Signs heads together, by one signature for as many as are signed together at most; one left over is signed alone.
    pub fn receipts(&self, heads: &[SignedHead]) -> Vec<Receipt> {
        let mut receipts = Vec::with_capacity(heads.len());
        for heads in heads.chunks(HEADS_SIGNED_MAX as usize) {
            match heads {
                [alone] => receipts.push(self.receipt(*alone)),
                together => self.together(together, &mut receipts),
            }
        }
        receipts
    }

    fn together(&self, heads: &[SignedHead], receipts: &mut Vec<Receipt>) {
        let tree = Tree::over(heads.iter().map(SignedHead::bytes));
        let size = heads.len() as u32;
        let signature = self.over(&SignedHeads { size, root: tree.root() }.bytes());
        receipts.extend((0..size).zip(heads).map(|(index, head)| match tree.inclusion(index) {
            Ok(inclusion) => Receipt { inclusion: Some(inclusion), ..Receipt::new(*head, signature) },
            // So that whatever number of heads there is, nobody gets what proves nothing.
            Err(_) => self.receipt(*head),
        }));
    }

    fn over(&self, bytes: &[u8]) -> Signature {
        Signature { key_id: self.public.id(), bytes: self.key.sign(bytes).to_bytes() }
    }

    /// For what else signs by it.
    pub(crate) const fn dalek(&self) -> &ed25519_dalek::SigningKey {
        &self.key
    }

    /// For the key's own file and nothing else.
    pub(crate) fn reveal(&self) -> [u8; 32] {
        self.key.to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, hidden)", self.public.id())
    }
}

/// The keys of a node.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    /// Clones share it, so that their callers are signed together.
    active: Option<Arc<Signer>>,
    public: PublicKeys,
}

impl Keys {
    /// A key to sign with, and the public ones of those that signed before.
    pub fn new(active: Option<SigningKey>, retired: impl IntoIterator<Item = PublicKey>) -> Keys {
        let public = active.iter().map(|key| *key.public()).chain(retired).collect();
        Keys { active: active.map(|key| Arc::new(Signer::new(key))), public }
    }

    /// The key to sign with, where there is one.
    pub fn active(&self) -> Option<&SigningKey> {
        self.active.as_deref().map(Signer::key)
    }

    /// What signs receipts.
    pub fn signer(&self) -> Result<&Signer, Refusal> {
        self.active.as_deref().ok_or(Refusal::ReceiptsUnavailable)
    }

    /// Every public key, the active one among them.
    pub const fn public(&self) -> &PublicKeys {
        &self.public
    }

    /// The id of the key to sign with.
    pub fn active_id(&self) -> Option<KeyId> {
        self.active().map(|key| key.public().id())
    }
}
