//! What the requests to `windlass mcp-serve` share: settings, store, tool servers, and the agents made from them.

use std::sync::Arc;

use windlass::Agent;
use windlass::door::{AwaitedEnd, end_awaited};
use windlass_setup::agent;
use windlass_setup::models::{DEMO, ModelFallback, ModelPreference};
use windlass_setup::servers::SharedServers;
use windlass_setup::settings::{Env, Flags, PlaceSettings, SettingOrigin, Settings, Sourced};
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Answer, Attendance, MessageId, QuestionAsked, QuestionOption, RunEnded, RunId};

use crate::args::CommonFlags;
use crate::commands::prepared_run::PreparedRun;
use crate::commands::{always, follow, prepared_run, repeat, session};
use crate::consent::wording;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::harmless_lines;
use crate::streams::print_notice;

/// What a request needs a session's agent for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To send a message.
    Say,
    /// To resume the open run.
    GoOn,
}

/// The state that all requests share.
pub(crate) struct ServerContext {
    pub(crate) flags: Flags,
    pub(crate) common: CommonFlags,
    pub(crate) env: Env,
    pub(crate) place: PlaceSettings,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) servers: SharedServers,
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
        self.store.as_ref()
    }

    /// Returns all sessions but those of a plan's steps, the last used first.
    pub(crate) async fn sessions(&self) -> Result<Vec<SessionRow>, CommandError> {
        session::without_children(self.store()).await
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

    /// Builds the agent for an existing session, in its own folder, or for a new one. Reads the settings again, so that
    /// a change a person makes while we serve applies to the next request.
    pub(crate) async fn agent(
        &self,
        known: Option<&SessionRow>,
        purpose: Purpose,
        attendance: Attendance,
    ) -> Result<BuiltAgent, CommandError> {
        let place = match known {
            Some(row) => session::in_session_folder(self.place.clone(), row, self.common.workspace.as_deref())?,
            None => self.place.clone(),
        };
        let flags = Flags { workspace: Some(place.workspace.clone()), ..self.flags.clone() };
        let mut sources = prepared_run::gather(flags, self.env.clone())?;
        let last = session::last_run(self.store(), known).await?;
        sources.flags.session_agent = last.as_ref().and_then(|last| last.agent.clone());
        // Standard input belongs to the client, so nobody can be asked there which servers may start.
        let nobody = Attendance::Unattended;
        let mut prepared_run = PreparedRun::prepare_for(sources, &self.common, place, nobody)?;
        prepared_run.setup.attendance = attendance;
        prepared_run.setup.servers =
            self.servers.in_place_of(prepared_run.setup.servers, &prepared_run.setup.settings.place.workspace);
        let begun = last.and_then(|last| last.model);
        // Settings changed since then apply to new runs only.
        if purpose == Purpose::GoOn && begun.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO) {
            prepared_run.setup.settings.model = Some(Sourced::new(DEMO.into(), SettingOrigin::Session));
        }
        let model = prepared_run.choose(ModelPreference::new(begun, ModelFallback::Refuse)).await?;
        let agent = agent::build(&prepared_run.setup, Arc::clone(&self.store), &model)?;
        Ok(BuiltAgent { agent, settings: prepared_run.setup.settings, env: prepared_run.setup.env })
    }

    /// Prints pending notices of the agent's own servers on standard error.
    pub(crate) fn print_news(&self) {
        for news in self.servers.news() {
            print_notice(&format!("windlass: {}", harmless_lines(&wording(&news))));
        }
    }

    /// Closes the agent's own servers.
    pub(crate) async fn close(&self) {
        self.servers.close().await;
        self.print_news();
    }
}
