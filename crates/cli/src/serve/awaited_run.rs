//! A run that a request awaits: begun by `ask`, resumed by `resume`, or continued once the client sent its answers.

use windlass::Session;
use windlass::door::{AwaitedEnd, FollowError};
use windlass_runtime::{OpenApprovals, SessionActivity, Subscription};
use windlass_runtime::{OpenError, StopOutcome};
use windlass_setup::session_agent::AgentPurpose;
use windlass_store::{SessionRow, StoreError};
use windlass_tools::looks_like_key;
use windlass_vocab::{Answer, MessageId, QuestionAsked, RunEnded, RunId, SessionId, StopBy};

use super::arguments::{AskArguments, CheckedName};
use super::client::Client;
use super::denied_calls::{DeniedCall, denied_calls};
use super::open_sessions::OpenSessions;
use super::server_context::{BuiltAgent, ServerContext};
use crate::commands::session::fresh_key;
use crate::error::CommandError;
use crate::exit::Exit;

/// An awaited run, and its open session.
pub(super) struct AwaitedRun {
    pub(super) key: String,
    pub(super) built_agent: BuiltAgent,
    pub(super) session: Session,
    pub(super) events: Subscription,
    pub(super) awaited: AwaitedEnd,
}

/// The end of an awaited run.
#[derive(Debug)]
pub(super) struct RunEnding {
    pub(super) key: String,
    pub(super) run: RunId,
    pub(super) ended: RunEnded,
    /// Its calls that were denied.
    pub(super) denied: Vec<DeniedCall>,
}

/// The result of sending a message.
pub(super) enum AskOutcome {
    /// The message was sent before, and its run has ended.
    Over(Box<RunEnding>),
    /// The message's run is in progress.
    Running(Box<AwaitedRun>),
}

/// Sends a message as `windlass run` does: to the named session, to the one its message id determines, or to a new one.
pub(super) async fn send_message(
    server_context: &ServerContext,
    open_sessions: &OpenSessions,
    ask: AskArguments,
    client: &Client,
) -> Result<AskOutcome, CommandError> {
    // Another Windlass that retries a call means the same message.
    let message = ask.message_id.map(|CheckedName(id)| id).or_else(|| client.effect.clone()).map(MessageId);
    let of_message = || message.as_ref().map(|id| format!("message:{id}"));
    let named = ask.session.map(|CheckedName(key)| key).or_else(of_message);
    let known = match &named {
        Some(key) => server_context.find(key).await?,
        None => None,
    };
    if let (Some(row), Some(id)) = (&known, &message)
        && let Some((run, ended)) = server_context.end_of(row, id).await?
    {
        let denied = denied_calls(server_context.store(), row.session, run).await?;
        return Ok(AskOutcome::Over(Box::new(RunEnding { key: row.key.clone(), run, ended, denied })));
    }
    let key = named.unwrap_or_else(|| fresh_key("ask"));
    let parked = match &known {
        Some(row) => open_sessions.take(row.session, &key)?,
        None => None,
    };
    let mut awaited_run = match parked {
        Some(awaited_run) => awaited_run,
        None => {
            let built_agent = server_context.agent(known.as_ref(), AgentPurpose::Say, client.attendance()).await?;
            refuse_secret(&built_agent, "the session's name", &key)?;
            let (session, events) =
                built_agent.agent.open_followed(&key).await.map_err(|error| not_opened(&key, error))?;
            open_sessions.follow(&session);
            // A placeholder; sending the message sets what is awaited.
            AwaitedRun { key, built_agent, session, events, awaited: AwaitedEnd::Run(RunId::default()) }
        }
    };
    match awaited_run.send(server_context, known.as_ref(), message, ask.prompt).await {
        Ok(()) => Ok(AskOutcome::Running(Box::new(awaited_run))),
        Err(error) => {
            awaited_run.end(open_sessions).await;
            Err(error)
        }
    }
}

