//! Connections.
//!
//! The protocol: take a connection from its shelf or open one ([`Shelf::take_or`]), [`Connection::ask`]
//! it, read the [`Answering`] to its end; then it goes back to its shelf. An answer dropped before its end
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

use crate::http::{Halves, Lost};
use crate::shelf::Shelf;

/// The most that is read at once, and so kept per connection. Bytes of an answer are small and many.
const READ_BYTES: usize = 8 << 10;

/// What a connection runs over.
pub(crate) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    sender: http1::SendRequest<Halves>,
    driven: Driven,
    /// Whether it has brought an answer. Until it is used again, the other end may have closed it.
    used: bool,
}

/// A connection until it ends.
#[derive(Debug)]
struct Driven(Option<http1::Connection<Stream, Halves>>);

/// Why a request got no answer.
pub(crate) enum Unanswered {
    /// The connection had ended since it was last used, before anything was sent: the request is as good
    /// as new.
    Unsent(Box<Request<Halves>>),
    /// It was lost.
    Lost(hyper::Error),
}

impl Connection {
    pub(crate) async fn open(stream: Stream) -> Result<Box<Self>, Lost> {
        let opened = http1::Builder::new().read_buf_exact_size(Some(READ_BYTES)).handshake(stream).await;
        let (sender, driven) = opened.map_err(|error| Lost::Connecting(Box::new(error)))?;
        Ok(Box::new(Self { sender, driven: Driven(Some(driven)), used: false }))
    }

    /// Sends a request; gives the answer's head and the body that will follow.
    pub(crate) async fn ask(&mut self, request: Request<Halves>) -> Result<Response<Incoming>, Unanswered> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let asked = std::future::poll_fn(|context| {
            self.driven.poll(context);
            answer.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        });
        let answered = asked.await.map_err(|mut error| match error.take_message().filter(|_| self.used) {
            Some(request) => Unanswered::Unsent(Box::new(request)),
            None => Unanswered::Lost(error.into_error()),
        });
        self.used = true;
        answered
    }
}

impl Driven {
    /// Lets the connection do what it can. Nothing but this moves an answer on, so an answer is asked with
    /// a waker that wakes nobody.
    fn poll(&mut self, context: &mut Context<'_>) {
        let Some(driven) = &mut self.0 else { return };
        if Pin::new(driven).poll(context).is_ready() {
            // How it ended is told to the answer that was waited for, at the latest by this.
            self.0 = None;
        }
    }
}

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct Answering {
    status: StatusCode,
    headers: HeaderMap,
    body: Incoming,
    connection: Option<Box<Connection>>,
    shelf: Arc<Shelf>,
}

impl Answering {
    pub(crate) fn new(response: Response<Incoming>, connection: Box<Connection>, shelf: Arc<Shelf>) -> Self {
        let (head, body) = response.into_parts();
        let (status, mut headers) = (head.status, head.headers);
        // They hold on to the buffer they were read into, which is wanted for the body.
        if status.is_success() {
            headers = HeaderMap::new();
        }
        Self { status, headers, body, connection: Some(connection), shelf }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The value of a header, where it is text. Those of a success are not kept.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The next bytes; none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Lost> {
        std::future::poll_fn(|context| self.poll_chunk(context)).await
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Lost>> {
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
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(Lost::Connected(Box::new(error)))),
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
            Shelf::put(&self.shelf, connection);
        }
    }
}
