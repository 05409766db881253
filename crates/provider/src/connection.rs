//! Connections.
//!
//! The protocol: take a connection from its shelf or open one ([`IdlePool::take_or`]), [`Connection::ask`]
//! it, read the [`PendingResponse`] to its end; then it goes back to its shelf. An answer dropped before its end
//! takes its connection with it.
//!
//! A connection has no task of its own: whoever waits for its answer drives it. So bytes that come wake
//! the one that wants them and nobody else.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::http::{ConnectionError, TwoPartBody};
use crate::idle_pool::IdlePool;

/// The most that is read at once, and so kept per connection. Bytes of an answer are small and many.
const READ_BYTES: usize = 8 << 10;

/// What a connection runs over.
pub(crate) type ByteStream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: http1::SendRequest<TwoPartBody>,
    driven: DrivenConnection,
    /// How many answers it has brought.
    answers: u32,
    /// Since when nobody needs it, if nobody does.
    pub(crate) idle_since: Instant,
}

/// A connection until it ends.
#[derive(Debug)]
struct DrivenConnection {
    open: Option<http1::Connection<ByteStream, TwoPartBody>>,
    unread: UnreadBytes,
}

/// Whether a connection that ended had brought bytes that nobody read: part of an answer's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnreadBytes {
    Some,
    None,
}

/// Why a request got no answer.
pub(crate) enum UnansweredRequest {
    /// The connection had ended since it brought its last answer, before anything of this request was sent.
    Unsent,
    /// It had brought an answer before, and ended without one byte of this one. What the server saw of the
    /// request is not known; most likely it closed the connection at the end of its last answer.
    Stale,
    /// It was lost: a new connection, or in the middle of the answer's head.
    Lost(hyper::Error),
}

impl Connection {
    pub(crate) async fn open(stream: ByteStream) -> Result<Box<Self>, ConnectionError> {
        let opened = http1::Builder::new().read_buf_exact_size(Some(READ_BYTES)).handshake(stream).await;
        let (sender, driven) = opened.map_err(|error| ConnectionError::Connecting(Box::new(error)))?;
        let driven = DrivenConnection { open: Some(driven), unread: UnreadBytes::None };
        Ok(Box::new(Self { sender, driven, answers: 0, idle_since: Instant::now() }))
    }

    /// How many answers it has brought.
    pub(crate) fn answers(&self) -> u32 {
        self.answers
    }

    /// Sends a request; gives the answer's head and the body that will follow.
    pub(crate) async fn ask(&mut self, request: Request<TwoPartBody>) -> Result<Response<Incoming>, UnansweredRequest> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let asked = std::future::poll_fn(|context| {
            self.driven.poll(context);
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        let mut error = match asked.await {
            Ok(response) => {
                self.answers += 1;
                return Ok(response);
            }
            Err(error) => error,
        };
        let sent = error.take_message().is_none();
        Err(match (self.answers, sent, self.driven.end()) {
            (1.., false, _) => UnansweredRequest::Unsent,
            (1.., true, UnreadBytes::None) => UnansweredRequest::Stale,
            (0, _, _) | (1.., true, UnreadBytes::Some) => UnansweredRequest::Lost(error.into_error()),
        })
    }
}

impl DrivenConnection {
    /// Lets the connection do what it can. Nothing but this moves an answer on, so an answer is asked with
    /// a waker that wakes nobody.
    fn poll(&mut self, context: &mut Context<'_>) {
        let Some(open) = &mut self.open else { return };
        if Pin::new(open).poll(context).is_ready() {
            // How it ended is told to the answer that was waited for, at the latest by this.
            self.end();
        }
    }

    /// Ends it, if that has not happened.
    fn end(&mut self) -> UnreadBytes {
        if self.open.take().is_some_and(|open| !open.into_parts().read_buf.is_empty()) {
            self.unread = UnreadBytes::Some;
        }
        self.unread
    }
}

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct PendingResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    connection: Option<Box<Connection>>,
    idle_pool: Arc<IdlePool>,
}

impl PendingResponse {
    pub(crate) fn new(response: Response<Incoming>, connection: Box<Connection>, idle_pool: Arc<IdlePool>) -> Self {
        let (head, body) = response.into_parts();
        let (status, mut headers) = (head.status, head.headers);
        // They hold on to the buffer they were read into, which is wanted for the body.
        if status.is_success() {
            headers = HeaderMap::new();
        }
        Self { status, headers, body, connection: Some(connection), idle_pool }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The value of a header, where it is text. Those of a success are not kept.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The next bytes; none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, ConnectionError> {
        std::future::poll_fn(|context| self.poll_chunk(context)).await
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, ConnectionError>> {
        loop {
            let read = match (self.poll_body(), &mut self.connection) {
                (Poll::Pending, Some(connection)) => {
                    connection.driven.poll(context);
                    self.poll_body()
                }
                (read, _) => read,
            };
            match read {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers say nothing we need.
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Ok(Some(bytes)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(ConnectionError::Connected(Box::new(error)))),
                Poll::Ready(None) => {
                    self.give_back();
                    return Poll::Ready(Ok(None));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn poll_body(&mut self) -> Poll<Option<Result<http_body::Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(&mut Context::from_waker(Waker::noop()))
    }

    /// Puts the connection back, if it can take another request.
    fn give_back(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        if !connection.sender.is_ready() {
            // It may not have noticed yet that this was all.
            connection.driven.poll(&mut Context::from_waker(Waker::noop()));
        }
        if connection.sender.is_ready() {
            IdlePool::put(&self.idle_pool, connection);
        }
    }
}
