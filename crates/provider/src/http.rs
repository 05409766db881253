//! The one HTTP client: pooled, keep-alive, shared by all models and sessions of a process.
//!
//! It follows no redirects, so that a key is sent only to the configured server; it reads its proxy from its
//! configuration, not from the environment; and it never panics for lack of a TLS provider, because it has its own.
//! Certificates are checked against the system's store, or against the bundled list if the system has none; they are
//! loaded only when an `https` address is used.
//!
//! It is built on hyper directly: this bounds the memory per connection, which matters when a thousand sessions
//! stream at once.

use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::connection::{Connection, PendingResponse, UnansweredRequest};
use crate::future::BoxFuture;
use crate::idle_pool::IdlePool;

/// TCP keep-alive and timeout, by which a dead peer is detected.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TRIES: u32 = 3;
const UNANSWERED: Duration = Duration::from_secs(30);

/// Settings of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// A proxy for all connections except to this machine, e.g. `http://proxy:3128`.
    pub proxy: Option<String>,
    /// How long a connection may take to open, in milliseconds.
    pub connect_ms: u64,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { proxy: None, connect_ms: 10_000 }
    }
}

/// Why the client could not be created.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpError {
    /// The proxy's address is not valid.
    #[error("`{address}` is no proxy address ({reason}); write it like http://proxy:3128")]
    Proxy {
        /// The address as configured.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// TLS or the client itself could not be set up.
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
}

/// The shared client. Cloning shares the pool.
#[derive(Clone, Debug)]
pub struct HttpClient(Arc<ClientPools>);

#[derive(Debug)]
struct ClientPools {
    config: HttpConfig,
    plain: Pool,
    secure: OnceLock<Pool>,
}

/// The connections for one scheme.
#[derive(Debug)]
struct Pool {
    connector: HttpsConnector<ServerConnector>,
    /// Idle connections by host and port.
    shelves: Mutex<HashMap<String, Arc<IdlePool>>>,
}

impl HttpClient {
    /// Returns a client with its own pool; one is enough for a process.
    pub fn new(config: HttpConfig) -> Result<Self, HttpError> {
        // Plain HTTP needs no certificates, so this pool starts without any.
        let plain = Pool::new(&config, RootCertStore::empty())?;
        Ok(Self(Arc::new(ClientPools { config, plain, secure: OnceLock::new() })))
    }

    /// Returns a sender of requests to `server`; `host` is its `Host` header.
    pub(crate) fn to(&self, server: Uri, host: &str) -> Result<RequestSender, HttpError> {
        let ClientPools { config, plain, secure } = &*self.0;
        if server.scheme_str() != Some("https") {
            return Ok(plain.sender(server, host));
        }
        if let Some(pool) = secure.get() {
            return Ok(pool.sender(server, host));
        }
        let pool = Pool::new(config, windlass_tls::trusted())?;
        Ok(secure.get_or_init(|| pool).sender(server, host))
    }
}

impl Pool {
    fn new(config: &HttpConfig, roots: RootCertStore) -> Result<Self, HttpError> {
        let tls = windlass_tls::client(roots).map_err(|error| HttpError::Setup(error.to_string()))?;
        Ok(Self { connector: HttpsConnector::from((ServerConnector::new(config)?, tls)), shelves: Mutex::default() })
    }

    fn sender(&self, server: Uri, host: &str) -> RequestSender {
        let mut shelves = self.shelves.lock().unwrap_or_else(PoisonError::into_inner);
        let idle_pool = Arc::clone(shelves.entry(host.to_owned()).or_default());
        RequestSender { connector: self.connector.clone(), server, idle_pool }
    }
}

/// A request that can be sent again: its body is shared, not copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepeatableRequest<'a> {
    pub(crate) method: &'a Method,
    /// Path and query.
    pub(crate) path: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a PartedBody,
}

