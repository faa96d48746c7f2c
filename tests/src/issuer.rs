//! An issuer of tokens: keys of each kind, the document that shows their public halves, and JWTs, also wrong ones.

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

/// A key to sign with.
pub struct IssuerKey {
    /// Its name.
    pub kid: String,
    /// What it signs by.
    pub algorithm: Algorithm,
    key: EncodingKey,
}

/// What an Ed25519 seed begins with in PKCS#8.
const ED25519_DER: &[u8] = &[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
/// How much of PKCS#8 stands before an RSA key of 2048 bits.
const RSA_WRAPPING: usize = 26;

impl IssuerKey {
    /// Ed25519, from one byte repeated.
    pub fn ed25519(kid: &str, seed: u8) -> IssuerKey {
        let der = [ED25519_DER, &[seed; 32]].concat();
        IssuerKey { kid: kid.to_owned(), algorithm: Algorithm::EdDSA, key: EncodingKey::from_ed_der(&der) }
    }

    /// P-256, a new one.
    pub fn p256(kid: &str) -> IssuerKey {
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).unwrap();
        IssuerKey { kid: kid.to_owned(), algorithm: Algorithm::ES256, key: EncodingKey::from_ec_der(der.as_ref()) }
    }

    /// RSA of 2048 bits, a new one.
    pub fn rsa(kid: &str) -> IssuerKey {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let der: Pkcs8V1Der = pair.as_der().unwrap();
        IssuerKey { kid: kid.to_owned(), algorithm: Algorithm::RS256, key: EncodingKey::from_rsa_der(&der.as_ref()[RSA_WRAPPING..]) }
    }

    /// Its public half.
    pub fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.kid.clone());
        serde_json::to_value(jwk).unwrap()
    }

    /// A token with these claims.
    pub fn signs(&self, claims: &Value) -> String {
        encode(&self.header(), claims, &self.key).unwrap()
    }

    /// A token with this header and these claims.
    pub fn signs_under(&self, header: &Header, claims: &Value) -> String {
        encode(header, claims, &self.key).unwrap()
    }

    /// The header of its tokens.
    pub fn header(&self) -> Header {
        Header { kid: Some(self.kid.clone()), ..Header::new(self.algorithm) }
    }
}

/// The document of these keys.
pub fn jwks(keys: &[&IssuerKey]) -> String {
    json!({"keys": keys.iter().map(|key| key.public()).collect::<Vec<_>>()}).to_string()
}

/// Claims of this role in this tenant, for ten minutes from `now`, in seconds.
pub fn claims(tenant: &str, role: &str, name: &str, now: u64) -> Value {
    json!({"sub": name, "tenant": tenant, "plybook_role": role, "exp": now + 600, "iat": now})
}
