//! Which answers are packed for a caller that offers to unpack.
//!
//! Invariant: what an answer says does not depend on how it is packed. Packing takes time on both sides, and of a few
//! hundred bytes it saves nothing that anybody notices.

use http::Request;
use prost::Message;
use tonic::Response;

use crate::edge::answers::Weight;

/// Smaller answers go unpacked: they fit into one packet of a network anyway.
const PACKED_FROM_BYTES: usize = 1_200;

/// Streams of events, each of which would be packed by itself, for every watcher again.
const UNPACKED: [&str; 2] = ["/plybook.v1.GameService/StreamEvents", "/plybook.v1.AuditService/StreamAllEvents"];

/// One message.
pub fn reply<T: Message>(message: T) -> Response<T> {
    let bytes = message.encoded_len();
    let mut response = Response::new(message);
    if bytes < PACKED_FROM_BYTES {
        response.disable_compression();
    }
    if let Some(weight) = Weight::of(bytes) {
        response.extensions_mut().insert(weight);
    }
    response
}

/// Streams are packed as their calls offer, so of these there is no offer.
pub fn without_offer_for_events<B>(mut request: Request<B>) -> Request<B> {
    if UNPACKED.contains(&request.uri().path()) {
        request.headers_mut().remove("grpc-accept-encoding");
    }
    request
}
