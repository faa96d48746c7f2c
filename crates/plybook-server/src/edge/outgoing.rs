//! What leaves by a connection gathers while others still have something to say.
//!
//! Answers come to their connection one by one, each from a task of its own, and each would leave in a system call of its
//! own: on a small machine that is a sixth of what an answer costs its node, and as much again for whoever reads it. So a
//! connection that is to send gives way once, behind the tasks that are ready to run, and sends what they add with it.
//! Nobody waits for what is not ready yet.
//!
//! It takes one slice of bytes at a time. Where a stream takes several, h2 flushes before and after each message of 256 bytes
//! or more, so as not to copy it, which makes each answer leave by itself again.
//!
//! Of what is ready h2 packs 16 KiB, writes them and flushes for the sake of its own room, then packs on. Such a flush is none yet: what was cut
//! there would leave in two parts, and the callers whose answers came first would come back alone.
//!
//! Invariants: bytes leave in the order in which they came; a flush ends only when all of them have left, or has the connection come again
//! at once for another; of what the peer does not take, [`MOST`] bytes are held and no more.

use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are held: two of the largest frames that peers take unasked, with their heads. An answer to a move has some 600.
const MOST: usize = 33 * 1024;
/// A write of so many may say that h2's buffer was full: it has 16 KiB, of which it wants 1,033 bytes for one frame more.
const FULL: usize = 16 * 1024 - 1_033 + 1;
/// Memory that stays with a connection for what it sends next.
const KEPT: usize = 4 * 1024;

/// A stream whose bytes gather.
#[derive(Debug)]
pub struct Outgoing<S> {
    stream: S,
    held: Vec<u8>,
    /// Of the held ones, those that have left.
    left: usize,
    /// Whether those that are held have given way.
    gave_way: bool,
    /// Whether the last write may have been for the sake of room alone.
    full: bool,
}

impl<S> Outgoing<S> {
    /// Nothing is held yet.
    pub const fn new(stream: S) -> Outgoing<S> {
        Outgoing { stream, held: Vec::new(), left: 0, gave_way: false, full: false }
    }
}

impl<S: AsyncWrite + Unpin> Outgoing<S> {
    /// Takes as many of these as there is room for, which is made where there is none.
    fn poll_hold(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.held.len() >= MOST {
            ready!(self.poll_send(context))?;
        }
        let taken = bytes.len().min(MOST - self.held.len());
        self.held.extend_from_slice(&bytes[..taken]);
        Poll::Ready(Ok(taken))
    }

