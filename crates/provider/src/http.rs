//! The one HTTP client: pooled, keep-alive, shared by all models and sessions of a process.
//!
//! It follows no redirects, so that a key goes only where it was meant to go; it reads no proxy
//! settings from the environment, only its configuration; and it never panics for want of a TLS
//! provider, because it brings its own. Trust in certificates comes from the system's store, or from
//! the bundled list where the system has none, and is loaded only when an `https` address is used.
//!
//! It stands on hyper directly: what it keeps per connection can then be bounded, which counts when a
//! thousand sessions stream at once.

use std::error::Error;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client, Error as SendError};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::RootCertStore;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::BoxFuture;

/// The most that is read at once, and so kept per connection. Bytes of an answer are small and many.
const READ_BYTES: usize = 8 << 10;

/// How long a connection nobody needs is kept.
const IDLE: Duration = Duration::from_secs(90);

/// A connection whose other end is gone is noticed by these.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_TRIES: u32 = 3;
const UNANSWERED: Duration = Duration::from_secs(30);

/// Settings of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    /// A proxy for everything but this machine, e.g. `http://proxy:3128`.
    pub proxy: Option<String>,
    /// How long a connection may take to open, in milliseconds.
    pub connect_ms: u64,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { proxy: None, connect_ms: 10_000 }
    }
}

/// The client could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpError {
    /// The proxy's address makes no sense.
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
pub struct HttpClient(Arc<Clients>);

/// A client for one kind of address.
type Pool = Client<HttpsConnector<Reach>, Halves>;

#[derive(Debug)]
struct Clients {
    config: HttpConfig,
    plain: Pool,
    secure: OnceLock<Pool>,
}

impl HttpClient {
    /// A client with its own pool; one is enough for a process.
    pub fn new(config: HttpConfig) -> Result<Self, HttpError> {
        // Plain addresses never look at certificates, so this half starts without any.
        let plain = build(&config, RootCertStore::empty())?;
        Ok(Self(Arc::new(Clients { config, plain, secure: OnceLock::new() })))
    }

    /// The client for addresses of `scheme`.
    pub(crate) fn for_scheme(&self, scheme: &str) -> Result<Sender, HttpError> {
        let Clients { config, plain, secure } = &*self.0;
        if scheme != "https" {
            return Ok(Sender(plain.clone()));
        }
        if let Some(client) = secure.get() {
            return Ok(Sender(client.clone()));
        }
        let client = build(config, windlass_tls::trusted())?;
        Ok(Sender(secure.get_or_init(|| client).clone()))
    }
}

fn build(config: &HttpConfig, roots: RootCertStore) -> Result<Pool, HttpError> {
    let tls = windlass_tls::client(roots).map_err(|error| HttpError::Setup(error.to_string()))?;
    let connector = HttpsConnector::from((Reach::new(config)?, tls));
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .http1_read_buf_exact_size(READ_BYTES)
        .build(connector))
}

/// Sends requests.
#[derive(Clone, Debug)]
pub(crate) struct Sender(Pool);

impl Sender {
    /// Sends a request; gives the answer once its head has come.
    pub(crate) async fn send(
        &self,
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        body: Halves,
    ) -> Result<Answering, Lost> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let lost = |error: SendError| match error.is_connect() {
            true => Lost::Connecting(Box::new(error)),
            false => Lost::Connected(Box::new(error)),
        };
        self.0.request(request).await.map(Answering).map_err(lost)
    }
}

/// An answer on its way.
#[derive(Debug)]
pub(crate) struct Answering(pub(crate) http::Response<Incoming>);

impl Answering {
    /// The next bytes; none at the end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Lost> {
        let body = self.0.body_mut();
        loop {
            let frame = std::future::poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await;
            match frame.transpose().map_err(|error| Lost::Connected(Box::new(error)))?.map(Frame::into_data) {
                None => return Ok(None),
                Some(Ok(bytes)) => return Ok(Some(bytes)),
                // Trailers say nothing we need.
                Some(Err(_)) => {}
            }
        }
    }
}

/// A connection that could not be opened, or was lost.
#[derive(Debug)]
pub(crate) enum Lost {
    Connecting(Box<dyn Error + Send + Sync>),
    Connected(Box<dyn Error + Send + Sync>),
}

/// Reaches a server: straight, or through a tunnel.
#[derive(Clone, Debug)]
struct Reach {
    straight: HttpConnector,
    proxy: Option<Arc<Matcher>>,
}

impl Reach {
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

impl Service<Uri> for Reach {
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

/// A body of two parts, sent without joining them. Boxed, because every connection keeps room for 32
/// requests.
#[derive(Debug, Default)]
pub(crate) struct Halves(pub(crate) Box<[Bytes; 2]>);

impl Body for Halves {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let next = self.get_mut().0.iter_mut().find(|part| !part.is_empty());
        Poll::Ready(next.map(|part| Ok(Frame::data(std::mem::take(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.iter().all(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|part| part.len() as u64).sum())
    }
}
