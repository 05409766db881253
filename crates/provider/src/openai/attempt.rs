//! One attempt over the network: send, read and decode, with limits on silence.
//!
//! Silence is measured since the last piece of the reply. Bytes without a piece (a comment, half an event) show that
//! the server is alive and extend the wait, but not indefinitely.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use http::{Method, Uri};
use tokio::time::{Instant, timeout};
use windlass_vocab::{Failure, FailureClass, Reply};

use super::base_url::BaseUrl;
use super::connection_failure::connection_failure;
use super::{AnswerBody, AnswerLimits, Endpoint, OpenAiConfig, Rejection, RequestBody, RetryHeaders, classify, encode};
use crate::connection::PendingResponse;
use crate::http::{ConnectionError, RepeatableRequest, RequestSender, TwoPartBody};
use crate::{BoxFuture, Delivery, HttpClient, HttpError, Model, ModelRequest, Segments, Sink};

/// Limits on the bytes and the time for reading a rejection's body.
const REJECTION_BYTES: usize = 64 << 10;
const REJECTION_WAIT: Duration = Duration::from_secs(30);
/// How long to wait for usage after an otherwise complete reply.
const USAGE_WAIT: Duration = Duration::from_secs(2);
/// How long to wait for the formal end of a finished answer, in the background.
const END_WAIT: Duration = Duration::from_secs(5);

/// Why a model can't be called as configured.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenAiError {
    /// The base URL is not valid.
    #[error("`{0}` is not a base URL; one is written like http://localhost:11434/v1")]
    BaseUrl(String),
    /// The key has characters that no header can contain.
    #[error("the API key has characters that can't be sent (a line break or a letter outside ASCII?)")]
    Key,
    /// The HTTP client could not be set up.
    #[error(transparent)]
    Http(#[from] HttpError),
}

/// A model behind an OpenAI-compatible server.
#[derive(Debug)]
pub struct OpenAiModel {
    config: OpenAiConfig,
    route: Arc<Route>,
}

/// The prepared parts of every request.
#[derive(Debug)]
struct Route {
    sender: RequestSender,
    path: Uri,
    headers: HeaderMap,
    endpoint: Arc<Endpoint>,
    limits: AnswerLimits,
}

impl OpenAiModel {
    /// Returns a model configured by `config` that uses `http`.
    pub fn new(config: OpenAiConfig, http: &HttpClient) -> Result<Self, OpenAiError> {
        let ServerClient { sender, base, headers, endpoint } = ServerClient::open(&config, http)?;
        let path = base.path_to("chat/completions").ok_or_else(|| OpenAiError::BaseUrl(config.base_url.clone()))?;
        let route = Route { sender, path, headers, endpoint: Arc::new(endpoint), limits: config.limits };
        Ok(Self { config, route: Arc::new(route) })
    }
}

/// The prepared parts of every request to a server.
pub(super) struct ServerClient {
    pub(super) sender: RequestSender,
    pub(super) base: BaseUrl,
    pub(super) headers: HeaderMap,
    pub(super) endpoint: Endpoint,
}

impl ServerClient {
    pub(super) fn open(config: &OpenAiConfig, http: &HttpClient) -> Result<Self, OpenAiError> {
        let wrong = || OpenAiError::BaseUrl(config.base_url.clone());
        let base = BaseUrl::parse(&config.base_url).ok_or_else(wrong)?;
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::try_from(base.host()).map_err(|_| wrong())?);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("windlass/", env!("CARGO_PKG_VERSION"))));
        if let Some(key) = &config.api_key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose())).map_err(|_| OpenAiError::Key)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let endpoint =
            Endpoint { base_url: base.display_text(), model: config.model.clone(), key: config.api_key.clone() };
        Ok(Self { sender: http.to(base.uri().clone(), base.host())?, base, headers, endpoint })
    }
}

impl Model for OpenAiModel {
    fn attempt(
        &self,
        request: &ModelRequest<'_>,
        segments: &mut Segments,
        sink: Sink,
    ) -> BoxFuture<'static, Result<Reply, Failure>> {
        let body = encode(&self.config, request, segments);
        let route = self.route.clone();
        let patience = match request.delivery {
            Delivery::Streamed => self.config.patience(request.idle.first_ms, request.idle.next_ms),
            Delivery::Whole => self.config.patience(self.config.whole_wait_ms, self.config.whole_wait_ms),
        };
        Box::pin(async move { route.call(body?, patience, sink).await })
    }
}

/// Factor by which the limits on silence grow for a model that reasons (M4).
const WHILE_THINKING: u32 = 3;

/// Limits on a server's silence.
#[derive(Clone, Copy, Debug)]
struct AnswerTimeouts {
    /// Before the first piece.
    first: Duration,
    /// Between pieces.
    next: Duration,
    /// Since the last piece, while bytes without a piece arrive.
    alive: Duration,
}

impl OpenAiConfig {
    fn patience(&self, first_ms: u64, next_ms: u64) -> AnswerTimeouts {
        let alive_ms = self.keep_alive_ms.max(first_ms).max(next_ms);
        let [first, next, alive] = [first_ms, next_ms, alive_ms].map(Duration::from_millis);
        let first = if self.thinks() { first * WHILE_THINKING } else { first };
        AnswerTimeouts { first, next, alive: alive.max(first) }
    }
}

