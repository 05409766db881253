//! A run that a request awaits: begun by `ask`, taken up by `resume`, or gone on with once the client
//! brought its answers.

use windlass::Session;
use windlass::door::{AwaitedEnd, FollowError};
use windlass_runtime::{OpenApprovals, SessionActivity, Subscription};
use windlass_runtime::{OpenError, StopOutcome};
use windlass_store::{SessionRow, StoreError};
use windlass_tools::looks_like_key;
use windlass_vocab::{Answer, MessageId, QuestionAsked, RunEnded, RunId, SessionId, StopBy};

use super::arguments::{AskArguments, CheckedName};
use super::client::Client;
use super::open_sessions::OpenSessions;
use super::server_context::{BuiltAgent, Purpose, ServerContext};
use crate::commands::session::{fresh_key, is_open};
use crate::error::CommandError;
use crate::exit::Exit;

/// A run that is awaited, and its open session.
pub(super) struct AwaitedRun {
    pub(super) key: String,
    pub(super) built_agent: BuiltAgent,
    pub(super) session: Session,
    pub(super) events: Subscription,
    pub(super) awaited: AwaitedEnd,
}

/// How a run that was awaited ended.
#[derive(Debug)]
pub(super) struct RunEnding {
    pub(super) key: String,
    pub(super) run: RunId,
    pub(super) ended: RunEnded,
}

/// What a request to say something leads to.
pub(super) enum AskOutcome {
    /// It was said before, and answered.
    Over(Box<RunEnding>),
    /// Its run is under way.
    Running(Box<AwaitedRun>),
}

/// Says something, as `windlass run` does: in the session it names, in the one its message id names, or in
/// a new one.
pub(super) async fn send_message(
    server_context: &ServerContext,
    open_sessions: &OpenSessions,
    ask: AskArguments,
    client: &Client,
) -> Result<AskOutcome, CommandError> {
    // Another Windlass that tries a call again means the same message.
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
        return Ok(AskOutcome::Over(Box::new(RunEnding { key: row.key.clone(), run, ended })));
    }
    let key = named.unwrap_or_else(|| fresh_key("ask"));
    let parked = match &known {
        Some(row) => open_sessions.take(row.session, &key)?,
        None => None,
    };
    let mut awaited_run = match parked {
        Some(awaited_run) => awaited_run,
        None => {
            let built_agent = server_context.agent(known.as_ref(), Purpose::Say, client.attendance()).await?;
            refuse_secret(&built_agent, "the session's name", &key)?;
            let (session, events) =
                built_agent.agent.session_followed(&key).await.map_err(|error| not_opened(&key, error))?;
            open_sessions.follow(&session);
            // What is awaited is known once it is said.
            AwaitedRun { key, built_agent, session, events, awaited: AwaitedEnd::Run(RunId::default()) }
        }
    };
    match awaited_run.tell(server_context, known.as_ref(), message, ask.prompt).await {
        Ok(()) => Ok(AskOutcome::Running(Box::new(awaited_run))),
        Err(error) => {
            awaited_run.end(open_sessions).await;
            Err(error)
        }
    }
}

/// Takes up the open run of a session, as `windlass resume` does.
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
    if !is_open(&row) {
        return Err(nothing());
    }
    let built_agent = server_context.agent(Some(&row), Purpose::GoOn, client.attendance()).await?;
    let awaited = AwaitedEnd::Run(RunId(row.runs));
    let awaited_run =
        open(open_sessions, built_agent, row.session, row.key, awaited, OpenApprovals::CheckedAgain).await?;
    if awaited_run.session.activity() == SessionActivity::Idle {
        awaited_run.end(open_sessions).await;
        return Err(nothing());
    }
    Ok(awaited_run)
}

/// Opens a session that is there, for the run that is awaited.
pub(super) async fn open(
    open_sessions: &OpenSessions,
    built_agent: BuiltAgent,
    session: SessionId,
    key: String,
    awaited: AwaitedEnd,
    approvals: OpenApprovals,
) -> Result<AwaitedRun, CommandError> {
    let (session, events) =
        built_agent.agent.existing(session, approvals).await.map_err(|error| not_opened(&key, error))?;
    open_sessions.follow(&session);
    Ok(AwaitedRun { key, built_agent, session, events, awaited })
}

fn not_opened(key: &str, error: OpenError) -> CommandError {
    match error {
        OpenError::Store(StoreError::Busy { .. }) => busy(key),
        OpenError::Store(_) | OpenError::Newer { .. } | OpenError::Survivors { .. } => error.into(),
    }
}

/// Names are recorded as they are; none may tell a secret (X1).
fn refuse_secret(built_agent: &BuiltAgent, what: &str, name: &str) -> Result<(), CommandError> {
    let secret = built_agent.agent.hub().has_secret(name) || looks_like_key(name);
    if secret { Err(CommandError::secret_in(what)) } else { Ok(()) }
}

/// Somebody works in the session, and one is enough.
pub(super) fn busy(key: &str) -> CommandError {
    let text = format!(
        "session `{key}` is busy with another request: wait until that is answered, `stop` it, or take another session"
    );
    CommandError::new(Exit::Failed, text)
}

impl AwaitedRun {
    /// Gives the run an answer, unless the question is settled already.
    pub(super) async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<(), CommandError> {
        if self.session.answer(asked.question, answer.clone()).await.map_err(FollowError::from)? {
            self.built_agent.keep_rule(asked, &answer).await;
        }
        Ok(())
    }

    /// Gives the session a message; its run is what is awaited then. The same words to a run that is not
    /// over mean the same message.
    async fn tell(
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

    /// Stops the run as a person would, and waits until that is recorded.
    pub(super) async fn stop(&self) -> Result<StopOutcome, CommandError> {
        let stopped = self.session.stop(StopBy::Person).await.map_err(FollowError::from)?;
        self.session.settled().await;
        Ok(stopped)
    }

    /// Lets go of the session; a run that is open stays open.
    pub(super) async fn end(self, open_sessions: &OpenSessions) {
        let id = self.session.id();
        self.session.close().await;
        open_sessions.forget(id);
    }
}
