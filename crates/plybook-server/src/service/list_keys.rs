//! ListKeys: the public keys that check what this node signs and signed.

use plybook_core::receipt::PublicKey;
use plybook_proto::v1;
use tonic::Request;

use crate::auth::{Rpc, authenticate};
use crate::refusal::Refusal;
use crate::service::Service;

pub(super) fn answer(service: &Service, request: Request<v1::ListKeysRequest>) -> Result<v1::ListKeysResponse, Refusal> {
    authenticate(&request)?.may(Rpc::ListKeys)?;
    let active = service.keys.active_id();
    let told =
        |key: &PublicKey| v1::PublicKey { key_id: key.id().to_string(), key: key.bytes().to_vec(), active: active == Some(key.id()) };
    let mut keys: Vec<v1::PublicKey> = service.keys.public().iter().map(told).collect();
    keys.sort_by_key(|key| !key.active);
    Ok(v1::ListKeysResponse { keys })
}
