//! Callers who begin and do not go on: with TLS, with HTTP/2, with a call's headers, with its body.

use std::time::Duration;

use plybook_tests::certificates::{Authority, Safe};
use plybook_tests::frames::{HELLO, Raw, is_kept, left, silent, status};
use plybook_tests::injected::over_sqlite;
use plybook_tests::patience::{NEVER, PATIENCE};
use plybook_tests::refused::Refused;
use tokio::io::AsyncWriteExt as _;

use super::others_go_on;

const SOON: Duration = Duration::from_millis(300);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preface_that_does_not_come_is_not_waited_for() {
    let local = over_sqlite().await.limits(|limits| limits.handshake_timeout = SOON).start().await;
    // Nothing, a part of what HTTP/2 begins with, and each byte of it apart.
    let mut lines = [silent(local.address(), b"").await, silent(local.address(), &HELLO[..10]).await];
    let mut trickle = silent(local.address(), b"").await;
    let trickling = tokio::spawn(async move {
        for byte in HELLO.iter().take(23).cycle() {
            if trickle.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    });
    others_go_on(&local).await;
    for line in &mut lines {
        left(line).await;
    }
    tokio::time::timeout(PATIENCE, trickling).await.expect("bytes that trickle are no preface in time").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_that_does_not_end_is_not_waited_for() {
    let safe = Safe::with(&Authority::new().server(), None);
    let local = over_sqlite().await.limits(|limits| limits.handshake_timeout = SOON).config(|config| config.tls = Some(safe.files(true)));
    let local = local.start().await;
    // Nothing, and the beginning of a TLS record.
    for bytes in [&b""[..], b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        left(&mut silent(local.address(), bytes).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_http2_is_sent_away_at_once() {
    let local = over_sqlite().await.limits(|limits| limits.handshake_timeout = NEVER).start().await;
    for bytes in [&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n\r\nXX", b"\0"] {
        left(&mut silent(local.address(), bytes).await).await;
    }
    others_go_on(&local).await;
}

/// The oldest of those that open makes room, so that whoever goes on comes in however many do not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_do_not_open_keep_nobody_out() {
    let local = over_sqlite().await.limits(|limits| (limits.handshakes, limits.handshake_timeout) = (4, NEVER)).start().await;
    let mut lines = Vec::new();
    for _ in 0..40 {
        lines.push(silent(local.address(), &HELLO[..10]).await);
    }
    others_go_on(&local).await;
    for line in &mut lines[..36] {
        left(line).await;
    }
    assert!(local.connections().let_go() >= 36);
}

/// Headers that never end leave no room for anything else on their connection, the answer to a ping among it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_do_not_end_are_not_waited_for() {
    let quick = |limits: &mut plybook_server::limits::Limits| {
        (limits.keepalive, limits.keepalive_timeout) = (Duration::from_millis(100), Duration::from_secs(5));
    };
    let local = over_sqlite().await.limits(quick).start().await;
    let mut line = silent(local.address(), HELLO).await;
    // HEADERS of stream 1 without END_HEADERS: `:method: POST`, and more is said to follow.
    line.write_all(b"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x83").await.unwrap();
    others_go_on(&local).await;
    left(&mut line).await;
}

/// One over is refused in words; far beyond, and so before it is all there, by HTTP/2 itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_are_so_large() {
    let local = over_sqlite().await.limits(|limits| limits.header_bytes = 4096).start().await;
    let mut raw = Raw::connect(local.address(), 65_535).await;
    let path = "/plybook.v1.GameService/ListRulesets";
    let mut ask = async |name: &str, bytes: usize| {
        let large = "a".repeat(bytes);
        let begun = raw.begin(path, &[(name, &large)]).await.unwrap();
        let mut body = begun.body;
        let _ = body.send_data(bytes::Bytes::from_static(&[0; 5]), true);
        begun.answer.await
    };
    let sent = [
        (":method", "POST"),
        (":scheme", "http"),
        (":authority", "127.0.0.1"),
        (":path", path),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("x-name", ""),
    ];
    let beside: usize = sent.iter().map(|(name, value)| name.len() + value.len() + 32).sum();
    assert_eq!(status(ask("x-name", 4_096 - beside).await.unwrap()).await.0, 0, "as many as may be");
    let (code, trailers) = status(ask("x-name", 4_097 - beside).await.unwrap()).await;
    assert_eq!(code, tonic::Code::ResourceExhausted as i32, "one over: {trailers:?}");
    let refused = ask("x-name", 2 * 4_096).await;
    assert!(refused.as_ref().map_or(true, |answer| answer.status() == 431), "{refused:?}");
    assert_eq!(status(ask("x-name", 1).await.unwrap()).await.0, 0, "the connection goes on");
}

/// A call's refusal says the limit, as any client reads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_with_too_many_headers_is_told_the_limit() {
    let local = over_sqlite().await.limits(|limits| limits.header_bytes = 4096).start().await;
    let asked = |bytes: usize| {
        let mut request = tonic::Request::new(plybook_proto::v1::ListRulesetsRequest::default());
        request.metadata_mut().insert("x-large", "a".repeat(bytes).parse().unwrap());
        request
    };
    let wire = local.wire().await;
    wire.games().list_rulesets(asked(3_000)).await.unwrap();
    let refused = Refused::by(wire.games().list_rulesets(asked(4_096)).await);
    refused.with("LIMIT_EXCEEDED").only(&["limit", "most"]).meta("limit", "header_bytes").meta("most", 4096);
}

/// A request whose body does not come is answered like any other that takes too long.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let local = over_sqlite().await.limits(|limits| limits.call_timeout = Duration::from_secs(2)).start().await;
    let mut raw = Raw::connect(local.address(), 65_535).await;
    let begun = raw.begin("/plybook.v1.GameService/CreateGame", &[]).await.unwrap();
    let mut part = raw.begin("/plybook.v1.GameService/CreateGame", &[]).await.unwrap();
    part.body.send_data(bytes::Bytes::from_static(b"\0\0\0\x01\0half of it"), false).unwrap();
    for answer in [begun.answer, part.answer] {
        let (code, _) = status(answer.await.unwrap()).await;
        assert_eq!(code, tonic::Code::DeadlineExceeded as i32);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quiet_caller_who_answers_pings_stays() {
    let local = over_sqlite().await.limits(|limits| limits.handshake_timeout = SOON).start().await;
    let mut line = silent(local.address(), HELLO).await;
    assert!(is_kept(&mut line, SOON * 3).await, "it has opened");
}
