//! Open HTTP connections.
//!
//! The protocol: take a connection from its idle pool or open one ([`IdlePool::take_or`]), send a request with
//! [`Connection::ask`], read the [`PendingResponse`] to its end; then the connection goes back to its idle pool.
//! Dropping an answer before its end closes its connection.
//!
//! A connection has no task of its own: the task that waits for its answer polls it. So incoming bytes wake only the
//! task that needs them.

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

use crate::http::{ConnectionError, PartedBody};
use crate::idle_pool::IdlePool;

/// The largest read, and so the buffer per connection. Answers come as many small chunks.
const READ_BYTES: usize = 8 << 10;

/// The stream below a connection.
pub(crate) type ByteStream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: http1::SendRequest<PartedBody>,
    driven: DrivenConnection,
    /// How many answers it has delivered.
    answers: u32,
    /// Since when it has been idle, if it is.
    pub(crate) idle_since: Instant,
}

/// A connection that is polled until it ends.
#[derive(Debug)]
struct DrivenConnection {
    open: Option<http1::Connection<ByteStream, PartedBody>>,
    unread: UnreadBytes,
}

/// Whether an ended connection had received bytes that were not read: part of an answer's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnreadBytes {
    Some,
    None,
}

/// Why a request got no answer.
pub(crate) enum UnansweredRequest {
    /// The connection had ended since its last answer, before anything of this request was sent.
    Unsent,
    /// The connection had delivered an answer before, and ended without one byte of this one. How much of the request
    /// the server saw is not known; most likely it closed the connection at the end of its last answer.
    Stale,
    /// The connection was lost: a new one, or in the middle of the answer's head.
    Lost(hyper::Error),
}

impl Connection {
    pub(crate) async fn open(stream: ByteStream) -> Result<Box<Self>, ConnectionError> {
        let opened = http1::Builder::new().read_buf_exact_size(Some(READ_BYTES)).handshake(stream).await;
        let (sender, driven) = opened.map_err(|error| ConnectionError::Connecting(Box::new(error)))?;
        let driven = DrivenConnection { open: Some(driven), unread: UnreadBytes::None };
        Ok(Box::new(Self { sender, driven, answers: 0, idle_since: Instant::now() }))
    }

    /// How many answers it has delivered.
    pub(crate) fn answers(&self) -> u32 {
        self.answers
    }

    /// Sends a request; returns the answer's head and the body that will follow.
    pub(crate) async fn ask(&mut self, request: Request<PartedBody>) -> Result<Response<Incoming>, UnansweredRequest> {
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
    /// Polls the connection. Nothing else advances an answer, so the answer itself is polled with a no-op waker.
    fn poll(&mut self, context: &mut Context<'_>) {
        let Some(open) = &mut self.open else { return };
        if Pin::new(open).poll(context).is_ready() {
            // By now hyper has reported to the waiting answer how the connection ended.
            self.end();
        }
    }

    /// Ends the connection, if it has not ended.
    fn end(&mut self) -> UnreadBytes {
        if self.open.take().is_some_and(|open| !open.into_parts().read_buf.is_empty()) {
            self.unread = UnreadBytes::Some;
        }
        self.unread
    }
}

/// An answer whose body is being received.
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
        // The headers keep the read buffer alive, which is needed for the body.
        if status.is_success() {
            headers = HeaderMap::new();
        }
        Self { status, headers, body, connection: Some(connection), idle_pool }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The value of a header, if it is text. The headers of a success are not kept.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the next bytes; `None` at the end.
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
                    // Trailers are not needed.
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

    /// Puts the connection back into the pool, if it can take another request.
    fn give_back(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        if !connection.sender.is_ready() {
            // The connection may not have noticed the end of the answer yet.
            connection.driven.poll(&mut Context::from_waker(Waker::noop()));
        }
        if connection.sender.is_ready() {
            IdlePool::put(&self.idle_pool, connection);
        }
    }
}
