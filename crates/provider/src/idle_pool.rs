//! The pool of idle connections.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::connection::Connection;
use crate::future::BoxFuture;

/// How long an idle connection may still be used.
const IDLE: Duration = Duration::from_secs(90);

/// A server that closes a connection this soon after its first answer closes it after every answer. A server that
/// closes idle connections keeps them open for longer.
const SOON: Duration = Duration::from_secs(1);

/// After this many such closes in a row the server's connections are not kept, for this time since the last close.
const SOON_IN_A_ROW: u32 = 2;
const REMEMBERED: Duration = Duration::from_secs(600);

/// The idle connections to one server.
#[derive(Debug, Default)]
pub(crate) struct IdlePool {
    idle: Mutex<IdleConnection>,
    /// Notifies tasks that are opening a connection that one has become idle.
    back: Notify,
}

#[derive(Debug, Default)]
struct IdleConnection {
    /// Ordered by idle time, the most recent last.
    #[expect(clippy::vec_box, reason = "a connection is large, and goes from hand to hand by its pointer")]
    connections: Vec<Box<Connection>>,
    /// How often in a row the server closed a connection soon after its first answer, and when it last did.
    closed_soon: u32,
    last_closed: Option<Instant>,
    /// The task that closes connections that were idle for too long.
    sweeper: Option<JoinHandle<()>>,
}

