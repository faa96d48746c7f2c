//! The contract: generated types, clients and servers of `plybook.v1`, and its descriptor set.
//!
//! Invariant: no message or method is written by hand; `proto/` is the source.

pub mod codec;

/// Package `plybook.v1`.
#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, clippy::large_enum_variant)]
pub mod v1 {
    tonic::include_proto!("plybook.v1");
}

/// The encoded `FileDescriptorSet` of the contract and its imports, for reflection and for clients
/// that generate their stubs at run time.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plybook.binpb"));

/// The domain of every `google.rpc.ErrorInfo`.
pub const ERROR_DOMAIN: &str = "plybook";

#[cfg(test)]
mod tests {
    use super::v1;

    #[test]
    fn answers_are_small_beside_what_they_hold() {
        assert!(size_of::<v1::Event>() > 400);
        assert_eq!(size_of::<v1::MakeMoveResponse>(), 3 * size_of::<usize>());
        assert_eq!(size_of::<v1::UndoResponse>(), 3 * size_of::<usize>());
        assert_eq!(size_of::<v1::CreateGameResponse>(), 2 * size_of::<usize>());
        assert_eq!(size_of::<v1::GetGameResponse>(), size_of::<usize>());
    }
}
