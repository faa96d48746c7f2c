//! The seats' part in the dice in few bytes, for snapshots.
//!
//! Invariant: what is unpacked under the same header is equal to what was packed.

use crate::digest::Digest;
use crate::entropy::{Commit, Joining, Joint, SeatSignature};
use crate::limits::NONCE_BYTES_MAX;
use crate::packing::{Damaged, Packer, Unpacker};
use crate::time::Time;

impl Joining {
    pub(crate) fn pack(&self, out: &mut Packer) {
        out.number(self.since.unix_ms());
        for commit in &self.commits {
            let signed = commit.as_ref().and_then(|commit| commit.signed.as_ref());
            out.number(u8::from(commit.is_some()) + u8::from(signed.is_some()));
            if let Some(commit) = commit {
                out.raw(&commit.commitment.0);
            }
            if let Some(signed) = signed {
                out.raw(&signed.key);
                out.raw(&signed.signature);
            }
        }
        for nonce in &self.nonces {
            // A nonce is never empty.
            let bytes = nonce.as_deref().unwrap_or_default();
            out.count(bytes.len());
            out.raw(bytes);
        }
    }

    /// `rule` and `header` are the game's.
    pub(crate) fn unpack(rule: Joint, header: Digest, seats: u8, from: &mut Unpacker<'_>) -> Result<Joining, Damaged> {
        let since = Time::from_unix_ms(from.long()?);
        let commits = (0..seats).map(|_| unpack_commit(from)).collect::<Result<_, _>>()?;
        let nonces = (0..seats).map(|_| unpack_nonce(from)).collect::<Result<_, _>>()?;
        Ok(Joining { rule, header, since, commits, nonces })
    }
}

fn unpack_commit(from: &mut Unpacker<'_>) -> Result<Option<Commit>, Damaged> {
    let signs = match from.byte()? {
        0 => return Ok(None),
        1 => false,
        2 => true,
        _ => return Err(Damaged),
    };
    let commitment = from.digest()?;
    let signed = signs.then(|| Ok(SeatSignature { key: from.raw()?, signature: from.raw()? })).transpose()?;
    Ok(Some(Commit { commitment, signed }))
}

fn unpack_nonce(from: &mut Unpacker<'_>) -> Result<Option<Vec<u8>>, Damaged> {
    let length = from.count()?;
    if length > NONCE_BYTES_MAX {
        return Err(Damaged);
    }
    let bytes = (0..length).map(|_| from.byte()).collect::<Result<Vec<u8>, _>>()?;
    Ok(Some(bytes).filter(|bytes| !bytes.is_empty()))
}
