//! Which session a request is answered in.
//!
//! - A request is whole: it makes a new session.
//! - A header names a session, by its key or its id: the message is sent there, and what was said before is not, because the
//!   session has it. A key that no session has is the new session's.
//! - What was said before is exactly what was said in a session that the caller made here, up to an answer, or the request
//!   names that answer (`previous_response_id`): the new session is a fork of that one, so that the calls of before and their
//!   results are known. That session itself stays as it is.

use std::num::NonZeroU32;
use std::sync::Arc;

use uuid::Uuid;
use windlass::door::{AwaitedEnd, end_awaited};
use windlass_runtime::{Interest, OpenApprovals, SendOutcome, SentMessage, Session, Subscription, fork};
use windlass_setup::models::ModelFallback;
use windlass_setup::session_agent::{AgentOverrides, AgentPurpose, AgentRequest, SessionAgent};
use windlass_store::{ArchivedFilter, ForkError, SessionQuery, SessionRow};
use windlass_tools::looks_like_key;
use windlass_vocab::{Attendance, EndsBy, MessageId, RunId, SessionEdit, SessionId};

use super::answer_text::{TextRelease, whole_text};
use super::client_run::{BegunRun, ClientRun};
use super::conversation::{EarlierWords, SentConversation};
use super::error::OpenAiError;
use super::models::NamedAgent;
use super::response_id::ResponseId;
use super::responses_request::no_such_response;
use crate::access::Caller;
use crate::error::{ApiError, ErrorKind};
use crate::open_runs::RunPlace;
use crate::places::TakenPlaces;
use crate::state::HttpServer;

/// How the keys of sessions begin that are made for a request.
const MADE_HERE: &str = "openai-";

/// How many sessions with the same beginning are looked at for one with the same answer, the last changed first.
const ALIKE: usize = 4;

/// The longest name of a session, in bytes.
const LONGEST_NAME: usize = 200;

/// A request, read.
#[derive(Debug)]
pub(super) struct WireRequest {
    pub(super) agent: NamedAgent,
    pub(super) conversation: SentConversation,
    /// The session that the header names.
    pub(super) session: Option<String>,
    /// The answer that it goes on from.
    pub(super) previous: Option<ResponseId>,
}

/// Where the message is sent.
#[derive(Debug)]
enum ChosenSession {
    /// A new session with a key made for it.
    New { key: String },
    /// A new session with the key that the header names.
    NewNamed { key: String },
    /// The session that the header names.
    Named(SessionRow),
    /// A fork of this session behind this record.
    Fork { origin: SessionRow, at: u64, earlier: EarlierWords },
}

impl ChosenSession {
    fn row(&self) -> Option<&SessionRow> {
        match self {
            Self::New { .. } | Self::NewNamed { .. } => None,
            Self::Named(row) | Self::Fork { origin: row, .. } => Some(row),
        }
    }

    fn earlier_words(&self) -> EarlierWords {
        match self {
            Self::New { .. } | Self::NewNamed { .. } => EarlierWords::Attached,
            Self::Named(_) => EarlierWords::Known,
            Self::Fork { earlier, .. } => *earlier,
        }
    }
}

/// Sends the message of a request to the session it belongs to, and returns the run that answers it.
pub(super) async fn begin(
    state: &Arc<HttpServer>,
    caller: &Caller,
    request: WireRequest,
) -> Result<ClientRun, OpenAiError> {
    let message_id = MessageId(fresh_key(&request));
    let chosen = choose(state, caller, &request, &message_id).await?;
    let (place, _room) = take_place(state, caller, &chosen).await?;
    let files = request.conversation.files(chosen.earlier_words()).await?;
    let words = SentMessage { text: request.conversation.message.text.clone(), files };
    // Before anything is stored: it fails where no model is configured.
    let built = agent(state, caller, &request, &chosen).await?;
    let release = match built.setup.settings.policy.ends_by {
        EndsBy::Text => TextRelease::Live,
        EndsBy::JudgedText | EndsBy::EndingTool => TextRelease::AtTheEnd,
    };
    let (session, events, run) = match &chosen {
        ChosenSession::New { key } => {
            let opening = built.agent.open_and_send(key, message_id, words, Interest::Everything);
            let (session, events, awaited) = opening.await.map_err(ApiError::from)?;
            match awaited {
                AwaitedEnd::Run(run) => (session, events, run),
                AwaitedEnd::Message(_) => return Err(busy()),
            }
        }
        ChosenSession::NewNamed { key } => {
            let (session, events) = built.agent.open_followed(key).await.map_err(ApiError::from)?;
            send(state, session, events, message_id, words).await?
        }
        ChosenSession::Named(row) => {
            let (session, events) = open_existing(&built, row.session).await?;
            send(state, session, events, message_id, words).await?
        }
        ChosenSession::Fork { origin, at, .. } => {
            let MessageId(key) = &message_id;
            let forked = fork_behind(state, origin, *at, key).await?;
            let (session, events) = open_existing(&built, forked).await?;
            let sent = send(state, session, events, message_id, words).await?;
            put_away(state, origin);
            sent
        }
    };
    let model = request.agent.model;
    Ok(ClientRun::new(state, BegunRun { session, events, run, model, release, place }))
}

