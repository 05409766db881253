//! The session that is talked with: opened with its first message, so that looking in leaves no
//! trace; given a title; exchanged for another.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use windlass::door::FollowError;
use windlass::{Agent, Session};
use windlass_runtime::{Sent, Standing, Subscription};
use windlass_setup::agent;
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Envelope, MessageId, ModelName, Record, RunId};

use super::title::title;
use crate::commands::job::Job;
use crate::commands::{always, session};
use crate::error::CommandError;
use crate::exit::Exit;

/// A session and everything needed to talk in it.
pub(crate) struct Conversation {
    pub(crate) job: Job,
    pub(crate) store: Arc<dyn Store>,
    /// The model of the next run.
    pub(crate) model: ModelName,
    pub(crate) key: String,
    agent: Agent,
    live: Option<Live>,
    /// Whether the agent is that of `model` and of the rules.
    fitted: Fitted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fitted {
    Yes,
    No,
}

/// The session while it is open.
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) events: Subscription,
    titled: Titled,
}

enum Titled {
    Yes,
    /// What it would be called after what was said before.
    No(Option<String>),
}

impl Conversation {
    /// A conversation in a session that is known, or in one with this key, or in a new one.
    pub(crate) fn new(
        job: Job,
        store: Arc<dyn Store>,
        model: ModelName,
        known: Option<SessionRow>,
        key: Option<String>,
    ) -> Result<Self, CommandError> {
        let agent = agent::build(&job.setup, Arc::clone(&store), &model)?;
        let key = known.map(|row| row.key).or(key).unwrap_or_else(|| session::fresh_key("chat"));
        Ok(Self { job, store, model, key, agent, live: None, fitted: Fitted::Yes })
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
        session::found(self.store.as_ref(), &self.key).await
    }

    /// The session's records; none before its first message.
    pub(crate) async fn records(&self) -> Result<Vec<Envelope>, CommandError> {
        match self.row().await? {
            Some(row) => Ok(self.store.read(row.session, 0).await?),
            None => Ok(Vec::new()),
        }
    }

    /// The session, if it is open.
    pub(crate) fn live(&mut self) -> Option<&mut Live> {
        self.live.as_mut()
    }

    /// The job and the open session, for who shows and follows.
    pub(super) fn parts(&mut self) -> (&mut Job, &Agent, Option<&mut Live>) {
        (&mut self.job, &self.agent, self.live.as_mut())
    }

    /// Whether a run is open here.
    fn is_busy(&self) -> bool {
        match self.live.as_ref().map(|live| live.session.standing()) {
            Some(Standing::Working | Standing::Waiting(_)) => true,
            Some(Standing::Idle | Standing::Closed(_)) | None => false,
        }
    }

    /// Opens the session; a run left unfinished goes on at once.
    pub(crate) async fn open(&mut self) -> Result<&mut Live, CommandError> {
        if self.fitted == Fitted::No && !self.is_busy() {
            self.close().await;
            self.agent = agent::build(&self.job.setup, Arc::clone(&self.store), &self.model)?;
            self.fitted = Fitted::Yes;
        }
        let live = match self.live.take() {
            Some(live) => live,
            None => {
                let titled = match self.row().await? {
                    Some(row) if row.title.is_some() => Titled::Yes,
                    Some(_) => Titled::No(self.records().await?.iter().find_map(said).map(title)),
                    None => Titled::No(None),
                };
                let (session, events) = self.agent.session_followed(&self.key).await?;
                Live { session, events, titled }
            }
        };
        Ok(self.live.insert(live))
    }

    /// Says something; the session is opened for it. Gives what became of it, and its id.
    pub(crate) async fn say(&mut self, text: String) -> Result<(Sent, MessageId), CommandError> {
        let id = MessageId(uuid::Uuid::now_v7().to_string());
        let live = self.open().await?;
        let called = title(&text);
        let sent = live.session.send(id.clone(), text).await.map_err(FollowError::from)?;
        if let Titled::No(before) = std::mem::replace(&mut live.titled, Titled::Yes) {
            live.session.entitle(before.unwrap_or(called)).await.map_err(FollowError::from)?;
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
        self.fitted = Fitted::No;
    }

    /// Writes a rule down for good; sessions gone to from here know it too. Says what became of it.
    pub(crate) async fn allow_always(&mut self, rule: &str) -> String {
        self.fitted = Fitted::No;
        always::keep(rule, &self.job.setup.env, &mut self.job.setup.settings).await
    }

    /// Begins a new session.
    pub(crate) async fn begin_new(&mut self) {
        self.close().await;
        self.key = session::fresh_key("chat");
    }

    /// Goes to another session of this folder.
    pub(crate) async fn go_to(&mut self, row: &SessionRow) -> Result<(), CommandError> {
        if row.workspace.as_deref().is_some_and(|home| Path::new(home) != self.job.setup.settings.place.workspace) {
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

fn said(envelope: &Envelope) -> Option<&str> {
    match &envelope.record {
        Record::MessageAccepted(message) => Some(&message.text),
        _ => None,
    }
}
