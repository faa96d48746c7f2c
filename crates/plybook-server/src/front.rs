//! The way of a call from its connection to its RPC, through whatever stands around all of them.
//!
//! From the outside in: what browsers speak, the call's span, deadline and panics, what its headers say and how large they are, what is packed, who calls from where and
//! how often in vain, who it is, and how often who it is may call.
//!
//! Invariant: nothing of a request's body is read before it is known who calls; what needs no credential reads bodies of
//! [`OPEN_REQUEST_BYTES`] at most.

use std::sync::Arc;

use plybook_proto::v1::audit_service_server::AuditServiceServer;
use plybook_proto::v1::game_service_server::GameServiceServer;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codec::CompressionEncoding::Gzip;
use tonic_health::pb::FILE_DESCRIPTOR_SET as HEALTH_DESCRIPTOR_SET;
use tonic_health::server::HealthReporter;
use tonic_types::pb::FILE_DESCRIPTOR_SET as ERROR_DETAILS_DESCRIPTOR_SET;
use tower::util::MapRequestLayer;

use crate::auth::{AuthLayer, Authenticator};
use crate::config::Config;
use crate::edge::{AdmissionLayer, AttemptsLayer, DirectLayer, HeadersLayer, Incoming, headers, web};
use crate::guard::GuardLayer;
use crate::limits::{OPEN_REQUEST_BYTES, REPLY_BYTES_MAX, RESETS_PENDING};
use crate::packing::without_offer_for_events;
use crate::server::ServeError;
use crate::service::{AuditRpc, GameRpc, Service};
use crate::telemetry::CallsLayer;

type Mapped = fn(http::Request<Body>) -> http::Request<Body>;

/// Serves what comes in, until told to stop. Health is told from outside.
pub(crate) fn serve(
    config: &Config,
    authenticator: Authenticator,
    service: Arc<Service>,
    incoming: Incoming,
    stopped: CancellationToken,
) -> Result<(HealthReporter, impl Future<Output = Result<(), tonic::transport::Error>> + Send + use<>), ServeError> {
    let limits = &config.limits;
    let (reporter, health) = tonic_health::server::health_reporter();
    let describe = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(plybook_proto::DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(HEALTH_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(ERROR_DETAILS_DESCRIPTOR_SET)
    };
    let broken = |error: tonic_reflection::server::Error| ServeError::Reflection(error.to_string());
    let games = GameServiceServer::new(GameRpc(Arc::clone(&service)))
        .accept_compressed(Gzip)
        .send_compressed(Gzip)
        .max_decoding_message_size(limits.request_bytes)
        .max_encoding_message_size(REPLY_BYTES_MAX);
    let audit = AuditServiceServer::new(AuditRpc(service))
        .accept_compressed(Gzip)
        .send_compressed(Gzip)
        .max_decoding_message_size(limits.request_bytes)
        .max_encoding_message_size(REPLY_BYTES_MAX);
    let router = tonic::transport::Server::builder()
        .accept_http1(config.web.is_some())
        .http2_keepalive_interval(Some(limits.keepalive))
        .http2_keepalive_timeout(Some(limits.keepalive_timeout))
        .http2_max_header_list_size(limits.header_bytes.saturating_mul(headers::SLACK))
        .http2_max_pending_accept_reset_streams(Some(RESETS_PENDING))
        .max_concurrent_streams(limits.calls_per_connection)
        .layer(web::layer(config.web.as_ref()))
        .layer(CallsLayer)
        .layer(GuardLayer { call_timeout: limits.call_timeout, request_bytes: limits.request_bytes })
        .layer(HeadersLayer { header_bytes: limits.header_bytes })
        .layer(MapRequestLayer::new(without_offer_for_events as Mapped))
        .layer(AttemptsLayer::new(config.rates.strangers, limits.left_calls))
        .layer(AuthLayer { authenticator: Arc::new(authenticator) })
        .layer(AdmissionLayer::new(limits, config.rates.tenant))
        .layer(DirectLayer { games, audit })
        .add_service(health.max_decoding_message_size(OPEN_REQUEST_BYTES))
        .add_service(describe().build_v1().map_err(broken)?.max_decoding_message_size(OPEN_REQUEST_BYTES))
        .add_service(describe().build_v1alpha().map_err(broken)?.max_decoding_message_size(OPEN_REQUEST_BYTES));
    let serving = router.serve_with_incoming_shutdown(incoming.into_stream(), stopped.cancelled_owned());
    Ok((reporter, serving))
}
