//! The public keys of an issuer of tokens.
//!
//! Invariant: a key checks one algorithm, that of its own kind, whatever a token says: EdDSA over Ed25519, ES256 over P-256,
//! RS256 over RSA of 2048 bits or more. A symmetric key checks nothing, so no public key can be taken for a secret.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;

/// Shortest modulus of an RSA key, in base64 digits: 2048 bits.
const RSA_DIGITS_MIN: usize = 342;
/// Most keys of a set that are kept.
pub const KEYS_MAX: usize = 64;

/// A key and what it checks.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name, where it has one.
    pub kid: Option<String>,
    /// The only algorithm that it checks.
    pub algorithm: Algorithm,
    /// The key.
    pub key: DecodingKey,
}

/// The public keys of an issuer.
#[derive(Clone, Debug, Default)]
pub struct KeySet(Vec<Key>);

#[derive(Deserialize)]
struct Document {
    keys: Vec<serde_json::Value>,
}

impl KeySet {
    /// Reads a JWK set (RFC 7517). Keys of other kinds, and those that encrypt, are passed over; none that is left is an error.
    pub fn read(text: &[u8]) -> Result<KeySet, String> {
        let document: Document = serde_json::from_slice(text).map_err(|error| format!("is no JWK set: {error}"))?;
        if document.keys.len() > KEYS_MAX {
            return Err(format!("has more than {KEYS_MAX} keys"));
        }
        let keys: Vec<Key> =
            document.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok().and_then(|jwk| read(&jwk))).collect();
        if keys.is_empty() {
            return Err("has no key that checks EdDSA, ES256 or RS256".to_owned());
        }
        Ok(KeySet(keys))
    }

    /// The key that a token names, or the only one of the algorithm where it names none.
    pub fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let mut fitting = self.0.iter().filter(|key| key.algorithm == algorithm && (kid.is_none() || key.kid.as_deref() == kid));
        match (fitting.next(), fitting.next()) {
            (Some(key), None) => Some(key),
            // Two keys of one name, or no name among several: nobody guesses.
            _ => None,
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn read(jwk: &Jwk) -> Option<Key> {
    let (algorithm, named) = match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(pair) if pair.curve == EllipticCurve::Ed25519 => (Algorithm::EdDSA, KeyAlgorithm::EdDSA),
        AlgorithmParameters::EllipticCurve(curve) if curve.curve == EllipticCurve::P256 => (Algorithm::ES256, KeyAlgorithm::ES256),
        AlgorithmParameters::RSA(rsa) if rsa.n.len() >= RSA_DIGITS_MIN => (Algorithm::RS256, KeyAlgorithm::RS256),
        _ => return None,
    };
    let common = &jwk.common;
    let signs = common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
    let fits = common.key_algorithm.is_none_or(|declared| declared == named);
    let key = DecodingKey::from_jwk(jwk).ok()?;
    (signs && fits).then(|| Key { kid: common.key_id.clone(), algorithm, key })
}
