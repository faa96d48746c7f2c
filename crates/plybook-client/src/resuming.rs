//! A stream that is asked for again, behind what was given out, whenever it breaks.
//!
//! Invariants: a frame that was taken is given out, and a failure leaves the connection closed, so whoever drops a call that
//! waits loses nothing; what was given out is the only place from which it is asked for again.

use std::time::Duration;

use futures::Stream;
use tonic::transport::Channel;
use tonic::{Response, Status, Streaming};

use crate::client::Client;
use crate::error::{Error, Failure};
use crate::patience::Patience;

/// Where a stream goes on.
pub(crate) trait Cursor: Send + Sync {
    /// What a server sends.
    type Frame: Send;
    /// What is given out.
    type Item: Send;

    /// Asks a server for what comes behind the cursor.
    fn ask(&self, client: &Client, channel: Channel) -> impl Future<Output = Result<Response<Streaming<Self::Frame>>, Status>> + Send;

    /// Moves behind a frame.
    fn take(&mut self, frame: Self::Frame) -> Taken<Self::Item>;
}

/// What a frame was.
#[derive(Debug)]
pub(crate) enum Taken<T> {
    /// To be given out.
    One(T),
    /// The same, and nothing follows it.
    Last(T),
    /// A sign of life.
    Nothing,
    /// Something is missing before it: the cursor did not move.
    Gap(String),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Resuming<C: Cursor> {
    client: Client,
    cursor: C,
    connection: Connection<C::Frame>,
    patience: Patience,
}

#[derive(Debug)]
enum Connection<F> {
    /// There is none, and one is made.
    None,
    /// Frames come over this route.
    Open(usize, Box<Streaming<F>>),
    /// None is made any more.
    Ended,
}

/// The route on which it failed, and how.
type Broken = (usize, Failure);

impl<C: Cursor> Resuming<C> {
    pub(crate) fn new(client: Client, cursor: C) -> Resuming<C> {
        let patience = client.patience();
        Resuming { client, cursor, connection: Connection::None, patience }
    }

    pub(crate) const fn cursor(&self) -> &C {
        &self.cursor
    }

    /// The next item; nothing after the last, or after an error.
    pub(crate) async fn next(&mut self) -> Option<Result<C::Item, Error>> {
        loop {
            let broken = match self.frame().await {
                Ok(None) => return None,
                Ok(Some((route, frame))) => match self.cursor.take(frame) {
                    Taken::Gap(why) => (route, Failure::Again { why, not_before: None }),
                    taken => {
                        self.patience = self.client.patience();
                        match taken {
                            Taken::One(item) => return Some(Ok(item)),
                            Taken::Last(item) => {
                                self.connection = Connection::Ended;
                                return Some(Ok(item));
                            }
                            Taken::Nothing | Taken::Gap(_) => continue,
                        }
                    }
                },
                Err(broken) => broken,
            };
            if let Err(error) = self.breaks(broken).await {
                return Some(Err(error));
            }
        }
    }

    pub(crate) fn into_stream(self) -> impl Stream<Item = Result<C::Item, Error>> + Send
    where
        C: 'static,
    {
        futures::stream::unfold(self, |mut resuming| async move { resuming.next().await.map(|item| (item, resuming)) })
    }

    /// The next frame and its route; nothing once a server has ended the stream.
    async fn frame(&mut self) -> Result<Option<(usize, C::Frame)>, Broken> {
        if let Connection::None = self.connection {
            let (route, channel) = self.client.routes.current();
            let asked = within(self.client.options.timeout, "the stream did not open", self.cursor.ask(&self.client, channel)).await;
            self.connection = Connection::Open(route, Box::new(asked.map_err(|failure| (route, failure))?.into_inner()));
        }
        let Connection::Open(route, frames) = &mut self.connection else { return Ok(None) };
        let route = *route;
        match within(self.client.options.silence, "the stream fell silent", frames.message()).await {
            Ok(Some(frame)) => Ok(Some((route, frame))),
            Ok(None) => {
                self.connection = Connection::Ended;
                Ok(None)
            }
            Err(failure) => Err((route, failure)),
        }
    }

    /// What follows from a failure: another route after a while, or an error and the end.
    async fn breaks(&mut self, (route, failure): Broken) -> Result<(), Error> {
        self.connection = Connection::None;
        let pause = match failure {
            Failure::Final(refused) => Err(refused.into()),
            Failure::Again { why, not_before } => {
                self.client.routes.leave(route);
                self.patience.spend(why, not_before).map_err(Error::from)
            }
        };
        if pause.is_err() {
            self.connection = Connection::Ended;
        }
        tokio::time::sleep(pause?).await;
        Ok(())
    }
}

async fn within<T>(time: Duration, late: &str, answer: impl Future<Output = Result<T, Status>>) -> Result<T, Failure> {
    match tokio::time::timeout(time, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(status)) => Err(Failure::of(&status)),
        Err(_) => Err(Failure::Again { why: late.to_owned(), not_before: None }),
    }
}
