//! What the requests to `windlass mcp-serve` share: settings, store, tool servers, and the agents made from them.

use std::sync::Arc;

use windlass::Agent;
use windlass::door::{Awaited, end_awaited};
use windlass_setup::agent;
use windlass_setup::models::{DEMO, Otherwise, Wish};
use windlass_setup::servers::Kept;
use windlass_setup::settings::{Env, Flags, Origin, Place, Settings, Sourced};
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Answer, Attendance, MessageId, QuestionAsked, QuestionOption, RunEnded, RunId};

use crate::args::CommonFlags;
use crate::commands::job::Job;
use crate::commands::{always, follow, job, repeat, session};
use crate::consent::wording;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_lines;
use crate::streams::tell;

/// What a request wants of a session's agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To say something.
    Say,
    /// To take up the run that is open.
    GoOn,
}

/// What every request finds.
pub(crate) struct Premises {
    pub(crate) flags: Flags,
    pub(crate) common: CommonFlags,
    pub(crate) env: Env,
    pub(crate) place: Place,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) servers: Kept,
}

/// An agent, and the settings it was made by.
pub(crate) struct Hired {
    pub(crate) agent: Agent,
    settings: Settings,
    env: Env,
}

impl Hired {
    /// A run waits for a person whom the client can't reach.
    pub(crate) fn nobody_can_answer(&self, questions: &[QuestionAsked], key: &str) -> CommandError {
        follow::waiting(questions, Some((key, &self.settings.place)))
    }

    /// Writes down what a person agreed to for good.
    pub(crate) async fn keep_rule(&mut self, asked: &QuestionAsked, answer: &Answer) {
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
        if let (QuestionOption::Always, Some(rule)) = (answer.option, rule) {
            tell(always::keep(rule, &self.env, &mut self.settings).await.trim_end());
        }
    }
}

impl Premises {
    pub(crate) fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// All sessions, the last used first.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionRow>, CommandError> {
        Ok(self.store.sessions(session::OWNER).await?)
    }

    /// The session with this key, if there is one.
    pub(crate) async fn found(&self, key: &str) -> Result<Option<SessionRow>, CommandError> {
        session::found(self.store(), key).await
    }

    /// The session with this key.
    pub(crate) async fn named(&self, key: &str) -> Result<SessionRow, CommandError> {
        let missing = || {
            CommandError::new(Exit::Usage, format!("there is no session `{key}`; the tool `list_sessions` shows them"))
        };
        self.found(key).await?.ok_or_else(missing)
    }

    /// The end of a finished message's run, whoever has the session.
    pub(crate) async fn end_of(
        &self,
        row: &SessionRow,
        message: &MessageId,
    ) -> Result<Option<(RunId, RunEnded)>, CommandError> {
        let mut awaited = Awaited::Message(message.clone());
        let end = end_awaited(self.store(), row.session, &mut awaited).await?;
        Ok(end.and_then(|(envelope, ended)| Some((envelope.run?, ended))))
    }

    /// The id of the message with these words that waits, or that a run has which is not over.
    pub(crate) async fn unfinished_message(
        &self,
        row: &SessionRow,
        prompt: &str,
    ) -> Result<Option<MessageId>, CommandError> {
        repeat::unfinished_message(self.store(), row, prompt).await
    }

    /// The agent for a session that is there, in its own folder, or for a new one. Settings are read
    /// afresh: what the person mends while we serve holds for the next request.
    pub(crate) async fn agent(
        &self,
        known: Option<&SessionRow>,
        purpose: Purpose,
        attendance: Attendance,
    ) -> Result<Hired, CommandError> {
        let place = match known {
            Some(row) => session::at_home(self.place.clone(), row, self.common.workspace.as_deref())?,
            None => self.place.clone(),
        };
        let flags = Flags { workspace: Some(place.workspace.clone()), ..self.flags.clone() };
        let sources = job::gather(flags, self.env.clone())?;
        // Standard input is the client's: nobody is asked there which servers may start.
        let nobody = Attendance::Unattended;
        let mut job = Job::prepare_for(sources, &self.common, place, nobody)?;
        job.setup.attendance = attendance;
        job.setup.servers = self.servers.in_place_of(job.setup.servers, &job.setup.settings.place.workspace);
        let model = match known {
            Some(row) => session::begun_with(self.store(), row.session).await?,
            None => None,
        };
        // What is configured since is for new runs.
        if purpose == Purpose::GoOn && model.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO) {
            job.setup.settings.model = Some(Sourced::new(DEMO.into(), Origin::Session));
        }
        let model = job.choose(Wish::new(model, Otherwise::Refuse)).await?;
        let agent = agent::build(&job.setup, Arc::clone(&self.store), &model)?;
        Ok(Hired { agent, settings: job.setup.settings, env: job.setup.env })
    }

    /// Tells whoever reads standard error what the agent's own servers had to tell.
    pub(crate) fn tell_news(&self) {
        for news in self.servers.news() {
            tell(&format!("windlass: {}", harmless_lines(&wording(&news))));
        }
    }

    /// Lets go of the agent's own servers.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
        self.tell_news();
    }
}