impl AnswerTimeouts {
    fn with(self, answer: &AnswerBody) -> SilenceLimit {
        match (answer.is_finished(), answer.any_piece()) {
            // Only usage may follow.
            (true, _) => SilenceLimit { silence: self.next.min(USAGE_WAIT), no_piece: self.next.min(USAGE_WAIT) },
            (false, true) if answer.is_thinking() => {
                let silence = self.next * WHILE_THINKING;
                SilenceLimit { silence, no_piece: self.alive.max(silence) }
            }
            (false, true) => SilenceLimit { silence: self.next, no_piece: self.alive },
            (false, false) => SilenceLimit { silence: self.first, no_piece: self.alive },
        }
    }
}

/// Limits on the wait for the next bytes.
#[derive(Clone, Copy, Debug)]
struct SilenceLimit {
    /// Since the last bytes.
    silence: Duration,
    /// Since the last piece.
    no_piece: Duration,
}

/// Why the next bytes did not arrive.
enum NoNextBytes {
    Lost(ConnectionError),
    Silent,
    NoPiece,
}

impl SilenceLimit {
    /// Returns the next bytes of a response whose last piece arrived at `since`; `None` at its end.
    async fn chunk(self, response: &mut PendingResponse, since: Instant) -> Result<Option<Bytes>, NoNextBytes> {
        let left = self.no_piece.saturating_sub(since.elapsed());
        // Checked first: bytes that are already there would always win against an expired timeout.
        if left.is_zero() {
            return Err(NoNextBytes::NoPiece);
        }
        match timeout(self.silence.min(left), response.chunk()).await {
            Ok(read) => read.map_err(NoNextBytes::Lost),
            Err(_) if self.silence <= left => Err(NoNextBytes::Silent),
            Err(_) => Err(NoNextBytes::NoPiece),
        }
    }
}

impl Route {
    async fn call(&self, body: RequestBody, patience: AnswerTimeouts, mut sink: Sink) -> Result<Reply, Failure> {
        let mut response = self.send(body, patience.first).await?;
        let mut answer = AnswerBody::new(self.endpoint.clone(), self.limits);
        let mut since = Instant::now();
        loop {
            let limit = patience.with(&answer);
            let failure = match limit.chunk(&mut response, since).await {
                Ok(Some(bytes)) => {
                    let (was_finished, mut any_piece) = (answer.is_finished(), false);
                    answer.push(&bytes, &mut |piece| {
                        any_piece = true;
                        sink(piece);
                    })?;
                    if answer.is_done() {
                        end(response).await;
                        break;
                    }
                    if any_piece || answer.is_finished() != was_finished {
                        since = Instant::now();
                    }
                    continue;
                }
                Ok(None) => break,
                Err(NoNextBytes::Lost(error)) => connection_failure(&self.endpoint, &error),
                Err(NoNextBytes::Silent) => self.silent(limit.silence),
                Err(NoNextBytes::NoPiece) => self.no_piece(limit.no_piece),
            };
            // A complete reply is not discarded because its connection ends badly.
            if answer.is_finished() {
                break;
            }
            return Err(Failure { first_byte: answer.any_piece(), ..failure });
        }
        answer.finish(&mut *sink)
    }

    async fn send(&self, body: RequestBody, limit: Duration) -> Result<PendingResponse, Failure> {
        let body = TwoPartBody(Box::new([body.stable, body.closing]));
        let asked = RepeatableRequest { method: &Method::POST, path: &self.path, headers: &self.headers, body: &body };
        let response = match timeout(limit, self.sender.send(&asked)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(connection_failure(&self.endpoint, &error)),
            Err(_) => return Err(self.silent(limit)),
        };
        if response.status().is_success() { Ok(response) } else { Err(self.rejected(response, limit).await) }
    }

    async fn rejected(&self, mut response: PendingResponse, limit: Duration) -> Failure {
        let mut body = Vec::new();
        let reading = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                body.extend_from_slice(&bytes);
                if body.len() > REJECTION_BYTES {
                    break;
                }
            }
        };
        // Use whatever has arrived by then.
        let _ = timeout(limit.min(REJECTION_WAIT), reading).await;
        let retry = RetryHeaders {
            retry_after_ms: response.header("retry-after-ms"),
            retry_after: response.header("retry-after"),
            date: response.header("date"),
        };
        let (status, location) = (response.status().as_u16(), response.header("location"));
        classify(&self.endpoint, &Rejection { status, retry, location, body: &body })
    }

    fn silent(&self, limit: Duration) -> Failure {
        self.endpoint.failure(FailureClass::Transient, &format!("said nothing for {} s.", limit.as_secs_f64()))
    }

    fn no_piece(&self, limit: Duration) -> Failure {
        let said = format!("kept the connection open but sent nothing of a reply for {} s.", limit.as_secs_f64());
        self.endpoint.failure(FailureClass::Transient, &said)
    }
}

/// Makes the connection reusable: the formal end of the body must be read first, and may arrive a moment after the
/// last event. The reply does not wait for it.
async fn end(mut response: PendingResponse) {
    if let Ok(Ok(None) | Err(_)) = timeout(Duration::ZERO, response.chunk()).await {
        return;
    }
    tokio::spawn(timeout(END_WAIT, async move { while let Ok(Some(_)) = response.chunk().await {} }));
}
