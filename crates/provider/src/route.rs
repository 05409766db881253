//! One attempt over the network: send, read and decode, with limits on silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::HeaderMap;
use http::{Method, Uri};
use tokio::time::{Instant, timeout};
use windlass_vocab::{Failure, FailureClass, Reply};

use crate::answer::body::AnswerBody;
use crate::answer::draft::WireDraft;
use crate::answer::stream::AnswerLimits;
use crate::answer_timeouts::{AnswerTimeouts, NoNextBytes};
use crate::connection::PendingResponse;
use crate::future::BoxFuture;
use crate::http::{PartedBody, RepeatableRequest, RequestSender};
use crate::piece::Sink;
use crate::prefill::PrefillSpeed;
use crate::request_body::RequestBody;
use crate::server::classify::{Rejection, classify, refuses_reasoning_summary};
use crate::server::connection_failure::connection_failure;
use crate::server::endpoint::Endpoint;
use crate::server::retry_after::RetryHeaders;

/// Limits on the bytes and the time for reading a rejection's body.
const REJECTION_BYTES: usize = 64 << 10;
const REJECTION_WAIT: Duration = Duration::from_secs(30);
/// How long to wait for the formal end of a finished answer, in the background.
const END_WAIT: Duration = Duration::from_secs(5);

/// The prepared parts of every call of a model.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) sender: RequestSender,
    pub(crate) path: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) endpoint: Arc<Endpoint>,
    pub(crate) limits: AnswerLimits,
    /// Set when the server has refused to give a summary of the reasoning: it is not asked again.
    pub(crate) summary_refused: AtomicBool,
    /// How fast the server reads requests, where it is on this machine.
    pub(crate) prefill: Option<PrefillSpeed>,
}

/// Why there is no answer to read.
struct NoAnswer {
    failure: Failure,
    /// Set when the server refuses to give a summary of the reasoning.
    summary_refused: bool,
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> Self {
        Self { failure, summary_refused: false }
    }
}

/// Returns an attempt that sends `body` and decodes the answer with the draft `D`.
pub(crate) fn attempt<D: WireDraft>(
    route: Arc<Route>,
    body: Result<RequestBody, Failure>,
    patience: AnswerTimeouts,
    sink: Sink,
) -> BoxFuture<'static, Result<Reply, Failure>> {
    Box::pin(async move { route.call::<D>(body?, patience, sink).await })
}

impl Route {
    async fn call<D: WireDraft>(
        &self,
        body: RequestBody,
        patience: AnswerTimeouts,
        mut sink: Sink,
    ) -> Result<Reply, Failure> {
        let (bytes, sent) = (body.len(), Instant::now());
        let patience = patience.extended(self.prefill.as_ref().map_or(Duration::ZERO, |speed| speed.extension(bytes)));
        let mut response = self.send(body, patience.first).await?;
        let mut answer = AnswerBody::<D>::new(self.endpoint.clone(), self.limits);
        let (mut since, mut first) = (Instant::now(), None);
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
                    if any_piece {
                        first.get_or_insert_with(|| sent.elapsed());
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
        let reply = answer.finish(&mut *sink)?;
        if let (Some(speed), Some(wait)) = (&self.prefill, first) {
            speed.note(bytes, wait, reply.usage.as_ref());
        }
        Ok(reply)
    }

    /// Sends a body, and at once the one without a summary of the reasoning where the server refuses only that.
    async fn send(&self, body: RequestBody, limit: Duration) -> Result<PendingResponse, Failure> {
        let without_summary = body.without_summary();
        let (first, second) = match without_summary {
            Some(without) if self.summary_refused.load(Ordering::Relaxed) => (without, None),
            without => (body, without),
        };
        match (self.send_once(first, limit).await, second) {
            (Ok(response), _) => Ok(response),
            (Err(NoAnswer { summary_refused: true, .. }), Some(second)) => {
                self.summary_refused.store(true, Ordering::Relaxed);
                self.send_once(second, limit).await.map_err(|none| none.failure)
            }
            (Err(none), _) => Err(none.failure),
        }
    }

    async fn send_once(&self, body: RequestBody, limit: Duration) -> Result<PendingResponse, NoAnswer> {
        let body = PartedBody::new(body.into_parts());
        let asked = RepeatableRequest { method: &Method::POST, path: &self.path, headers: &self.headers, body: &body };
        let response = match timeout(limit, self.sender.send(&asked)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(connection_failure(&self.endpoint, &error).into()),
            Err(_) => return Err(self.silent(limit).into()),
        };
        if response.status().is_success() { Ok(response) } else { Err(self.rejected(response, limit).await) }
    }

    async fn rejected(&self, mut response: PendingResponse, limit: Duration) -> NoAnswer {
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
        let retry = RetryHeaders::of(|name| response.header(name));
        let (status, location) = (response.status().as_u16(), response.header("location"));
        let rejection = Rejection { status, retry, location, body: &body };
        let failure = classify(&self.endpoint, &rejection);
        NoAnswer { failure, summary_refused: refuses_reasoning_summary(&rejection) }
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