    /// Until nothing is held.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.left < self.held.len() {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &self.held[self.left..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => self.left += written,
            }
        }
        self.left = 0;
        self.held.clear();
        self.held.shrink_to(KEPT);
        self.gave_way = false;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Outgoing<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outgoing = self.get_mut();
        outgoing.full = bytes.len() >= FULL;
        outgoing.poll_hold(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outgoing = self.get_mut();
        if mem::take(&mut outgoing.full) && outgoing.held.len() < MOST {
            // Whoever flushes in earnest does so again, in this turn or in the next.
            context.waker().wake_by_ref();
            return Poll::Ready(Ok(()));
        }
        if !outgoing.held.is_empty() && !outgoing.gave_way {
            outgoing.gave_way = true;
            // A task that is woken while it runs goes behind those that are ready.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        ready!(outgoing.poll_send(context))?;
        Pin::new(&mut outgoing.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outgoing = self.get_mut();
        ready!(outgoing.poll_send(context))?;
        Pin::new(&mut outgoing.stream).poll_shutdown(context)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Outgoing<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(context, to)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::future::poll_fn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Wake, Waker};

    use tokio::io::AsyncWriteExt as _;

    use super::*;

    /// A peer that takes so many bytes, so many at a time.
    #[derive(Debug)]
    struct Peer {
        took: Vec<Vec<u8>>,
        room: usize,
        at_once: usize,
        shut: bool,
    }

    impl Peer {
        fn with_room(room: usize, at_once: usize) -> Outgoing<Peer> {
            Outgoing::new(Peer { took: Vec::new(), room, at_once, shut: false })
        }
    }

    impl AsyncWrite for Peer {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            let takes = bytes.len().min(self.room).min(self.at_once);
            if takes == 0 {
                return Poll::Pending;
            }
            self.room -= takes;
            self.took.push(bytes[..takes].to_vec());
            Poll::Ready(Ok(takes))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            self.shut = true;
            Poll::Ready(Ok(()))
        }
    }

    /// Answers that come to less than what h2 packs at once, and to more; both to less than what is held.
    const ANSWERS: [usize; 2] = [20, 50];

    /// A stream whose sends are counted.
    #[derive(Debug)]
    struct Counted {
        stream: tokio::io::DuplexStream,
        sends: Arc<AtomicUsize>,
    }

    impl AsyncRead for Counted {
        fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(context, to)
        }
    }

    impl AsyncWrite for Counted {
        fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.sends.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut self.stream).poll_write(context, bytes)
        }

        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_flush(context)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_shutdown(context)
        }
    }

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(outgoing: &mut Outgoing<Peer>, bytes: &[u8]) -> Poll<usize> {
        let mut context = Context::from_waker(Waker::noop());
        Pin::new(outgoing).poll_write(&mut context, bytes).map(Result::unwrap)
    }

    #[test]
    fn what_comes_while_a_flush_gives_way_leaves_with_it() {
        let mut outgoing = Peer::with_room(usize::MAX, usize::MAX);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let flush = |outgoing: &mut Outgoing<Peer>| Pin::new(outgoing).poll_flush(&mut Context::from_waker(&waker)).map(Result::unwrap);
        assert!(flush(&mut outgoing).is_ready(), "nothing is held");
        for round in 1..=3 {
            assert_eq!(write(&mut outgoing, b"one "), Poll::Ready(4));
            assert!(flush(&mut outgoing).is_pending());
            assert_eq!(woken.0.load(Ordering::Relaxed), round, "it comes again by itself");
            assert_eq!(write(&mut outgoing, b"two three"), Poll::Ready(9));
            assert!(flush(&mut outgoing).is_ready());
            assert_eq!(outgoing.stream.took.len(), round);
            assert_eq!(outgoing.stream.took.last().unwrap(), b"one two three");
        }
    }

    #[test]
    fn a_flush_for_the_sake_of_room_is_none_yet() {
        let mut outgoing = Peer::with_room(usize::MAX, usize::MAX);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let flush = |outgoing: &mut Outgoing<Peer>| Pin::new(outgoing).poll_flush(&mut Context::from_waker(&waker)).map(Result::unwrap);
        for last in [&b""[..], b"and one more"] {
            assert_eq!(write(&mut outgoing, &[7; FULL]), Poll::Ready(FULL));
            assert!(flush(&mut outgoing).is_ready(), "there is room");
            assert_eq!((outgoing.stream.took.len(), woken.0.swap(0, Ordering::Relaxed)), (0, 1), "and it comes again by itself");
            if !last.is_empty() {
                assert_eq!(write(&mut outgoing, last), Poll::Ready(last.len()));
            }
            assert!(flush(&mut outgoing).is_pending(), "it gives way as ever");
            assert!(flush(&mut outgoing).is_ready());
            assert_eq!(outgoing.stream.took, [[&[7; FULL], last].concat()]);
            outgoing.stream.took.clear();
            woken.0.store(0, Ordering::Relaxed);
        }
        // Where nothing more is held, it leaves.
        for _ in 0..2 {
            assert_eq!(write(&mut outgoing, &[7; MOST / 2]), Poll::Ready(MOST / 2));
        }
        assert!(flush(&mut outgoing).is_pending());
        assert!(flush(&mut outgoing).is_ready());
        assert_eq!(outgoing.stream.took.concat().len(), MOST);
    }

    /// Answers of some hundred bytes each, through HTTP/2 itself.
    #[tokio::test]
    async fn answers_that_are_ready_together_leave_together() {
        let [few, many] = [sends_for(ANSWERS[0]).await, sends_for(ANSWERS[1]).await];
        assert!(few <= 5, "{few} sends for {} answers", ANSWERS[0]);
        assert_eq!(many, few, "{} answers leave as {} do", ANSWERS[1], ANSWERS[0]);
    }

    async fn sends_for(answers: usize) -> usize {
        let (near, far) = tokio::io::duplex(1 << 20);
        let sends = Arc::<AtomicUsize>::default();
        let counted = Counted { stream: near, sends: Arc::clone(&sends) };
        let serving = async {
            let mut server = h2::server::handshake(Outgoing::new(counted)).await.unwrap();
            let mut answering = tokio::task::JoinSet::new();
            let all = Arc::new(tokio::sync::Barrier::new(answers));
            while let Some(Ok((_, mut answer))) = server.accept().await {
                let all = Arc::clone(&all);
                answering.spawn(async move {
                    all.wait().await;
                    let mut body = answer.send_response(http::Response::new(()), false).unwrap();
                    body.send_data(vec![7; 500].into(), false).unwrap();
                    body.send_trailers(http::HeaderMap::new()).unwrap();
                });
            }
        };
        let calling = async {
            let (calls, connection) = h2::client::handshake(far).await.unwrap();
            tokio::spawn(async { drop(connection.await) });
            let mut calls = calls.ready().await.unwrap();
            let asked: Vec<_> = (0..answers).map(|_| calls.send_request(http::Request::new(()), true).unwrap().0).collect();
            // Settings and windows have been settled by the first answer's time.
            let before = sends.load(Ordering::Relaxed);
            for answer in futures::future::join_all(asked).await {
                assert_eq!(answer.unwrap().into_body().data().await.unwrap().unwrap().len(), 500);
            }
            sends.load(Ordering::Relaxed) - before
        };
        tokio::select! {
            sends = calling => sends,
            () = serving => unreachable!("the caller is there"),
        }
    }

    #[test]
    fn of_what_the_peer_does_not_take_so_much_is_held() {
        let mut outgoing = Peer::with_room(10, 7);
        let bytes: Vec<u8> = (0..=255).cycle().take(MOST + 5).collect();
        assert_eq!(write(&mut outgoing, &bytes), Poll::Ready(MOST));
        assert_eq!(write(&mut outgoing, &bytes[MOST..]), Poll::Pending);
        assert_eq!(outgoing.held.len(), MOST);
        outgoing.stream.room = usize::MAX;
        assert_eq!(write(&mut outgoing, &bytes[MOST..]), Poll::Ready(5));
        assert_eq!(outgoing.stream.took.concat(), bytes[..MOST]);
        assert!(outgoing.held.capacity() < MOST, "what was held once is not kept for ever");
    }

    #[tokio::test]
    async fn bytes_leave_in_order_and_whole_before_the_end() {
        let mut outgoing = Peer::with_room(usize::MAX, 3);
        let bytes: Vec<u8> = (0..=255).cycle().take(3 * MOST + 1).collect();
        for part in bytes.chunks(1_001) {
            outgoing.write_all(part).await.unwrap();
        }
        outgoing.flush().await.unwrap();
        assert_eq!(outgoing.stream.took.concat(), bytes);
        outgoing.write_all(b"end").await.unwrap();
        poll_fn(|context| Pin::new(&mut outgoing).poll_shutdown(context)).await.unwrap();
        assert!(outgoing.stream.shut);
        assert_eq!(outgoing.stream.took.concat(), [&bytes[..], b"end"].concat());
    }
}