impl RepeatableRequest<'_> {
    fn request(&self) -> Request<PartedBody> {
        let mut request = Request::new(self.body.clone());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = self.path.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// Sends requests to one server.
#[derive(Clone, Debug)]
pub(crate) struct RequestSender {
    connector: HttpsConnector<ServerConnector>,
    server: Uri,
    idle_pool: Arc<IdlePool>,
}

impl RequestSender {
    /// Sends a request; returns the answer once its head has arrived. If a reused connection ends without a byte of
    /// this answer, the request is sent once more over a new one: the server most likely closed the connection at the
    /// end of its last answer. The server may have read the request, so it must be one that may be sent twice, as
    /// every model call may.
    pub(crate) async fn send(&self, asked: &RepeatableRequest<'_>) -> Result<PendingResponse, ConnectionError> {
        let mut fresh = None;
        loop {
            let mut connection = match fresh.take() {
                Some(fresh) => fresh,
                None => self.idle_pool.take_or(|| Box::pin(self.open())).await?,
            };
            match connection.ask(asked.request()).await {
                Ok(response) => return Ok(PendingResponse::new(response, connection, Arc::clone(&self.idle_pool))),
                Err(UnansweredRequest::Unsent) => self.idle_pool.note_end(&connection),
                Err(UnansweredRequest::Stale) => {
                    self.idle_pool.note_end(&connection);
                    // The other idle connections may be stale as well; a new one can't be.
                    fresh = Some(Box::pin(self.open()).await?);
                }
                Err(UnansweredRequest::Lost(error)) => return Err(ConnectionError::Connected(Box::new(error))),
            }
        }
    }

    async fn open(&self) -> Result<Box<Connection>, ConnectionError> {
        let mut connector = self.connector.clone();
        let ready = std::future::poll_fn(|context| connector.poll_ready(context)).await;
        ready.map_err(ConnectionError::Connecting)?;
        Connection::open(connector.call(self.server.clone()).await.map_err(ConnectionError::Connecting)?).await
    }
}

/// Why a connection could not be opened, or was lost.
#[derive(Debug)]
pub(crate) enum ConnectionError {
    Connecting(Box<dyn Error + Send + Sync>),
    Connected(Box<dyn Error + Send + Sync>),
}

/// Connects to a server directly or through a proxy tunnel.
#[derive(Clone, Debug)]
struct ServerConnector {
    straight: HttpConnector,
    proxy: Option<Arc<Matcher>>,
}

impl ServerConnector {
    fn new(config: &HttpConfig) -> Result<Self, HttpError> {
        let mut straight = HttpConnector::new();
        straight.enforce_http(false);
        straight.set_nodelay(true);
        straight.set_connect_timeout(Some(Duration::from_millis(config.connect_ms)));
        straight.set_keepalive(Some(KEEP_ALIVE));
        straight.set_keepalive_interval(Some(KEEP_ALIVE));
        straight.set_keepalive_retries(Some(KEEP_ALIVE_TRIES));
        #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
        straight.set_tcp_user_timeout(Some(UNANSWERED));
        let proxy = config.proxy.as_deref().map(proxy).transpose()?;
        Ok(Self { straight, proxy: proxy.map(Arc::new) })
    }
}

impl Service<Uri> for ServerConnector {
    type Response = TokioIo<TcpStream>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.straight.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let Some(proxy) = self.proxy.as_ref().and_then(|proxy| proxy.intercept(&to)) else {
            let reached = self.straight.call(to);
            return Box::pin(async move { reached.await.map_err(Into::into) });
        };
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.straight.clone());
        if let Some(auth) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(auth.clone());
        }
        let reached = tunnel.call(to);
        Box::pin(async move { reached.await.map_err(Into::into) })
    }
}

fn proxy(address: &str) -> Result<Matcher, HttpError> {
    let wrong = |reason: &str| HttpError::Proxy { address: address.to_owned(), reason: reason.to_owned() };
    let uri: Uri = address.parse().map_err(|error: http::uri::InvalidUri| wrong(&error.to_string()))?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http"), Some(_)) => {}
        (Some("http") | None, None) => return Err(wrong("it names no host")),
        (Some(_), _) | (None, Some(_)) => return Err(wrong("it does not begin with http://")),
    }
    Ok(Matcher::builder().all(address.to_owned()).no("localhost,127.0.0.0/8,::1").build())
}

/// A body of several parts, sent without joining them. Boxed, because every connection has room for 32 requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartedBody(Box<BodyParts>);

#[derive(Clone, Debug, Default)]
struct BodyParts {
    parts: Vec<Bytes>,
    /// How many of them were sent.
    sent: usize,
}

impl PartedBody {
    /// Returns a body of these parts, in order.
    pub(crate) fn new(parts: Vec<Bytes>) -> Self {
        Self(Box::new(BodyParts { parts, sent: 0 }))
    }

    fn unsent(&self) -> impl Iterator<Item = &Bytes> {
        self.0.parts.iter().skip(self.0.sent)
    }
}

impl Body for PartedBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let BodyParts { parts, sent } = &mut *self.get_mut().0;
        while let Some(part) = parts.get_mut(*sent) {
            *sent += 1;
            // Not kept: the buffer behind it grows in place once nothing else holds it.
            let part = std::mem::take(part);
            if !part.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.unsent().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.unsent().map(|part| part.len() as u64).sum())
    }
}
