//! A session's events as server-sent events (E1): `id` is the record's number, `data` the event as everywhere else. A client
//! that reconnects with `Last-Event-ID` misses nothing and gets nothing twice.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::BytesMut;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, stream};
use serde::Deserialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use windlass_runtime::{Follow, FollowedEvent, PublishedEvent};
use windlass_store::StoreError;
use windlass_vocab::{Event, SessionId};

use crate::access::SignedIn;
use crate::api::record_number::RecordNumber;
use crate::api::{Asked, Named};
use crate::document::shapes::{ServerSentEvent, SessionInAddress};
use crate::error::ApiError;
use crate::html::{self, with_html};
use crate::metrics::OpenStream;
use crate::places::TakenPlaces;
use crate::state::HttpServer;

/// How often a stream says that it is alive: proxies close what is silent for longer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// From how many bytes on the events that are there already wait for the next write.
const TOGETHER: usize = 16 * 1024;

/// The last header tells nginx not to collect the events before it passes them on.
const EVENT_STREAM: [(HeaderName, &str); 3] = [
    (header::CONTENT_TYPE, "text/event-stream"),
    (header::CACHE_CONTROL, "no-cache"),
    (HeaderName::from_static("x-accel-buffering"), "no"),
];

/// Where a client goes on.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventsQuery {
    /// The last record that the client has.
    #[serde(default)]
    #[param(inline)]
    after: RecordNumber,
}

/// A session's events as they happen, whichever process drives it
///
/// The stream begins after the named record and does not end by itself. `docs/events.md` lists every event.
#[utoipa::path(
    get,
    path = "/api/sessions/{session}/events",
    tag = "conversation",
    params(
        SessionInAddress,
        EventsQuery,
        ("last-event-id" = inline(Option<RecordNumber>), Header, description = "The last record that a reconnecting client has; it wins over `after`")
    ),
    responses((status = 200, description = "One event after the other", body = ServerSentEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn events(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named(session): Named<SessionId>,
    Asked(query): Asked<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let row = state.session(&caller, session).await?;
    let after = last_event_id(&headers)?.unwrap_or(query.after).0;
    let head = state.store().head(row.session).await?.seq;
    if after > head {
        return Err(ApiError::bad_request(format!("the session has {head} records, so none is numbered {after}"))
            .hint("read the session from its beginning"));
    }
    let follower = Follower {
        signs: signs_of_life(),
        _place: state.stream_place(&caller)?,
        _open: state.metrics.stream_opened(),
        written: WrittenEvents {
            follow: state.follow(row.session, after),
            long: JoinSet::new(),
            session: row.session,
            phase: FollowPhase::Open,
            ended: Box::pin(state.ended()),
            state: Arc::clone(&state),
        },
    };
    Ok((EVENT_STREAM, Body::from_stream(stream::unfold(follower, Follower::next))).into_response())
}

/// Returns the last record that a reconnecting client has; a browser sends its own header, which wins over the address.
fn last_event_id(headers: &HeaderMap) -> Result<Option<RecordNumber>, ApiError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
    let number = number.and_then(|number| number.try_into().ok());
    number.map(Some).ok_or_else(|| ApiError::bad_request("Last-Event-ID is not the number of a record"))
}

/// How many long texts are formatted at once, for all clients. Those who wait for their turn take no thread.
static LONG_TEXTS: Semaphore = Semaphore::const_new(2);

/// Follows a session for one client. What waits for a time or for the server's end is made once and not for each event:
/// there may be a thousand clients.
struct Follower {
    written: WrittenEvents,
    signs: Interval,
    _place: TakenPlaces,
    _open: OpenStream,
}

/// A session's events, as they are sent.
struct WrittenEvents {
    follow: Follow,
    /// An event that takes a while to write; it comes before all that follow. Kept here, so that nobody who stops waiting
    /// for the next event loses it; a task of its own, so that a client that reads nothing holds no turn of others.
    long: JoinSet<Bytes>,
    session: SessionId,
    state: Arc<HttpServer>,
    /// The end of the server; not polled after it came.
    ended: BoxFuture<'static, ()>,
    phase: FollowPhase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FollowPhase {
    /// More may come at any time.
    Open,
    /// The server ends; which record is the last is asked next.
    Ending,
    /// The server ends and has closed the session: this record is the last to send.
    UpTo(u64),
    /// The session can't be read any more; the client was told.
    Failed,
}

fn signs_of_life() -> Interval {
    let mut signs = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    // One is enough for the time in which events kept coming.
    signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
    signs
}

impl Follower {
    /// Returns the next events, or a sign of life; `None` at the end. What is there already goes together: fewer, larger
    /// writes.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        let first = tokio::select! {
            biased;
            first = self.written.next_event() => first?,
            _ = self.signs.tick() => return Some((Ok(Bytes::from_static(b":\n\n")), self)),
        };
        let mut more = BytesMut::new();
        while more.len() < TOGETHER {
            let Some(Some(event)) = self.written.next_event().now_or_never() else { break };
            more.extend_from_slice(&event);
        }
        if more.is_empty() {
            return Some((Ok(first), self));
        }
        let whole = [first.as_ref(), more.as_ref()].concat();
        Some((Ok(whole.into()), self))
    }
}

