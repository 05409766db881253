//! The session that is talked with: opened with its first message, so that looking in leaves no
//! trace; given a title; exchanged for another.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use windlass::door::FollowError;
use windlass::{Agent, Session};
use windlass_runtime::{SendOutcome, SessionActivity, Subscription};
use windlass_setup::agent;
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Envelope, MessageId, ModelName, Record, RunId};

use super::title::title;
use crate::commands::prepared_run::PreparedRun;
use crate::commands::{always, session};
use crate::error::CommandError;
use crate::exit::Exit;

/// A session and everything needed to talk in it.
pub(crate) struct Conversation {
    pub(crate) prepared_run: PreparedRun,
    pub(crate) store: Arc<dyn Store>,
    /// The model of the next run.
    pub(crate) model: ModelName,
    pub(crate) key: String,
    agent: Agent,
    live: Option<LiveSession>,
    /// Whether the agent is that of `model` and of the rules.
    agent_matches: AgentMatches,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AgentMatches {
    Yes,
    No,
}

/// The session while it is open.
pub(crate) struct LiveSession {
    pub(crate) session: Session,
    pub(crate) events: Subscription,
    title: TitleState,
}

enum TitleState {
    Yes,
    /// What it would be called after what was said before.
    No(Option<String>),
}

impl Conversation {
    /// A conversation in a session that is known, or in one with this key, or in a new one.
    pub(crate) fn new(
        prepared_run: PreparedRun,
        store: Arc<dyn Store>,
        model: ModelName,
        known: Option<SessionRow>,
        key: Option<String>,
    ) -> Result<Self, CommandError> {
        let agent = agent::build(&prepared_run.setup, Arc::clone(&store), &model)?;
        let key = known.map(|row| row.key).or(key).unwrap_or_else(|| session::fresh_key("chat"));
        Ok(Self { prepared_run, store, model, key, agent, live: None, agent_matches: AgentMatches::Yes })
    }

    pub(crate) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Text without the secrets in it, as the journal has it (X1).
    pub(crate) fn scrubbed<'text>(&self, text: &'text str) -> Cow<'text, str> {
        self.agent.hub().scrub(text)
    }

    /// What the store knows of the session.
    pub(crate) async fn row(&self) -> Result<Option<SessionRow>, CommandError> {
        session::find(self.store.as_ref(), &self.key).await
    }

    /// The session's records; none before its first message.
    pub(crate) async fn records(&self) -> Result<Vec<Envelope>, CommandError> {
        match self.row().await? {
            Some(row) => Ok(self.store.read(row.session, 0).await?),
            None => Ok(Vec::new()),
        }
    }

    /// The session, if it is open.
    pub(crate) fn live(&mut self) -> Option<&mut LiveSession> {
        self.live.as_mut()
    }

    /// The job and the open session, for who shows and follows.
    pub(super) fn parts(&mut self) -> (&mut PreparedRun, &Agent, Option<&mut LiveSession>) {
        (&mut self.prepared_run, &self.agent, self.live.as_mut())
    }

    /// Whether a run is open here.
    fn is_busy(&self) -> bool {
        match self.live.as_ref().map(|live| live.session.activity()) {
            Some(SessionActivity::Working | SessionActivity::Waiting(_)) => true,
            Some(SessionActivity::Idle | SessionActivity::Closed(_)) | None => false,
        }
    }

    /// Opens the session; a run left unfinished goes on at once.
    pub(crate) async fn open(&mut self) -> Result<&mut LiveSession, CommandError> {
        if self.agent_matches == AgentMatches::No && !self.is_busy() {
            self.close().await;
            self.agent = agent::build(&self.prepared_run.setup, Arc::clone(&self.store), &self.model)?;
            self.agent_matches = AgentMatches::Yes;
        }
        let live = match self.live.take() {
            Some(live) => live,
            None => {
                let title = match self.row().await? {
                    Some(row) if row.title.is_some() => TitleState::Yes,
                    Some(_) => TitleState::No(self.records().await?.iter().find_map(message_text).map(title)),
                    None => TitleState::No(None),
                };
                let (session, events) = self.agent.session_followed(&self.key).await?;
                LiveSession { session, events, title }
            }
        };
        Ok(self.live.insert(live))
    }

    /// Says something; the session is opened for it. Gives what became of it, and its id.
    pub(crate) async fn send_message(&mut self, text: String) -> Result<(SendOutcome, MessageId), CommandError> {
        let id = MessageId(uuid::Uuid::now_v7().to_string());
        let live = self.open().await?;
        let called = title(&text);
        let sent = live.session.send(id.clone(), text).await.map_err(FollowError::from)?;
        if let TitleState::No(before) = std::mem::replace(&mut live.title, TitleState::Yes) {
            live.session.set_title(before.unwrap_or(called)).await.map_err(FollowError::from)?;
        }
        Ok((sent, id))
    }

    /// Tries the last run again, if it ended badly.
    pub(crate) async fn retry(&mut self) -> Result<Option<RunId>, CommandError> {
        if self.row().await?.is_none() {
            return Ok(None);
        }
        let live = self.open().await?;
        Ok(live.session.retry().await.map_err(FollowError::from)?)
    }

    /// Takes another model for the next run.
    pub(crate) fn use_model(&mut self, name: &str) {
        self.model = ModelName(name.to_owned());
        self.agent_matches = AgentMatches::No;
    }

    /// Writes a rule down for good; sessions gone to from here know it too. Says what became of it.
    pub(crate) async fn allow_always(&mut self, rule: &str) -> String {
        self.agent_matches = AgentMatches::No;
        always::keep(rule, &self.prepared_run.setup.env, &mut self.prepared_run.setup.settings).await
    }

    /// Begins a new session.
    pub(crate) async fn begin_new(&mut self) {
        self.close().await;
        self.key = session::fresh_key("chat");
    }

    /// Goes to another session of this folder.
    pub(crate) async fn go_to(&mut self, row: &SessionRow) -> Result<(), CommandError> {
        if row
            .workspace
            .as_deref()
            .is_some_and(|home| Path::new(home) != self.prepared_run.setup.settings.place.workspace)
        {
            let text = format!("session `{}` works in another folder; `windlass --resume` takes it up there", row.key);
            return Err(CommandError::new(Exit::Usage, text));
        }
        self.close().await;
        self.key.clone_from(&row.key);
        Ok(())
    }

    /// Lets go of the session. An open run stays open and goes on when it is taken up again.
    pub(crate) async fn close(&mut self) {
        if let Some(live) = self.live.take() {
            live.session.close().await;
        }
    }
}

fn message_text(envelope: &Envelope) -> Option<&str> {
    match &envelope.record {
        Record::MessageAccepted(message) => Some(&message.text),
        _ => None,
    }
}