/// Returns the place of the run, if the caller may have one more, and one more session where one is made.
async fn take_place(
    state: &HttpServer,
    caller: &Caller,
    chosen: &ChosenSession,
) -> Result<(RunPlace, Option<TakenPlaces>), ApiError> {
    chosen.row().map_or(Ok(()), |row| state.check_folder(row))?;
    match chosen {
        ChosenSession::Named(row) => Ok((state.accept_work(caller, row.session)?, None)),
        ChosenSession::New { .. } | ChosenSession::NewNamed { .. } | ChosenSession::Fork { .. } => {
            let room = state.room_for_session(caller).await?;
            // A session that is made for the request has its id later: until then another one stands for it.
            Ok((state.accept_work(caller, SessionId(Uuid::now_v7()))?, room))
        }
    }
}

/// Returns a key that leads from the beginning of a conversation to the session in which it is answered.
fn fresh_key(request: &WireRequest) -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("{}{}", key_prefix(&request.conversation.whole().fingerprint(&request.agent.model)), &id[id.len() - 12..])
}

fn key_prefix(fingerprint: &str) -> String {
    format!("{MADE_HERE}{fingerprint}-")
}

/// Archives the session that a fork goes on from, if it was made for a request and nobody pinned it: each turn of a client's
/// conversation is a session of its own, and only the last one is listed.
fn put_away(state: &Arc<HttpServer>, origin: &SessionRow) {
    if origin.pinned || origin.archived.is_some() || !origin.key.starts_with(MADE_HERE) {
        return;
    }
    let (state, session) = (Arc::clone(state), origin.session);
    Arc::clone(&state).background.spawn(async move {
        if let Err(error) = state.edit(session, SessionEdit::Archive).await {
            tracing::warn!(%session, error = error.message, "an earlier turn can't be archived");
        }
    });
}

fn busy() -> OpenAiError {
    OpenAiError::busy("a run of this session is open: send again when it has ended")
}

async fn open_existing(built: &SessionAgent, session: SessionId) -> Result<(Session, Subscription), OpenAiError> {
    Ok(built.agent.open_existing(session, OpenApprovals::Answered).await.map_err(ApiError::from)?)
}

async fn send(
    state: &Arc<HttpServer>,
    session: Session,
    events: Subscription,
    message_id: MessageId,
    words: SentMessage,
) -> Result<(Session, Subscription, RunId), OpenAiError> {
    let held = state.keeper.hold(session.clone());
    match held.send_if_idle(message_id, words).await.map_err(ApiError::from)? {
        Some(SendOutcome::TakenUp(run) | SendOutcome::Known(run)) => Ok((session, events, run)),
        Some(SendOutcome::Queued) | None => Err(busy()),
    }
}

async fn agent(
    state: &HttpServer,
    caller: &Caller,
    request: &WireRequest,
    chosen: &ChosenSession,
) -> Result<SessionAgent, OpenAiError> {
    let of_session = AgentRequest {
        session: chosen.row(),
        owner: &caller.user,
        folder: None,
        purpose: AgentPurpose::Say,
        // Nobody reads questions on this wire.
        attendance: Attendance::Unattended,
        // A scripted answer must not be taken for a model's.
        fallback: ModelFallback::Refuse,
    };
    let system = match chosen {
        ChosenSession::Named(_) => None,
        ChosenSession::New { .. } | ChosenSession::NewNamed { .. } | ChosenSession::Fork { .. } => {
            request.conversation.system.clone()
        }
    };
    let overrides = AgentOverrides { agent: request.agent.agent.clone(), system };
    Ok(state.agents.agent_with(of_session, overrides).await.map_err(ApiError::from)?)
}

async fn choose(
    state: &Arc<HttpServer>,
    caller: &Caller,
    request: &WireRequest,
    MessageId(fresh): &MessageId,
) -> Result<ChosenSession, OpenAiError> {
    match (&request.session, request.previous) {
        (Some(_), Some(_)) => {
            let message = "name either a session in the header or a previous response, not both";
            Err(OpenAiError::invalid("previous_response_id", message))
        }
        (Some(name), None) => named(state, caller, name).await,
        (None, Some(previous)) => {
            let unknown = || no_such_response(&previous.to_string());
            let row = owned(state, caller, previous.session).await?.ok_or_else(unknown)?;
            let mut end = AwaitedEnd::Run(previous.run);
            let ended = end_awaited(state.store().as_ref(), row.session, &mut end).await.map_err(ApiError::from)?;
            let (envelope, _) = ended.ok_or_else(unknown)?;
            Ok(ChosenSession::Fork { origin: row, at: envelope.seq, earlier: EarlierWords::Attached })
        }
        (None, None) => match same_beginning(state, caller, request).await? {
            Some((origin, at)) => Ok(ChosenSession::Fork { origin, at, earlier: EarlierWords::Known }),
            None => Ok(ChosenSession::New { key: fresh.clone() }),
        },
    }
}