impl IdlePool {
    /// Returns the most recently used connection, or the one from `open` if that is ready before another becomes
    /// idle.
    pub(crate) async fn take_or<'a, E>(
        &self,
        open: impl FnOnce() -> BoxFuture<'a, Result<Box<Connection>, E>>,
    ) -> Result<Box<Connection>, E> {
        if let Some(connection) = self.take() {
            return Ok(connection);
        }
        // Boxed: seldom needed, and larger than the rest of a call's future.
        let mut opening = open();
        loop {
            // Registers before checking the pool, so that no connection is returned unnoticed in between.
            let mut back = pin!(self.back.notified());
            back.as_mut().enable();
            if let Some(connection) = self.take() {
                return Ok(connection);
            }
            let opened = std::future::poll_fn(|context| match back.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => opening.as_mut().poll(context).map(Some),
            });
            if let Some(opened) = opened.await {
                return opened;
            }
        }
    }

    fn take(&self) -> Option<Box<Connection>> {
        self.with(|idle| {
            let connection = idle.connections.pop()?;
            if connection.idle_since.elapsed() < IDLE {
                return Some(connection);
            }
            // All the others have been idle for longer.
            idle.connections.clear();
            None
        })
    }

    /// Keeps a connection for the next request, unless the server is known to close it.
    pub(crate) fn put(idle_pool: &Arc<Self>, mut connection: Box<Connection>) {
        connection.idle_since = Instant::now();
        idle_pool.with(|idle| {
            if connection.answers() > 1 {
                idle.closed_soon = 0;
            }
            if idle.is_closed_by_the_server() {
                return;
            }
            idle.connections.push(connection);
            if idle.sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
                idle.sweeper = Some(tokio::spawn(sweep(Arc::downgrade(idle_pool))));
            }
        });
        idle_pool.back.notify_one();
    }

    /// Records that a pooled connection ended before it delivered another answer.
    pub(crate) fn note_end(&self, connection: &Connection) {
        if connection.answers() == 1 && connection.idle_since.elapsed() < SOON {
            self.with(|idle| {
                idle.closed_soon = idle.closed_soon.saturating_add(1);
                idle.last_closed = Some(Instant::now());
            });
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut IdleConnection) -> T) -> T {
        act(&mut self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl IdleConnection {
    fn is_closed_by_the_server(&self) -> bool {
        self.closed_soon >= SOON_IN_A_ROW && self.last_closed.is_some_and(|last| last.elapsed() < REMEMBERED)
    }
}

/// Closes connections that were idle for too long; ends when there are none left.
async fn sweep(idle_pool: Weak<IdlePool>) {
    loop {
        tokio::time::sleep(IDLE / 2).await;
        let Some(idle_pool) = idle_pool.upgrade() else { return };
        let any = idle_pool.with(|idle| {
            idle.connections.retain(|connection| connection.idle_since.elapsed() < IDLE);
            if idle.connections.is_empty() {
                idle.sweeper = None;
            }
            !idle.connections.is_empty()
        });
        if !any {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::{Future, pending, poll_fn};
    use std::pin::Pin;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use hyper_rustls::MaybeHttpsStream;
    use hyper_util::rt::TokioIo;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::http::{HttpClient, HttpConfig, PartedBody, RepeatableRequest};

    /// A task that counts its wake-ups, and forwards them to the surrounding task.
    #[derive(Default)]
    struct CountedTask {
        woken: AtomicUsize,
        within: Mutex<Option<Waker>>,
    }

    impl Wake for CountedTask {
        fn wake(self: Arc<Self>) {
            self.woken.fetch_add(1, Ordering::SeqCst);
            if let Some(within) = self.within.lock().unwrap().take() {
                within.wake();
            }
        }
    }

    impl CountedTask {
        fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
            future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
        }

        async fn run<F: Future>(self: &Arc<Self>, future: F) -> F::Output {
            let mut future = pin!(future);
            poll_fn(|context| {
                *self.within.lock().unwrap() = Some(context.waker().clone());
                self.poll(future.as_mut())
            })
            .await
        }

        /// How many wakers of it exist.
        fn held(self: &Arc<Self>) -> usize {
            Arc::strong_count(self) - 1
        }
    }

    /// Returns a connection and the server's end of it.
    async fn connection() -> (Box<Connection>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (near, far) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        let opened = Connection::open(MaybeHttpsStream::Http(TokioIo::new(near.unwrap()))).await;
        (opened.unwrap(), far.unwrap().0)
    }

    fn never<'a>() -> BoxFuture<'a, Result<Box<Connection>, Infallible>> {
        Box::pin(pending())
    }

    fn lying(idle_pool: &IdlePool) -> usize {
        idle_pool.with(|idle| idle.connections.len())
    }

    #[tokio::test]
    async fn one_that_comes_back_wins_over_one_being_opened() {
        let (connection, _far) = connection().await;
        let (idle_pool, task) = (Arc::new(IdlePool::default()), Arc::new(CountedTask::default()));
        let mut polls = 0;
        let opening = poll_fn(|_| {
            polls += 1;
            if polls == 1 { Poll::Pending } else { Poll::Ready(Err("opened")) }
        });
        let mut taking = pin!(idle_pool.take_or(|| Box::pin(opening)));
        assert!(task.poll(taking.as_mut()).is_pending());
        IdlePool::put(&idle_pool, connection);
        assert_eq!(task.woken.load(Ordering::SeqCst), 1);
        assert!(matches!(task.poll(taking.as_mut()), Poll::Ready(Ok(_))));
    }

    #[tokio::test]
    async fn one_taken_before_the_waiting_came_for_it_leaves_them_waiting_for_the_next() {
        let ((first, _far), (second, _other)) = (connection().await, connection().await);
        let (idle_pool, task) = (Arc::new(IdlePool::default()), Arc::new(CountedTask::default()));
        let mut waiting = pin!(idle_pool.take_or(never));
        assert!(task.poll(waiting.as_mut()).is_pending());
        IdlePool::put(&idle_pool, first);
        let Ok(_taken) = idle_pool.take_or(never).await;
        assert!(task.poll(waiting.as_mut()).is_pending());
        IdlePool::put(&idle_pool, second);
        assert_eq!(task.woken.load(Ordering::SeqCst), 2);
        assert!(task.poll(waiting.as_mut()).is_ready());
    }

    #[tokio::test]
    async fn one_that_was_told_and_given_up_passes_it_on() {
        let (connection, _far) = connection().await;
        let idle_pool = Arc::new(IdlePool::default());
        let tasks = [Arc::new(CountedTask::default()), Arc::new(CountedTask::default())];
        let mut given_up = Box::pin(idle_pool.take_or(never));
        let mut waiting = pin!(idle_pool.take_or(never));
        assert!(tasks[0].poll(given_up.as_mut()).is_pending());
        assert!(tasks[1].poll(waiting.as_mut()).is_pending());
        IdlePool::put(&idle_pool, connection);
        drop(given_up);
        assert_eq!(tasks[1].woken.load(Ordering::SeqCst), 1);
        assert!(tasks[1].poll(waiting.as_mut()).is_ready());
    }

    #[test]
    fn whoever_stops_waiting_leaves_nothing_behind() {
        let (idle_pool, task) = (IdlePool::default(), Arc::new(CountedTask::default()));
        let mut taking = Box::pin(idle_pool.take_or(never));
        assert!(task.poll(taking.as_mut()).is_pending());
        assert_eq!(task.held(), 1);
        drop(taking);
        assert_eq!(task.held(), 0);
    }

    #[tokio::test]
    async fn calls_of_a_server_that_keeps_no_connection_leave_nothing_behind() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move {
            loop {
                let (mut far, _) = listener.accept().await.unwrap();
                far.read_u8().await.unwrap();
                far.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await.unwrap();
                // Closing before everything was read would reset the connection.
                tokio::spawn(async move { far.read_to_end(&mut Vec::new()).await });
            }
        });
        let client = HttpClient::new(HttpConfig::default()).unwrap();
        let sender = client.to(format!("http://{address}").parse().unwrap(), &address).unwrap();
        for _ in 0..3 {
            let task = Arc::new(CountedTask::default());
            let call = async {
                let (path, headers, body) = ("/".parse().unwrap(), http::HeaderMap::new(), PartedBody::default());
                let asked =
                    RepeatableRequest { method: &http::Method::GET, path: &path, headers: &headers, body: &body };
                let sent = sender.send(&asked);
                assert!(sent.await.unwrap().chunk().await.unwrap().is_none());
            };
            task.run(call).await;
            assert_eq!(task.held(), 0);
        }
    }

    /// The sweeper runs at 45 s, 90 s, 135 s: a connection that it leaves at 90 s may become too old long before 135
    /// s.
    #[tokio::test]
    async fn one_that_lay_too_long_is_not_used_though_it_was_not_swept_yet() {
        let first = connection().await.0;
        let later = [connection().await.0, connection().await.0, connection().await.0];
        tokio::time::pause();
        let idle_pool = Arc::new(IdlePool::default());
        IdlePool::put(&idle_pool, first);
        tokio::time::sleep(Duration::from_secs(10)).await;
        later.into_iter().for_each(|connection| IdlePool::put(&idle_pool, connection));
        tokio::time::sleep(IDLE - Duration::from_secs(1)).await;
        assert_eq!(lying(&idle_pool), 3);
        let Ok(last) = idle_pool.take_or(never).await;
        IdlePool::put(&idle_pool, last);
        // One was just used again; the others are too old.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let Ok(_last) = idle_pool.take_or(never).await;
        assert_eq!(lying(&idle_pool), 2);
        assert!(idle_pool.take().is_none());
        assert_eq!(lying(&idle_pool), 0);
    }

    // proves M3
    #[tokio::test]
    async fn a_server_that_closed_its_connections_is_tried_again_after_a_while() {
        let (connections, idle_pool) = ([connection().await, connection().await], Arc::new(IdlePool::default()));
        tokio::time::pause();
        let closed_soon = |times| {
            move |idle: &mut IdleConnection| (idle.closed_soon, idle.last_closed) = (times, Some(Instant::now()))
        };
        idle_pool.with(closed_soon(SOON_IN_A_ROW));
        let [(first, _far), (second, _other)] = connections;
        IdlePool::put(&idle_pool, first);
        assert_eq!(lying(&idle_pool), 0);
        tokio::time::advance(REMEMBERED).await;
        IdlePool::put(&idle_pool, second);
        assert_eq!(lying(&idle_pool), 1);
    }

    #[tokio::test]
    async fn those_nobody_came_for_are_closed_again_and_again() {
        let connections = [connection().await, connection().await];
        tokio::time::pause();
        let idle_pool = Arc::new(IdlePool::default());
        for (connection, mut far) in connections {
            let since = Instant::now();
            IdlePool::put(&idle_pool, connection);
            assert!(far.read_u8().await.is_err(), "it is not closed");
            let kept = since.elapsed();
            assert!(kept >= IDLE && kept <= IDLE + IDLE / 2, "{kept:?}");
            assert!(idle_pool.with(|idle| idle.sweeper.is_none()));
        }
    }
}