impl WrittenEvents {
    /// Returns the next event as it is sent; `None` after the last one. When the server ends, what is recorded by then still
    /// comes. Cancel-safe.
    async fn next_event(&mut self) -> Option<Bytes> {
        loop {
            // An error means that the task panicked.
            if let Some(written) = self.long.join_next().await {
                return written.ok();
            }
            match self.phase {
                FollowPhase::Open => {}
                // Asked for here, so that a caller who stops waiting meanwhile has it asked for again.
                FollowPhase::Ending => match self.state.store().head(self.session).await {
                    Ok(head) => {
                        self.phase = FollowPhase::UpTo(head.seq);
                        continue;
                    }
                    Err(error) => return Some(self.fail(&error)),
                },
                FollowPhase::UpTo(last) if self.follow.position() < last => {}
                FollowPhase::UpTo(_) | FollowPhase::Failed => return None,
            }
            tokio::select! {
                followed = self.follow.next() => match followed {
                    Ok(FollowedEvent::Event(event)) if is_long(event.event()) => {
                        self.long.spawn(sent_later(event));
                    }
                    Ok(FollowedEvent::Event(event)) => return Some(event.sent(sent)),
                    // The records that were missed come next.
                    Ok(FollowedEvent::FellBehind) => {}
                    Err(error) => return Some(self.fail(&error)),
                },
                () = &mut self.ended, if self.phase == FollowPhase::Open => self.phase = FollowPhase::Ending,
            }
        }
    }

    /// Returns the last event of a stream whose session can't be read any more.
    fn fail(&mut self, error: &StoreError) -> Bytes {
        self.phase = FollowPhase::Failed;
        let error = ApiError::from(error.clone());
        let data = serde_json::json!({ "kind": error.kind, "message": error.message, "hint": error.hint });
        format!("event: error\ndata: {data}\n\n").into()
    }
}

fn is_long(event: &Event) -> bool {
    match event {
        Event::Record(envelope) => html::is_long(envelope),
        Event::Delta(_) => false,
    }
}

/// Returns a long event as it is sent, written on a thread where it holds up no other client.
async fn sent_later(event: Arc<PublishedEvent>) -> Bytes {
    // The semaphore is never closed.
    let _turn = LONG_TEXTS.acquire().await;
    let written = Arc::clone(&event);
    let written = tokio::task::spawn_blocking(move || written.sent(sent)).await;
    written.unwrap_or_else(|error| {
        tracing::error!(%error, "a text can't be formatted");
        without_html(event.event())
    })
}

/// Returns an event without the HTML of its text.
fn without_html(event: &Event) -> Bytes {
    let json = serde_json::to_string(event).unwrap_or_default();
    match event {
        Event::Record(envelope) => format!("id: {}\ndata: {json}\n\n", envelope.seq).into(),
        Event::Delta(_) => format!("data: {json}\n\n").into(),
    }
}

/// Returns an event as it is sent. JSON has no line breaks outside its texts, and writes those within as `\n`.
fn sent(event: &Event) -> Bytes {
    match event {
        Event::Record(envelope) => {
            let json = serde_json::to_string(event).unwrap_or_default();
            format!("id: {}\ndata: {}\n\n", envelope.seq, with_html(&json, envelope)).into()
        }
        Event::Delta(_) => without_html(event),
    }
}
