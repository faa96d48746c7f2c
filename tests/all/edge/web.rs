//! gRPC-Web, as a browser speaks it: HTTP/1.1, framed trailers, and pages of other origins.

use std::time::Duration;

use plybook_proto::v1;
use plybook_server::edge::Web;
use plybook_tests::frames::{framed, left, silent};
use plybook_tests::injected::{Local, over_sqlite};
use plybook_tests::patience::PATIENCE;
use prost::Message as _;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::others_go_on;

const PAGE: &str = "https://play.example";

async fn for_pages(origins: &[&str]) -> Local {
    let origins: Vec<String> = origins.iter().map(|origin| (*origin).to_owned()).collect();
    over_sqlite().await.config(|config| config.web = Some(Web::for_pages(&origins).unwrap())).start().await
}

/// A browser's connection.
struct Browser {
    line: BufReader<TcpStream>,
}

impl Browser {
    async fn open(local: &Local) -> Browser {
        Browser { line: BufReader::new(TcpStream::connect(local.address()).await.unwrap()) }
    }

    /// Sends a request, and answers the status and the headers of what comes back.
    async fn ask(&mut self, verb: &str, call: &str, headers: &str, body: &[u8]) -> (u16, Vec<String>) {
        let head = format!("{verb} /plybook.v1.{call} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        self.line.write_all(&[head.as_bytes(), body].concat()).await.unwrap();
        let first = self.text().await;
        let mut headers = Vec::new();
        loop {
            match self.text().await {
                end if end.is_empty() => return (first.split(' ').nth(1).unwrap().parse().unwrap(), headers),
                header => headers.push(header.to_ascii_lowercase()),
            }
        }
    }

    async fn post(&mut self, call: &str, origin: &str, message: &impl prost::Message) -> (u16, Vec<String>) {
        let headers = format!("Content-Type: application/grpc-web+proto\r\nX-Grpc-Web: 1\r\nOrigin: {origin}\r\n");
        self.ask("POST", call, &headers, &framed(message)).await
    }

    async fn text(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.line.read_line(&mut line)).await.expect("an answer comes").unwrap();
        line.trim_end().to_owned()
    }

    /// The next chunk of an answer; empty at its end.
    async fn chunk(&mut self) -> Vec<u8> {
        let size = usize::from_str_radix(&self.text().await, 16).unwrap();
        let mut bytes = vec![0; size + 2];
        self.line.read_exact(&mut bytes).await.unwrap();
        bytes.truncate(size);
        bytes
    }
}

/// Takes the messages off the front: whether each is one of trailers, and its bytes.
fn frames(bytes: &mut Vec<u8>) -> Vec<(bool, Vec<u8>)> {
    let mut whole = Vec::new();
    while bytes.len() >= 5 {
        let size = 5 + u32::from_be_bytes(bytes[1..5].try_into().unwrap()) as usize;
        if bytes.len() < size {
            break;
        }
        let frame: Vec<u8> = bytes.drain(..size).collect();
        whole.push((frame[0] & 0x80 != 0, frame[5..].to_vec()));
    }
    whole
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_watches_a_game_to_its_end() {
    let local = for_pages(&[PAGE]).await;
    let mut game = local.wire().await.game().await;
    let mut browser = Browser::open(&local).await;
    let request = v1::StreamEventsRequest { game_id: game.id.clone(), ..Default::default() };
    let (status, headers) = browser.post("GameService/StreamEvents", PAGE, &request).await;
    assert_eq!(status, 200, "{headers:?}");
    assert!(headers.contains(&"content-type: application/grpc-web+proto".to_owned()), "{headers:?}");
    assert!(headers.contains(&format!("access-control-allow-origin: {PAGE}")), "{headers:?}");
    game.play("a1 b1 a2 b2 a3").await;
    let (mut bytes, mut events, mut trailers) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let chunk = browser.chunk().await;
        if chunk.is_empty() {
            break;
        }
        bytes.extend(chunk);
        for (is_trailers, frame) in frames(&mut bytes) {
            if is_trailers {
                trailers.push(String::from_utf8(frame).unwrap());
            } else if let Some(v1::stream_events_response::Frame::Event(event)) =
                v1::StreamEventsResponse::decode(&frame[..]).unwrap().frame
            {
                events.push(event.seq);
            }
        }
    }
    assert_eq!(events, [1, 2, 3, 4, 5, 6]);
    assert!(trailers.len() == 1 && trailers[0].replace(' ', "").contains("grpc-status:0"), "{trailers:?}");
    others_go_on(&local).await;
}

/// A refusal reaches a page with its details, over the same connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_reads_why_it_is_refused() {
    let local = for_pages(&["*"]).await;
    let mut browser = Browser::open(&local).await;
    for _ in 0..2 {
        let request = v1::GetGameRequest { game_id: "none".to_owned(), at_seq: None };
        let (status, headers) = browser.post("GameService/GetGame", PAGE, &request).await;
        assert_eq!(status, 200);
        let text = headers.join("\n");
        let shown = text.lines().find(|line| line.starts_with("access-control-expose-headers:")).unwrap();
        for name in ["grpc-status", "grpc-message", "grpc-status-details-bin"] {
            assert!(shown.contains(name) && text.contains(&format!("\n{name}: ")), "{name}: {text}");
        }
        assert!(text.contains("access-control-allow-origin: *"), "{text}");
        if text.contains("transfer-encoding: chunked") {
            while !browser.chunk().await.is_empty() {}
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_asks_first_and_is_told_which_pages_may() {
    let local = for_pages(&[PAGE]).await;
    for (origin, may) in [(PAGE, true), ("https://elsewhere.example", false), ("null", false)] {
        let mut browser = Browser::open(&local).await;
        let asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type,x-grpc-web\r\n";
        let (status, headers) = browser.ask("OPTIONS", "GameService/MakeMove", &format!("Origin: {origin}\r\n{asks}"), b"").await;
        assert_eq!(status, 200);
        let told = headers.iter().find(|header| header.starts_with("access-control-allow-origin:"));
        assert_eq!(told.is_some_and(|header| header.ends_with(origin)), may, "{origin}: {headers:?}");
        let sent = headers.iter().find(|header| header.starts_with("access-control-allow-headers:")).unwrap();
        assert!(sent.contains("authorization") && sent.contains("x-grpc-web"), "{sent}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_but_grpc_web_is_spoken_over_http1() {
    let local = for_pages(&[PAGE]).await;
    let request = framed(&v1::ListRulesetsRequest::default());
    for (verb, headers, status) in [
        ("POST", "Content-Type: application/grpc\r\n", 400),
        ("POST", "Content-Type: application/json\r\n", 400),
        ("GET", "", 400),
        ("GET", "Content-Type: application/grpc-web+proto\r\n", 405),
    ] {
        let mut browser = Browser::open(&local).await;
        assert_eq!(browser.ask(verb, "GameService/ListRulesets", headers, &request).await.0, status, "{verb} {headers:?}");
    }
}

/// Headers that do not come over HTTP/1.1 either are not waited for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_does_not_begin_is_not_waited_for() {
    let origins = [PAGE.to_owned()];
    let soon = Duration::from_millis(300);
    let local = over_sqlite().await.limits(|limits| limits.handshake_timeout = soon);
    let local = local.config(|config| config.web = Some(Web::for_pages(&origins).unwrap())).start().await;
    left(&mut silent(local.address(), b"").await).await;
    let mut partial = silent(local.address(), b"POST /plybook.v1.GameService/MakeMove HTTP/1.1\r\nHost: a\r\n").await;
    others_go_on(&local).await;
    left(&mut partial).await;
}
