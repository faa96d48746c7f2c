//! An HTTP/2 connection as a way of gRPC calls, and nothing between.
//!
//! tonic's channel connects again, and hands each call to a task that queues them and to another that sends them. A generator
//! that shares the cores with what it measures does without: a caller writes its call itself, and waits for its answer.
//!
//! Invariant: a connection that broke stays broken; the calls on it fail, and the run with them.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::future::BoxFuture;
use h2::client::{Builder, SendRequest};
use h2::{RecvStream, SendStream};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body::{Body as HttpBody, Frame};
use plybook_server::edge::Outgoing;
use tokio::net::TcpStream;
use tonic::body::Body;
use tower::Service;

/// Bytes of answers that may be under way, of a call and of all on a connection: more than an answer of any workload has.
const WINDOW: u32 = 1 << 20;
const WINDOW_OF_ALL: u32 = 4 << 20;

/// What can go wrong on the way.
pub(super) type Error = Box<dyn std::error::Error + Send + Sync>;

/// A way of calls. Clones share the connection.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    calls: SendRequest<Bytes>,
    to: Authority,
}

impl Wire {
    /// Connects, in clear.
    pub(super) async fn open(to: &Uri) -> Result<Wire, Error> {
        let to = to.authority().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no host is named"))?.clone();
        let stream = TcpStream::connect((to.host().trim_matches(['[', ']']), to.port_u16().unwrap_or(80))).await?;
        stream.set_nodelay(true)?;
        let mut builder = Builder::new();
        builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW_OF_ALL).enable_push(false);
        // What callers send at the same time leaves together, as answers do.
        let (calls, connection) = builder.handshake(Outgoing::new(stream)).await?;
        // Its end is told to every call on it.
        tokio::spawn(async { drop(connection.await) });
        Ok(Wire { calls, to })
    }

    fn addressed(&self, path: Option<PathAndQuery>) -> Result<Uri, http::Error> {
        let path = path.unwrap_or(PathAndQuery::from_static("/"));
        Uri::builder().scheme(Scheme::HTTP).authority(self.to.clone()).path_and_query(path).build()
    }
}

impl Service<Request<Body>> for Wire {
    type Response = Response<Answer>;
    type Error = Error;
    type Future = BoxFuture<'static, Result<Response<Answer>, Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.calls.poll_ready(context).map_err(Error::from)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let sent = self.addressed(std::mem::take(&mut head.uri).into_parts().path_and_query).map_err(Error::from).and_then(|uri| {
            head.uri = uri;
            Ok(self.calls.send_request(Request::from_parts(head, ()), false)?)
        });
        Box::pin(async move {
            let (answer, to) = sent?;
            send(body, to).await?;
            Ok(answer.await?.map(Answer))
        })
    }
}

/// Sends a request's messages, the last one as such.
async fn send(body: Body, mut to: SendStream<Bytes>) -> Result<(), Error> {
    let (mut body, mut held) = (pin!(body), Bytes::new());
    while let Some(frame) = std::future::poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Ok(next) = frame?.into_data() {
            let before = std::mem::replace(&mut held, next);
            if !before.is_empty() {
                to.send_data(before, false)?;
            }
        }
    }
    Ok(to.send_data(held, true)?)
}

/// The messages of an answer, and its status behind them.
#[derive(Debug)]
pub(super) struct Answer(RecvStream);

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(data) = ready!(self.0.poll_data(context)) {
            let data = data?;
            self.0.flow_control().release_capacity(data.len())?;
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        let trailers = ready!(self.0.poll_trailers(context))?;
        Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
}
