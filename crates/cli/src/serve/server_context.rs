//! What the requests to `windlass mcp-serve` share: settings, store, tool servers, and the agents made from them.

use std::path::PathBuf;

use windlass::Agent;
use windlass::door::{AwaitedEnd, end_awaited};
use windlass_setup::models::ModelFallback;
use windlass_setup::session_agent::{AgentPurpose, AgentRequest, SessionAgent, SessionAgents};
use windlass_setup::settings::{Env, Settings};
use windlass_store::{SessionQuery, SessionRow, Store};
use windlass_vocab::{Answer, Attendance, MessageId, QuestionAsked, QuestionOption, RunEnded, RunId};

use crate::commands::setup_notices::{context_notices, model_notices, settings_notices};
use crate::commands::{always, follow, repeat, session};
use crate::consent::wording;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_lines;
use crate::streams::print_notice;

/// The state that all requests share.
pub(crate) struct ServerContext {
    pub(crate) agents: SessionAgents,
    /// The folder that the person named.
    pub(crate) folder: Option<PathBuf>,
}

/// An agent, and the settings it was built from.
pub(crate) struct BuiltAgent {
    pub(crate) agent: Agent,
    settings: Settings,
    env: Env,
}

impl BuiltAgent {
    /// Returns the error for a run that waits for a person whom the client can't ask.
    pub(crate) fn nobody_can_answer(&self, questions: &[QuestionAsked], key: &str) -> CommandError {
        follow::waiting(questions, Some((key, &self.settings.place)))
    }

    /// Saves the rule of an "always" answer in the settings.
    pub(crate) async fn keep_rule(&mut self, asked: &QuestionAsked, answer: &Answer) {
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
        if let (QuestionOption::Always, Some(rule)) = (answer.option, rule) {
            print_notice(always::keep(rule, &self.env, &mut self.settings).await.trim_end());
        }
    }
}

impl ServerContext {
    pub(crate) fn store(&self) -> &dyn Store {
        self.agents.store.0.as_ref()
    }

    /// Returns all sessions but archived ones and those of a plan's steps: pinned ones first, then the last used.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionRow>, CommandError> {
        session::listed(self.store(), SessionQuery::default()).await
    }

    /// Returns the session with this key, if there is one.
    pub(crate) async fn find(&self, key: &str) -> Result<Option<SessionRow>, CommandError> {
        session::find(self.store(), key).await
    }

    /// Returns the session with this key, or an error if there is none.
    pub(crate) async fn named(&self, key: &str) -> Result<SessionRow, CommandError> {
        let missing = || {
            CommandError::new(Exit::Usage, format!("there is no session `{key}`; the tool `list_sessions` shows them"))
        };
        self.find(key).await?.ok_or_else(missing)
    }

    /// Returns the end of a finished message's run, even if another process has the session open.
    pub(crate) async fn end_of(
        &self,
        row: &SessionRow,
        message: &MessageId,
    ) -> Result<Option<(RunId, RunEnded)>, CommandError> {
        let mut awaited = AwaitedEnd::Message(message.clone());
        let end = end_awaited(self.store(), row.session, &mut awaited).await?;
        Ok(end.and_then(|(envelope, ended)| Some((envelope.run?, ended))))
    }

    /// Returns the id of the message with this text that is waiting or belongs to an open run.
    pub(crate) async fn unfinished_message(
        &self,
        row: &SessionRow,
        prompt: &str,
    ) -> Result<Option<MessageId>, CommandError> {
        repeat::unfinished_message(self.store(), row, &repeat::MessageWords::new(prompt.to_owned(), &[])).await
    }

    /// Builds the agent for an existing session, in its own folder, or for a new one, and prints the notices.
    pub(crate) async fn agent(
        &self,
        known: Option<&SessionRow>,
        purpose: AgentPurpose,
        attendance: Attendance,
    ) -> Result<BuiltAgent, CommandError> {
        let request = AgentRequest {
            session: known,
            owner: session::OWNER,
            folder: self.folder.as_deref(),
            purpose,
            attendance,
            fallback: ModelFallback::Refuse,
        };
        let SessionAgent { agent, setup, notices, .. } = self.agents.agent(request).await?;
        // Standard input belongs to the client, so nobody can be asked there.
        let nobody = Attendance::Unattended;
        let told =
            [settings_notices(&setup.settings, nobody), context_notices(&setup), model_notices(&notices, nobody)];
        for notice in told.concat() {
            print_notice(&format!("windlass: {}", harmless_lines(&notice)));
        }
        Ok(BuiltAgent { agent, settings: setup.settings, env: setup.env })
    }

    /// Prints pending notices of the agent's own servers on standard error.
    pub(crate) fn print_news(&self) {
        for news in self.agents.servers.news() {
            print_notice(&format!("windlass: {}", harmless_lines(&wording(&news))));
        }
    }

    /// Closes the agent's own servers.
    pub(crate) async fn close(&self) {
        self.agents.servers.close().await;
        self.print_news();
    }
}
