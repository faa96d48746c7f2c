//! Work that goes on to its end when whoever waits for it goes away.
//!
//! Invariant: what was begun is polled until it is done, once, by its waiter or by a task of its own. As long as
//! somebody waits it costs no task and no hop between threads.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tracing::Instrument as _;

/// Work that somebody waits for.
pub struct Uninterrupted<F: Future + Send + 'static>
where
    F::Output: Send,
{
    /// Gone once it is done.
    work: Option<Pin<Box<F>>>,
    begun: bool,
}

impl<F: Future + Send + 'static> Uninterrupted<F>
where
    F::Output: Send,
{
    /// Nothing is done before it is first polled; then all of it is.
    pub fn new(work: F) -> Uninterrupted<F> {
        Uninterrupted { work: Some(Box::pin(work)), begun: false }
    }
}

impl<F: Future + Send + 'static> Future for Uninterrupted<F>
where
    F::Output: Send,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.begun = true;
        // Taken out, so that nobody goes on with what has panicked.
        let Some(mut work) = self.work.take() else { return Poll::Pending };
        let polled = work.as_mut().poll(context);
        if polled.is_pending() {
            self.work = Some(work);
        }
        polled
    }
}

impl<F: Future + Send + 'static> Drop for Uninterrupted<F>
where
    F::Output: Send,
{
    fn drop(&mut self) {
        let Some(work) = self.work.take().filter(|_| self.begun) else { return };
        // Where there is no runtime any more, nothing goes on.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(work.in_current_span());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::time::Duration;

    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::Uninterrupted;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn whoever_waits_gets_the_answer() {
        assert_eq!(Uninterrupted::new(async { 7 }).await, 7);
    }

    #[tokio::test]
    async fn it_goes_on_when_nobody_waits_any_more() {
        let ((go, gone), (done, ended)) = (oneshot::channel::<()>(), oneshot::channel());
        let mut work = Box::pin(Uninterrupted::new(async move {
            gone.await.unwrap();
            done.send("done").unwrap();
        }));
        assert!(futures::poll!(&mut work).is_pending());
        drop(work);
        go.send(()).unwrap();
        assert_eq!(timeout(LONG, ended).await.unwrap().unwrap(), "done");
    }

    #[tokio::test]
    async fn what_was_not_begun_is_not_done() {
        let (done, ended) = oneshot::channel::<()>();
        drop(Uninterrupted::new(async move { done.send(()).unwrap() }));
        assert!(timeout(LONG, ended).await.unwrap().is_err());
    }
}