/// Resumes the open run of a session, as `windlass resume` does.
pub(super) async fn take_up(
    server_context: &ServerContext,
    open_sessions: &OpenSessions,
    CheckedName(key): &CheckedName,
    client: &Client,
) -> Result<AwaitedRun, CommandError> {
    let row = server_context.named(key).await?;
    if let Some(parked) = open_sessions.take(row.session, key)? {
        return Ok(parked);
    }
    let nothing = || CommandError::new(Exit::Usage, format!("nothing to resume: no run of session `{key}` is open"));
    if !row.status.is_open() {
        return Err(nothing());
    }
    let built_agent = server_context.agent(Some(&row), AgentPurpose::GoOn, client.attendance()).await?;
    let awaited = AwaitedEnd::Run(RunId(row.runs));
    let awaited_run =
        open(open_sessions, built_agent, row.session, row.key, awaited, OpenApprovals::CheckedAgain).await?;
    if awaited_run.session.activity() == SessionActivity::Idle {
        awaited_run.end(open_sessions).await;
        return Err(nothing());
    }
    Ok(awaited_run)
}

/// Opens an existing session for the awaited run.
pub(super) async fn open(
    open_sessions: &OpenSessions,
    built_agent: BuiltAgent,
    session: SessionId,
    key: String,
    awaited: AwaitedEnd,
    approvals: OpenApprovals,
) -> Result<AwaitedRun, CommandError> {
    let (session, events) =
        built_agent.agent.open_existing(session, approvals).await.map_err(|error| not_opened(&key, error))?;
    open_sessions.follow(&session);
    Ok(AwaitedRun { key, built_agent, session, events, awaited })
}

fn not_opened(key: &str, error: OpenError) -> CommandError {
    match error {
        OpenError::Store(StoreError::Busy { .. }) => busy(key),
        OpenError::Store(_) | OpenError::Newer { .. } | OpenError::Survivors { .. } => error.into(),
    }
}

/// Refuses a name that contains a secret (X1), since names are recorded unscrubbed.
fn refuse_secret(built_agent: &BuiltAgent, what: &str, name: &str) -> Result<(), CommandError> {
    let secret = built_agent.agent.hub().has_secret(name) || looks_like_key(name);
    if secret { Err(CommandError::secret_in(what)) } else { Ok(()) }
}

/// Returns the error for a session that another request is working in.
pub(super) fn busy(key: &str) -> CommandError {
    let text = format!(
        "session `{key}` is busy with another request: wait until that is answered, `stop` it, or take another session"
    );
    CommandError::new(Exit::Failed, text)
}

impl AwaitedRun {
    /// Answers a question of the run, unless it is settled already.
    pub(super) async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<(), CommandError> {
        if self.session.answer(asked.question, answer.clone()).await.map_err(FollowError::from)? {
            self.built_agent.keep_rule(asked, &answer).await;
        }
        Ok(())
    }

    /// Sends a message to the session, and awaits the run it leads to. The same text as that of an unfinished run means
    /// the same message.
    async fn send(
        &mut self,
        server_context: &ServerContext,
        known: Option<&SessionRow>,
        message: Option<MessageId>,
        prompt: String,
    ) -> Result<(), CommandError> {
        let recorded = self.built_agent.agent.hub().scrub(&prompt).into_owned();
        let unfinished = match (&message, known) {
            (None, Some(row)) => server_context.unfinished_message(row, &recorded).await?,
            (Some(_), _) | (None, None) => None,
        };
        let message = message.or(unfinished).unwrap_or_else(|| MessageId(uuid::Uuid::now_v7().to_string()));
        refuse_secret(&self.built_agent, "the message's id", &message.0)?;
        let sent = self.session.send(message.clone(), prompt).await.map_err(FollowError::from)?;
        self.awaited = AwaitedEnd::after(sent, message);
        Ok(())
    }

    /// Stops the run as a person would, and waits until the stop is recorded.
    pub(super) async fn stop(&self) -> Result<StopOutcome, CommandError> {
        let stopped = self.session.stop(StopBy::Person).await.map_err(FollowError::from)?;
        self.session.settled().await;
        Ok(stopped)
    }

    /// Closes the session; an open run stays open.
    pub(super) async fn end(self, open_sessions: &OpenSessions) {
        let id = self.session.id();
        self.session.close().await;
        open_sessions.forget(id);
    }
}
