//! What stands around the RPCs: health, reflection, compression, and bytes that are no request.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use plybook_proto::v1;
use plybook_tests::injected::over_sqlite;
use plybook_tests::refused::Refused;
use plybook_tests::wire::{Wire, headers};
use prost::Message as _;
use prost::bytes::{Buf as _, BufMut as _};
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codec::CompressionEncoding::Gzip;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBody, EncodeBuf, Encoder, Streaming};
use tonic::codegen::http;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_knows_each_service() {
    let local = over_sqlite().await.start().await;
    let mut health = HealthClient::new(local.wire().await.channel);
    for service in ["", "plybook.v1.GameService", "plybook.v1.AuditService"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        assert_eq!(health.check(request).await.unwrap().into_inner().status, 1, "{service:?} is serving");
    }
    let unknown = health.check(HealthCheckRequest { service: "plybook.v1.Chess".to_owned() }).await.unwrap_err();
    assert_eq!(unknown.code(), Code::NotFound);
}

/// Both versions list the services and describe every message that they speak.
macro_rules! reflects {
    ($name:ident, $version:ident) => {
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            use tonic_reflection::pb::$version::ServerReflectionRequest;
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest as Ask;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse as Answer;

            let local = over_sqlite().await.start().await;
            let symbols = ["plybook.v1.GameService", "plybook.v1.AuditService", "plybook.v1.Action", "grpc.health.v1.Health"];
            let asks = symbols.map(|symbol| Ask::FileContainingSymbol(symbol.to_owned())).into_iter();
            let asks = std::iter::once(Ask::ListServices(String::new())).chain(asks);
            let asks = asks.map(|ask| ServerReflectionRequest { host: String::new(), message_request: Some(ask) });
            let asks = futures::stream::iter(asks.collect::<Vec<_>>());
            let mut client = ServerReflectionClient::new(local.wire().await.channel);
            let mut answers = client.server_reflection_info(asks).await.unwrap().into_inner();

            let Some(Answer::ListServicesResponse(list)) = answers.message().await.unwrap().unwrap().message_response else {
                panic!("no list of services")
            };
            let names: Vec<String> = list.service.into_iter().map(|service| service.name).collect();
            for name in ["plybook.v1.GameService", "plybook.v1.AuditService", "grpc.health.v1.Health"] {
                assert!(names.iter().any(|known| known == name), "{name} is not among {names:?}");
            }
            for symbol in symbols {
                let Some(Answer::FileDescriptorResponse(files)) = answers.message().await.unwrap().unwrap().message_response else {
                    panic!("{symbol} is not described")
                };
                let file = prost_types::FileDescriptorProto::decode(&files.file_descriptor_proto[0][..]).unwrap();
                let own = symbol.rsplit_once('.').unwrap();
                assert_eq!(file.package(), own.0);
                let known = file.service.iter().map(|service| service.name()).chain(file.message_type.iter().map(|message| message.name()));
                assert!(known.into_iter().any(|name| name == own.1), "{symbol} is in {}", file.name());
            }
        }
    };
}
reflects!(reflection_v1_describes_the_contract, v1);
reflects!(reflection_v1alpha_describes_the_contract, v1alpha);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gzip_is_spoken_both_ways() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().mnk(15, 15, 5).await;
    let mut packed = wire.games().send_compressed(Gzip).accept_compressed(Gzip);
    let moved = packed.make_move(v1::MakeMoveRequest { with_position: true, ..game.asks("a1") }).await.unwrap();
    assert_eq!(headers(moved.metadata()).get("grpc-encoding").map(String::as_str), Some("gzip"));
    let request = v1::GetGameRequest { game_id: game.id.clone(), at_seq: None };
    let plain = wire.games().get_game(request.clone()).await.unwrap();
    assert_eq!(headers(plain.metadata()).get("grpc-encoding"), None, "who does not ask for it does not get it");
    assert_eq!(packed.get_game(request).await.unwrap().into_inner(), plain.into_inner());
    let mut stream = packed.stream_events(v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() }).await.unwrap();
    assert_eq!(headers(stream.metadata()).get("grpc-encoding"), None, "events are not packed");
    assert!(stream.get_mut().message().await.unwrap().is_some());
}

