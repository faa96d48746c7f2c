//! A stream of frames over one of the routes, which is made again when it breaks.
//!
//! Invariant: a frame that was taken is given out, and a failure leaves the connection closed; whoever drops a call that waits
//! loses nothing.

use std::time::Duration;

use tonic::{Response, Status, Streaming};

use crate::client::Client;
use crate::error::{Error, Failure};
use crate::patience::Patience;

/// See the module.
#[derive(Debug)]
pub(crate) enum Connection<F> {
    /// There is none, and one is made.
    None,
    /// Frames come.
    Open(Frames<F>),
    /// None is made any more.
    Ended,
}

/// Frames that come over a route.
#[derive(Debug)]
pub(crate) struct Frames<F> {
    route: usize,
    frames: Box<Streaming<F>>,
}

/// The route on which it failed, and how.
pub(crate) type Broken = (usize, Failure);

impl<F> Frames<F> {
    /// Asks for them over a route.
    pub(crate) async fn ask(
        route: usize,
        patience: Duration,
        call: impl Future<Output = Result<Response<Streaming<F>>, Status>>,
    ) -> Result<Frames<F>, Broken> {
        match tokio::time::timeout(patience, call).await {
            Ok(Ok(response)) => Ok(Frames { route, frames: Box::new(response.into_inner()) }),
            Ok(Err(status)) => Err((route, Failure::of(&status))),
            Err(_) => Err((route, Failure::Again { why: "the stream did not open".to_owned(), not_before: None })),
        }
    }

    /// The route that they come over.
    pub(crate) const fn route(&self) -> usize {
        self.route
    }

    /// The next one; nothing once the server has ended them.
    pub(crate) async fn next(&mut self, silence: Duration) -> Result<Option<F>, Broken> {
        match tokio::time::timeout(silence, self.frames.message()).await {
            Ok(Ok(frame)) => Ok(frame),
            Ok(Err(status)) => Err((self.route, Failure::of(&status))),
            Err(_) => Err((self.route, Failure::Again { why: "the stream fell silent".to_owned(), not_before: None })),
        }
    }
}

impl<F> Connection<F> {
    /// What follows from a failure: another route after a while, or an error and the end.
    pub(crate) async fn breaks(&mut self, client: &Client, patience: &mut Patience, (route, failure): Broken) -> Result<(), Error> {
        *self = Connection::None;
        let pause = match failure {
            Failure::Final(refused) => Err(refused.into()),
            Failure::Again { why, not_before } => {
                client.routes.leave(route);
                patience.spend(why, not_before).map_err(Error::from)
            }
        };
        if pause.is_err() {
            *self = Connection::Ended;
        }
        tokio::time::sleep(pause?).await;
        Ok(())
    }
}
