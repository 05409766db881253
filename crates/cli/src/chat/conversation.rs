//! The session of a chat. It is opened with its first message, so that starting the chat without a message creates no
//! session; the first message gives it a title; the person can switch to another session.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass::door::{FollowError, ResolvedModel};
use windlass::{Agent, Session};
use windlass_runtime::{SendOutcome, SentMessage, SessionActivity, Subscription};
use windlass_setup::agent;
use windlass_setup::run_setup::SetupError;
use windlass_setup::settings::SettingsNotice;
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Envelope, MessageId, ModelName, Record, RunId};

use super::mentions::{self, AttachingLine, LineAttachments};
use super::title::title;
use crate::attaching::{check_images, cut_notes};
use crate::commands::prepared_run::PreparedRun;
use crate::commands::{always, session};
use crate::error::CommandError;
use crate::exit::Exit;

/// A session and everything needed to send messages to it.
pub(crate) struct Conversation {
    pub(crate) prepared_run: PreparedRun,
    pub(crate) store: Arc<dyn Store>,
    /// The model of the next run.
    pub(crate) model: ModelName,
    pub(crate) key: String,
    agent: Agent,
    live: Option<LiveSession>,
    /// Whether the agent was built for `model` and the current permission rules.
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
    /// The session has no title yet; holds the one made from an earlier message.
    No(Option<String>),
}

impl Conversation {
    /// Creates a conversation in a known session, in one with this key, or in a new one.
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

    /// Returns the text with secrets replaced, as in the journal (X1).
    pub(crate) fn scrubbed<'text>(&self, text: &'text str) -> Cow<'text, str> {
        self.agent.hub().scrub(text)
    }

    /// Returns the session's row in the store.
    pub(crate) async fn row(&self) -> Result<Option<SessionRow>, CommandError> {
        session::find(self.store.as_ref(), &self.key).await
    }

    /// Returns the session's records; none before its first message.
    pub(crate) async fn records(&self) -> Result<Vec<Envelope>, CommandError> {
        match self.row().await? {
            Some(row) => Ok(self.store.read(row.session, 0).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the session if it is open.
    pub(crate) fn live(&mut self) -> Option<&mut LiveSession> {
        self.live.as_mut()
    }

    /// Returns the handle of the session if it is open.
    pub(super) fn live_session(&self) -> Option<&Session> {
        self.live.as_ref().map(|live| &live.session)
    }

    /// Returns the prepared run, the agent and the open session, for code that follows a run.
    pub(super) fn parts(&mut self) -> (&mut PreparedRun, &Agent, Option<&mut LiveSession>) {
        (&mut self.prepared_run, &self.agent, self.live.as_mut())
    }

    /// Whether a run is open in this process.
    fn is_busy(&self) -> bool {
        match self.live.as_ref().map(|live| live.session.activity()) {
            Some(SessionActivity::Working | SessionActivity::Waiting(_)) => true,
            Some(SessionActivity::Idle | SessionActivity::Closed(_)) | None => false,
        }
    }

    /// Opens the session; an unfinished run continues at once.
    pub(crate) async fn open(&mut self) -> Result<&mut LiveSession, CommandError> {
        // What a run is instructed with is fixed for it; the next one gets what the files say now.
        if !self.is_busy() && self.prepared_run.setup.read_context_files_again() {
            self.agent_matches = AgentMatches::No;
        }
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
                let opened = self.agent.open_followed(&self.key).await;
                let (session, events) = opened.map_err(|error| CommandError::of_opening(error, Some(&self.key)))?;
                LiveSession { session, events, title }
            }
        };
        Ok(self.live.insert(live))
    }

    /// Returns a line with where the files are that it names.
    pub(crate) fn attaching(&self, line: &str, pasted: Vec<String>) -> AttachingLine {
        let setup = &self.prepared_run.setup;
        let home = setup.env.raw("HOME").map(PathBuf::from);
        AttachingLine { line: line.to_owned(), pasted, workspace: setup.settings.place.workspace.clone(), home }
    }

    /// Reads the files that a line names. An error says why the line should not be sent.
    pub(crate) async fn attach(&self, line: AttachingLine) -> Result<LineAttachments, String> {
        // A document may take seconds, in which a run goes on.
        let read = tokio::task::spawn_blocking(move || mentions::attach(&line)).await;
        let mut attached = read.map_err(|error| format!("the files can't be read: {error}; nothing was sent"))??;
        attached.notes.extend(cut_notes(&attached.files, self.prepared_run.setup.settings.policy.result_cap));
        let note = check_images(&attached.files, &self.chain());
        attached.notes.extend(note.map_err(|refused| format!("{refused}; nothing was sent"))?);
        Ok(attached)
    }

    /// Sends a message, opening the session if needed. Returns the outcome and the message's id.
    pub(crate) async fn send_message(
        &mut self,
        message: impl Into<SentMessage>,
    ) -> Result<(SendOutcome, MessageId), CommandError> {
        let message = message.into();
        let id = MessageId(uuid::Uuid::now_v7().to_string());
        let live = self.open().await?;
        let called = title(&message.text);
        let sent = live.session.send(id.clone(), message).await.map_err(FollowError::from)?;
        if let TitleState::No(before) = std::mem::replace(&mut live.title, TitleState::Yes) {
            live.session.set_title(before.unwrap_or(called)).await.map_err(FollowError::from)?;
        }
        Ok((sent, id))
    }

    /// Retries the last run, if it failed.
    pub(crate) async fn retry(&mut self) -> Result<Option<RunId>, CommandError> {
        if self.row().await?.is_none() {
            return Ok(None);
        }
        let live = self.open().await?;
        Ok(live.session.retry().await.map_err(FollowError::from)?)
    }

    /// Sets the models for the next run. Returns notices for the person.
    pub(crate) async fn use_models(&mut self, names: &str) -> Result<Vec<SettingsNotice>, SetupError> {
        let (model, notices) = self.prepared_run.setup.use_models(names).await?;
        self.model = model;
        self.agent_matches = AgentMatches::No;
        Ok(notices)
    }

    /// The models of the next run, in the order they are tried; none for the demo.
    pub(crate) fn chain(&self) -> Vec<ResolvedModel> {
        agent::learned_chain(&self.prepared_run.setup, &self.model)
    }

    /// The names of the models of the next run, in the order they are tried.
    pub(crate) fn model_names(&self) -> Vec<ModelName> {
        let chain: Vec<ModelName> = self.chain().into_iter().map(|model| model.name).collect();
        if chain.is_empty() { vec![self.model.clone()] } else { chain }
    }

    /// Stores a permission rule permanently, for later sessions too. Returns a message about the result.
    pub(crate) async fn allow_always(&mut self, rule: &str) -> String {
        self.agent_matches = AgentMatches::No;
        always::keep(rule, &self.prepared_run.setup.env, &mut self.prepared_run.setup.settings).await
    }

    /// Switches to a new session.
    pub(crate) async fn begin_new(&mut self) {
        self.close().await;
        self.key = session::fresh_key("chat");
    }

    /// Switches to another session of this folder.
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

    /// Closes the session. An open run stays open and continues when the session is opened again.
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
