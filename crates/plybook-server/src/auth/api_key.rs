//! API keys: secrets that backends keep.
//!
//! Invariant: a key in clear text is shown once, to whoever made it; what is kept and compared is a hash. The secret is 256
//! bits of the operating system's randomness, so that one SHA-256 is as good as a slow hash, and costs a call nothing.

use std::fmt;

use plybook_store::{ApiKey, ApiKeyId, TenantId};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::refusal::Refusal;

/// What every key begins with, for people and for tools that look for secrets.
pub const PREFIX: &str = "ply_";

const ID_BYTES: usize = 8;
const SECRET_BYTES: usize = 32;

/// A key in clear text: `ply_<tenant>-<id>_<secret>`.
pub struct KeyText {
    id: ApiKeyId,
    secret: [u8; SECRET_BYTES],
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyText({}, hidden)", print_id(&self.id))
    }
}

impl KeyText {
    /// A new one, of the operating system's randomness.
    pub fn generate(tenant: TenantId) -> Result<KeyText, Refusal> {
        let (mut id, mut secret) = ([0; ID_BYTES], [0; SECRET_BYTES]);
        let filled = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut secret));
        filled.map_err(|error| Refusal::internal(format!("the operating system gave no randomness: {error}")))?;
        Ok(KeyText { id: ApiKeyId { tenant, id: hex::encode(id) }, secret })
    }

    /// Reads a key.
    pub fn parse(text: &str) -> Option<KeyText> {
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let id = parse_id(id)?;
        let mut bytes = [0; SECRET_BYTES];
        hex::decode_to_slice(secret, &mut bytes).ok()?;
        Some(KeyText { id, secret: bytes })
    }

    /// Under what it is kept.
    pub const fn id(&self) -> &ApiKeyId {
        &self.id
    }

    /// What is kept of its secret.
    pub fn secret_hash(&self) -> [u8; 32] {
        Sha256::digest(self.secret).into()
    }

    /// Whether it is the kept one, in a time that does not tell how much of it is right.
    pub fn is(&self, kept: &ApiKey) -> bool {
        self.secret_hash().ct_eq(&kept.secret_hash).into()
    }

    /// For whoever made it, once.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", print_id(&self.id), hex::encode(self.secret))
    }
}

/// A key's id as people see it: `<tenant>-<id>`.
pub fn print_id(id: &ApiKeyId) -> String {
    format!("{}-{}", id.tenant.0, id.id)
}

/// Reads what [`print_id`] printed, and nothing else.
pub fn parse_id(text: &str) -> Option<ApiKeyId> {
    let (tenant, id) = text.split_once('-')?;
    let lower_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let number = tenant.parse().ok().filter(|number: &i32| *number > 0 && number.to_string() == tenant)?;
    (id.len() == 2 * ID_BYTES && id.bytes().all(lower_hex)).then(|| ApiKeyId { tenant: TenantId(number), id: id.to_owned() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use plybook_core::Time;

    use super::*;

    fn kept(key: &KeyText) -> ApiKey {
        ApiKey {
            id: key.id().clone(),
            name: "svc/rooms".to_owned(),
            role: "service".to_owned(),
            game: None,
            seat: None,
            secret_hash: key.secret_hash(),
            created: Time::from_unix_ms(1),
            expires: None,
            revoked: None,
        }
    }

    #[test]
    fn a_key_reads_back_and_its_debug_hides_it() {
        let key = KeyText::generate(TenantId(7)).unwrap();
        let text = key.reveal();
        let again = KeyText::parse(&text).unwrap();
        assert_eq!(again.id(), key.id());
        assert!(again.is(&kept(&key)));
        let secret = text.rsplit('_').next().unwrap();
        assert!(!format!("{key:?} {:?}", kept(&key)).contains(secret));
        assert!(!KeyText::generate(TenantId(7)).unwrap().is(&kept(&key)));
    }

    #[test]
    fn what_is_no_key_is_not_read() {
        let text = KeyText::generate(TenantId(7)).unwrap().reveal();
        for wrong in [
            "".to_owned(),
            "ply_".to_owned(),
            text.replace("ply_", "plx_"),
            text.replace("ply_7-", "ply_07-"),
            text.replace("ply_7-", "ply_-7-"),
            text.replace("ply_7-", "ply_+7-"),
            text.replace("ply_7-", "ply_0-"),
            text.replace("ply_7-", "ply_99999999999-"),
            format!("{text}00"),
            text[..text.len() - 2].to_owned(),
            format!("{}zz", &text[..text.len() - 2]),
        ] {
            assert!(KeyText::parse(&wrong).is_none(), "{wrong}");
        }
    }
}