/// Whether the first message of the answer comes packed to a caller that offers to unpack.
async fn comes_packed(wire: &Wire, path: &str, request: &impl prost::Message) -> bool {
    let mut channel = wire.channel.clone();
    std::future::poll_fn(|context| GrpcService::<Body>::poll_ready(&mut channel, context)).await.unwrap();
    let asked = futures::stream::iter([Ok(request.encode_to_vec())]);
    let call = http::Request::post(path).header("content-type", "application/grpc").header("te", "trailers");
    let call = call.header("grpc-accept-encoding", "gzip").body(Body::new(EncodeBody::new_client(Raw, asked, None, None))).unwrap();
    let answer = GrpcService::call(&mut channel, call).await.unwrap();
    assert_eq!(answer.headers().get("grpc-status"), None, "{path}");
    // Whoever knows of no packing finds fault with a message that is packed.
    let status = answer.status();
    let first = Streaming::new_response(Raw, answer.into_body(), status, None, None).message().await;
    match first {
        Ok(message) => message.is_none_or(|message| message.is_empty()),
        Err(status) => {
            assert!(status.message().contains("compressed"), "{status}");
            true
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_small_is_not_packed() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().mnk(15, 15, 5).await;
    assert!(!comes_packed(&wire, "/plybook.v1.GameService/MakeMove", &game.asks("a1")).await);
    let legal = v1::ListLegalActionsRequest { game_id: game.id.clone(), ..Default::default() };
    assert!(comes_packed(&wire, "/plybook.v1.GameService/ListLegalActions", &legal).await, "224 moves are not small");
    let events = v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() };
    assert!(!comes_packed(&wire, "/plybook.v1.GameService/StreamEvents", &events).await);
    assert!(comes_packed(&wire, "/plybook.v1.AuditService/GetBook", &v1::GetBookRequest { game_id: game.id.clone() }).await);
}

/// The same call under another name, as a page of another site would have a browser send it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_say_that_it_is_grpc_is_not_listened_to() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut game = wire.game().mnk(3, 3, 3).await;
    let (moves, audit) = ("/plybook.v1.GameService/MakeMove", "/plybook.v1.AuditService/GetBook");
    for (content_type, path) in [("text/plain", moves), ("application/json", moves), ("application/grpcx", moves), ("", audit)] {
        let mut channel = wire.channel.clone();
        std::future::poll_fn(|context| GrpcService::<Body>::poll_ready(&mut channel, context)).await.unwrap();
        let asked = futures::stream::iter([Ok(game.asks("a1").encode_to_vec())]);
        let call = http::Request::post(path).header("content-type", content_type).header("te", "trailers");
        let call = call.body(Body::new(EncodeBody::new_client(Raw, asked, None, None))).unwrap();
        let answer = GrpcService::call(&mut channel, call).await.unwrap();
        assert_eq!(answer.status(), http::StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type} {path}");
    }
    game.play("a1").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_message_are_refused_as_such() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    for path in ["/plybook.v1.GameService/MakeMove", "/plybook.v1.GameService/CreateGame", "/plybook.v1.AuditService/GetBook"] {
        for garbage in [&b"\xff\xff\xff\xff"[..], b"\x0a\x05ab", b"\x0a\x01\xff"] {
            let refused = Refused::of(&raw(&wire, path, garbage).await.unwrap_err());
            refused.with("INVALID_PARAMETER").field("request", "is not a message");
        }
    }
    let missing = raw(&wire, "/plybook.v1.GameService/Castle", b"").await.unwrap_err();
    assert_eq!(missing.code(), Code::Unimplemented);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn odd_timeouts_do_no_harm() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let game = wire.game().await;
    for timeout in ["99999999H", "99999999M", "abc", "-1S", "S", "123456789S"] {
        let mut request = Request::new(v1::GetGameRequest { game_id: game.id.clone(), at_seq: None });
        request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        assert_eq!(wire.games().get_game(request).await.unwrap().into_inner().game.unwrap().seq, 1, "{timeout}");
        let mut request = Request::new(wire.follow(&game.id).until_head().request);
        request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        assert!(wire.games().stream_events(request).await.unwrap().get_mut().message().await.unwrap().is_some(), "{timeout}");
    }
    for timeout in ["0S", "0n", "1n"] {
        let mut request = Request::new(v1::GetGameRequest { game_id: game.id.clone(), at_seq: None });
        request.metadata_mut().insert("grpc-timeout", timeout.parse().unwrap());
        // The client's own timer says CANCELLED; an answer may be quicker than either timer.
        let late = wire.games().get_game(request).await.map_or_else(|late| Some(late.code()), |_| None);
        assert!(matches!(late, None | Some(Code::DeadlineExceeded | Code::Cancelled)), "{timeout}: {late:?}");
    }
}

/// A message of a later release: what is not known is skipped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_of_a_later_release_are_skipped() {
    let local = over_sqlite().await.start().await;
    let wire = local.wire().await;
    let mut bytes = wire.game().request.encode_to_vec();
    bytes.extend_from_slice(b"\xfa\x3f\x05later");
    let answer = raw(&wire, "/plybook.v1.GameService/CreateGame", &bytes).await.unwrap();
    assert_eq!(v1::CreateGameResponse::decode(&answer[..]).unwrap().game.unwrap().seq, 1);
}

async fn raw(wire: &Wire, path: &'static str, bytes: &[u8]) -> Result<Vec<u8>, Status> {
    let mut client = tonic::client::Grpc::new(wire.channel.clone());
    client.ready().await.unwrap();
    let path = path.parse().unwrap();
    client.unary(Request::new(bytes.to_vec()), path, Raw).await.map(tonic::Response::into_inner)
}

/// Bytes as they are.
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, to: &mut EncodeBuf<'_>) -> Result<(), Status> {
        to.put_slice(&item);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        let mut bytes = vec![0; from.remaining()];
        from.copy_to_slice(&mut bytes);
        Ok(Some(bytes))
    }
}

/// A line that went dead is found out: the node asks each peer, and leaves one that does not answer.
#[test]
fn a_silent_peer_is_asked_and_then_left() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let local = runtime.block_on(async { over_sqlite().await.start().await });
    let mut line = TcpStream::connect(local.address()).unwrap();
    line.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The preface and empty settings; after that this peer says nothing.
    line.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00").unwrap();
    const PING: u8 = 6;
    let (mut kinds, mut head) = (Vec::new(), [0; 9]);
    while line.read_exact(&mut head).is_ok() {
        let mut body = vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
        line.read_exact(&mut body).unwrap();
        kinds.push(head[3]);
    }
    assert!(kinds.contains(&PING), "frames of kinds {kinds:?} came");
    let ended = line.read(&mut head).map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |bytes| bytes == 0);
    assert!(ended, "the node ends the connection");
}
