//! What is read of a call before it is known who calls: its headers, and nothing of its body.

use bytes::Bytes;
use plybook_proto::v1;
use plybook_tests::frames::{Raw, status, unless_ended};
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::refused::Refused;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

async fn strict() -> Local {
    over_sqlite().await.config(|config| config.auth.required = true).start().await
}

/// Not one byte of the request is there yet, and it is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_refused_before_a_byte_of_the_request_is_read() {
    let local = strict().await;
    let mut raw = Raw::connect(local.address(), 65_535).await;
    for service in ["GameService/CreateGame", "GameService/StreamEvents", "AuditService/ImportBook", "GameService/NoSuchCall"] {
        for headers in [&[][..], &[("authorization", "Bearer swordfish")], &[("authorization", "Basic YTpi")]] {
            let mut begun = raw.begin(&format!("/plybook.v1.{service}"), headers).await.unwrap();
            let (code, trailers) = status(begun.answer.await.unwrap()).await;
            assert_eq!(code, Code::Unauthenticated as i32, "{service} {headers:?} {trailers:?}");
            // Whatever is sent now is sent to nobody.
            begun.body.reserve_capacity(200 * 1024);
            let _ = begun.body.send_data(Bytes::from(vec![0; 200 * 1024]), true);
        }
    }
    let message = v1::ListRulesetsRequest::default();
    let (code, _) = status(raw.call("/plybook.v1.GameService/ListRulesets", &message).await.unwrap().await.unwrap()).await;
    assert_eq!(code, Code::Unauthenticated as i32, "the connection is as good as before");
}

/// What needs no credential reads little.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_are_open_to_all_read_little() {
    let local = strict().await;
    let mut health = HealthClient::new(local.wire().await.channel);
    let ask = |bytes: usize| HealthCheckRequest { service: "a".repeat(bytes) };
    assert_eq!(health.check(ask(0)).await.unwrap().into_inner().status, 1);
    assert_eq!(health.check(ask(4_000)).await.unwrap_err().code(), Code::NotFound);
    Refused::by(health.check(ask(4_096)).await).with("LIMIT_EXCEEDED").meta("limit", "open_request_bytes").meta("most", 4096);

    // Reflection reads a stream: at what is too large it ends, and has answered nothing.
    let mut raw = Raw::connect(local.address(), 65_535).await;
    for version in ["v1", "v1alpha"] {
        for (bytes, is_answered) in [(4_000, true), (4_096, false)] {
            let list = Some(MessageRequest::ListServices(String::new()));
            let message = ServerReflectionRequest { host: "h".repeat(bytes), message_request: list };
            let path = format!("/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo");
            let mut answer = raw.call(&path, &message).await.unwrap().await.unwrap().into_body();
            let mut read = 0;
            while let Some(Some(chunk)) = answer.data().await.map(unless_ended) {
                read += chunk.len();
            }
            assert_eq!(read > 0, is_answered, "{version}: {read} bytes to {bytes}");
        }
    }
}