/// Returns the caller's own session with this id. An administrator, too, goes on with their own ones only.
async fn owned(state: &HttpServer, caller: &Caller, session: SessionId) -> Result<Option<SessionRow>, OpenAiError> {
    let row = state.store().row(session).await.map_err(ApiError::from)?;
    Ok(row.filter(|row| row.owner == caller.user))
}

/// Returns the session that the header names.
async fn named(state: &HttpServer, caller: &Caller, name: &str) -> Result<ChosenSession, OpenAiError> {
    let id = Uuid::try_parse(name).ok().map(SessionId);
    let session = match id {
        Some(id) => Some(id),
        None => state.store().find(&caller.user, name).await.map_err(ApiError::from)?,
    };
    let row = match session {
        Some(session) => owned(state, caller, session).await?,
        None => None,
    };
    match (row, id) {
        (Some(row), _) if row.status.is_open() => Err(busy()),
        (Some(row), _) => Ok(ChosenSession::Named(row)),
        (None, Some(_)) => Err(ApiError::no_session().into()),
        (None, None) => Ok(ChosenSession::NewNamed { key: checked_key(state, name)? }),
    }
}

/// Keys are recorded as they are, so one with a secret in it is refused (X1).
fn checked_key(state: &HttpServer, key: &str) -> Result<String, OpenAiError> {
    let is_plain = (1..=LONGEST_NAME).contains(&key.len()) && key.chars().all(|c| c.is_ascii_graphic());
    if !is_plain || looks_like_key(key) || state.secrets.is_in(key.as_bytes()) {
        let message = format!("a session's name has 1 to {LONGEST_NAME} visible ASCII characters and no secret in it");
        return Err(ApiError::bad_request(message).into());
    }
    Ok(key.to_owned())
}

async fn fork_behind(state: &HttpServer, origin: &SessionRow, at: u64, key: &str) -> Result<SessionId, OpenAiError> {
    let made = fork(state.store().as_ref(), origin.session, Some(at), key, state.clock.now()).await;
    Ok(made.map_err(|error| match error {
        ForkError::Store(error) => ApiError::from(error),
        error => ApiError::new(ErrorKind::Busy, error.to_string()),
    })?)
}

/// Returns the session in which exactly this conversation was had up to its last answer, with the record of that end.
async fn same_beginning(
    state: &HttpServer,
    caller: &Caller,
    request: &WireRequest,
) -> Result<Option<(SessionRow, u64)>, OpenAiError> {
    let Some((asked, answer)) = request.conversation.answered() else { return Ok(None) };
    let prefix = key_prefix(&asked.fingerprint(&request.agent.model));
    let mut query = SessionQuery {
        search: Some(prefix.clone()),
        archived: ArchivedFilter::Included,
        limit: NonZeroU32::MIN,
        ..SessionQuery::default()
    };
    for _ in 0..ALIKE {
        let page = state.store().list(&caller.user, query.clone()).await.map_err(ApiError::from)?;
        for row in page.rows.into_iter().filter(|row| row.key.starts_with(&prefix)) {
            if let Some(seq) = end_with(state, &row, answer).await? {
                return Ok(Some((row, seq)));
            }
        }
        let Some(next) = page.next else { break };
        query.after = Some(next);
    }
    Ok(None)
}

/// Returns the record of the end of the session's own run on this wire, if that run answered so.
async fn end_with(state: &HttpServer, row: &SessionRow, answer: &str) -> Result<Option<u64>, OpenAiError> {
    let store = state.store().as_ref();
    let mut awaited = AwaitedEnd::Message(MessageId(row.key.clone()));
    let Some((envelope, ended)) = end_awaited(store, row.session, &mut awaited).await.map_err(ApiError::from)? else {
        return Ok(None);
    };
    let (answer, answered) = (answer.trim(), ended.answer.trim());
    if answer == answered {
        return Ok(Some(envelope.seq));
    }
    // A stream may have had text of earlier replies in front of it.
    if !answer.ends_with(answered) {
        return Ok(None);
    }
    let records = store.read(row.session, 0).await.map_err(ApiError::from)?;
    let of_run = records.iter().filter(|record| record.run == envelope.run).map(|record| &record.record);
    let sent = whole_text(TextRelease::Live, of_run, answered);
    Ok((sent == answer).then_some(envelope.seq))
}
