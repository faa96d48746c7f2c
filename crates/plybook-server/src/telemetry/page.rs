//! Metrics and health over HTTP, for Prometheus and for whoever starts and stops nodes.
//!
//! Invariant: an address of its own, which serves nothing but these pages and takes nothing in: of a request only its first
//! line is read. So many are answered at once, each within its time; a page is put together by one thread beside the runtime.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus::{Encoder as _, Registry, TextEncoder};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::readiness::Readiness;

/// Connections at once.
const CONNECTIONS_MAX: usize = 32;
/// How long a connection may last: scrapers keep theirs, and whoever says nothing is let go.
const CONNECTION_MAX: Duration = Duration::from_secs(300);
/// How long a request's head may take.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// Bytes of a request's head.
const HEAD_BYTES: usize = 16 * 1024;
/// After the system refused a connection, such as for want of files.
const PAUSE: Duration = Duration::from_millis(100);

/// An address that is listened at, and not served yet.
#[derive(Debug)]
pub struct PageAddress {
    listener: TcpListener,
    address: SocketAddr,
}

/// The pages, served until this is dropped.
#[derive(Debug)]
pub struct Page(JoinHandle<()>);

impl Drop for Page {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl PageAddress {
    /// Listens there.
    pub async fn bind(address: SocketAddr) -> std::io::Result<PageAddress> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(PageAddress { listener, address })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the pages.
    pub(super) fn serve(self, registry: Registry, readiness: Arc<Readiness>) -> Page {
        let pages = Arc::new(Pages { registry, readiness });
        Page(tokio::spawn(accept(self.listener, pages)))
    }
}

struct Pages {
    registry: Registry,
    readiness: Arc<Readiness>,
}

async fn accept(listener: TcpListener, pages: Arc<Pages>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let pages = Arc::clone(&pages);
                async move { Ok::<_, Infallible>(pages.answer(&request).await) }
            });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(HEAD_BYTES);
            // However it ends, whoever asked will ask again.
            let _ = timeout(CONNECTION_MAX, http.serve_connection(TokioIo::new(stream), answer)).await;
            drop(place);
        });
    }
}

impl Pages {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "GET is answered");
        }
        match request.uri().path() {
            "/metrics" => self.metrics().await,
            "/livez" => plain(StatusCode::OK, "alive"),
            "/readyz" => match self.readiness.why_not() {
                None => plain(StatusCode::OK, "ready"),
                Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, &format!("not ready: {why}")),
            },
            _ => plain(StatusCode::NOT_FOUND, "/metrics, /livez and /readyz are here"),
        }
    }

    async fn metrics(&self) -> Response<Full<Bytes>> {
        let registry = self.registry.clone();
        let encoder = TextEncoder::new();
        let kind = encoder.format_type().to_owned();
        let page = tokio::task::spawn_blocking(move || {
            let mut page = Vec::new();
            encoder.encode(&registry.gather(), &mut page).map(|()| page)
        });
        match page.await {
            Ok(Ok(page)) => answer(StatusCode::OK, &kind, page),
            _ => plain(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be put together"),
        }
    }
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    answer(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}

fn answer(status: StatusCode, kind: &str, text: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    if let Ok(kind) = kind.parse() {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}
