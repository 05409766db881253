//! A session's events as server-sent events (E1): `id` is the record's number, `data` the event as everywhere else. A client
//! that reconnects with `Last-Event-ID` misses nothing and gets nothing twice.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SentEvent, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use windlass_runtime::{Follow, FollowedEvent, PublishedEvent};
use windlass_store::StoreError;
use windlass_vocab::{Event, SessionId};

use crate::access::SignedIn;
use crate::api::record_number::RecordNumber;
use crate::api::{Asked, Named};
use crate::document::shapes::{ServerSentEvent, SessionInAddress};
use crate::error::ApiError;
use crate::html::with_html;
use crate::metrics::OpenStream;
use crate::state::HttpServer;

/// How often a silent stream says that it is alive: proxies close what is silent for longer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

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
        follow: state.follow(row.session, after),
        session: row.session,
        _open: state.metrics.stream_opened(),
        state,
        last: None,
    };
    let sent = stream::unfold(Some(follower), |follower| async move { follower?.next().await });
    Ok(Sse::new(sent).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// Returns the last record that a reconnecting client has; a browser sends its own header, which wins over the address.
fn last_event_id(headers: &HeaderMap) -> Result<Option<RecordNumber>, ApiError> {
    let Some(value) = headers.get("last-event-id") else { return Ok(None) };
    let number = value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
    let number = number.and_then(|number| number.try_into().ok());
    number.map(Some).ok_or_else(|| ApiError::bad_request("Last-Event-ID is not the number of a record"))
}

/// Follows a session for one client.
struct Follower {
    follow: Follow,
    session: SessionId,
    state: Arc<HttpServer>,
    _open: OpenStream,
    /// The last record to send, once the server has closed the session and ends.
    last: Option<u64>,
}

impl Follower {
    /// Returns the next event, and the follower unless that was the last one. When the server ends, what is recorded by then
    /// still comes.
    async fn next(mut self) -> Option<(Result<SentEvent, Infallible>, Option<Self>)> {
        loop {
            if self.last.is_some_and(|last| self.follow.position() >= last) {
                return None;
            }
            tokio::select! {
                followed = self.follow.next() => match followed {
                    Ok(FollowedEvent::Event(event)) => return Some((Ok(sent(&event)), Some(self))),
                    // The records that were missed come next.
                    Ok(FollowedEvent::FellBehind) => {}
                    Err(error) => return Some((Ok(failed(&error)), None)),
                },
                () = self.state.ended(), if self.last.is_none() => match self.state.store().head(self.session).await {
                    Ok(head) => self.last = Some(head.seq),
                    Err(error) => return Some((Ok(failed(&error)), None)),
                },
            }
        }
    }
}

fn sent(event: &PublishedEvent) -> SentEvent {
    match event.event() {
        Event::Record(envelope) => {
            SentEvent::default().id(envelope.seq.to_string()).data(with_html(event.json(), envelope))
        }
        Event::Delta(_) => SentEvent::default().data(event.json()),
    }
}

/// Returns the last event of a stream whose session can't be read any more.
fn failed(error: &StoreError) -> SentEvent {
    let error = ApiError::from(error.clone());
    let data = serde_json::json!({ "kind": error.kind, "message": error.message, "hint": error.hint });
    SentEvent::default().event("error").data(data.to_string())
}
