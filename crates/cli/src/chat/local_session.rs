//! The chat's session as this process drives it.

use std::borrow::Cow;
use std::path::Path;

use windlass::door::FollowError;
use windlass::{Event, Record, Session};
use windlass_narrate::preview_text;
use windlass_runtime::{EventOr, SendOutcome, SentMessage, SessionActivity, StopOutcome};
use windlass_setup::models::{DEMO, display_name};
use windlass_setup::permissions::permissions;
use windlass_setup::settings::{Env, ModelEndpoint};
use windlass_tools::{Mode, Permissions, Selection, ToolServers as _};
use windlass_vocab::{
    Answer, CallId, CallRequested, Envelope, Json, MessageId, QuestionAnswered, QuestionAsked, QuestionId,
    QuestionKind, QuestionOption, ReplyCall, StopBy, Verdict,
};

use super::chat_session::{ChatSession, EditedCall, MessageSender, OpenWork, SessionNews, TakenUpSession};
use super::conversation::Conversation;
use super::follow_up::CommandFollowUp;
use super::mentions::{AttachingLine, LineAttachments};
use super::performing;
use super::slash::SlashCommand;
use crate::commands::{recall, unanswered};
use crate::consent::wording;
use crate::error::CommandError;
use crate::output::wording::loosened;
use crate::output::{harmless_line, harmless_lines, model_command_for, short_line};
use crate::screen::{TerminalLook, wrapped_lines};

impl ChatSession for Conversation {
    fn env(&self) -> &Env {
        &self.prepared_run.setup.env
    }

    fn workspace(&self) -> &Path {
        &self.prepared_run.setup.settings.place.workspace
    }

    fn data_dir(&self) -> &Path {
        &self.prepared_run.setup.settings.place.data_dir.value
    }

    fn now(&self) -> u64 {
        u64::try_from(self.agent().hub().now().0).unwrap_or(0)
    }

    fn scrubbed<'text>(&self, text: &'text str) -> Cow<'text, str> {
        self.agent().hub().scrub(text)
    }

    fn warm_up(&self) {
        if let Some(servers) = self.prepared_run.setup.servers.servers() {
            servers.wake();
        }
    }

    async fn banner(&self, look: TerminalLook) -> Result<String, CommandError> {
        let dot = look.glyphs.dot();
        let folder = self.prepared_run.setup.settings.place.workspace.display();
        let title = self.row().await?.and_then(|row| row.title).map(|title| format!(": {title}")).unwrap_or_default();
        let found_at = self.prepared_run.setup.settings.endpoint.as_ref().and_then(ModelEndpoint::found_at);
        let at = found_at.map(|server| format!(" at {server}")).unwrap_or_default();
        let names = self.model_names();
        let model = names.first().map_or("", display_name);
        let mut lines = vec![
            format!("Windlass {} {dot} {model}{at} {dot} {folder}", env!("CARGO_PKG_VERSION")),
            short_line(&format!("session {}{title}", self.key), look.columns()),
            format!("/help {dot} Ctrl-C stops a run {dot} Ctrl-D leaves"),
        ];
        lines.extend(loosened(&self.prepared_run.setup.settings).into_iter().map(str::to_owned));
        Ok(wrapped_lines(&harmless_lines(&lines.join("\n")), look.columns()))
    }

    async fn farewell(&mut self) -> String {
        let Ok(Some(row)) = self.row().await else { return String::new() };
        let place = &self.prepared_run.setup.settings.place;
        let resume = model_command_for("--resume", &harmless_line(&row.key), "", place);
        if row.status.is_open() {
            format!("The run stays as it is; `{resume}` goes on with it.\n")
        } else {
            format!("`{resume}` takes this session up again.\n")
        }
    }

    async fn take_up(&mut self) -> Result<Option<TakenUpSession>, CommandError> {
        let Some(row) = self.row().await? else { return Ok(None) };
        let waits = !self.store.waiting(row.session).await?.is_empty();
        let open = if row.status.is_open() || waits { OpenWork::Some } else { OpenWork::None };
        Ok(Some(TakenUpSession { records: self.records().await?, open }))
    }

    async fn open_work(&mut self) -> Result<(), CommandError> {
        self.open().await.map(drop)
    }

    async fn close(&mut self) {
        Self::close(self).await;
    }

    async fn leave(&mut self) {
        Self::close(self).await;
        self.prepared_run.setup.servers.close().await;
    }

    async fn next(&mut self) -> SessionNews {
        let Some(live) = self.live() else { return SessionNews::Settled(SessionActivity::Idle) };
        match live.events.next_before(live.session.settled()).await {
            EventOr::Event(event) => SessionNews::Event(event),
            EventOr::Other(standing) => SessionNews::Settled(standing),
        }
    }

    fn try_next(&mut self) -> Option<Event> {
        self.live()?.events.try_next()
    }

    fn server_news(&mut self) -> Vec<String> {
        self.prepared_run.setup.servers.news().iter().map(|news| harmless_line(&wording(news))).collect()
    }

    async fn calls_of_last_run(&self) -> Result<Vec<Record>, CommandError> {
        match self.live_session() {
            Some(session) => Ok(recall::calls_of_last_run(self.store.as_ref(), session.id()).await?),
            None => Ok(Vec::new()),
        }
    }

    fn stopped_when_blocked(&self) -> Option<Session> {
        self.live_session().cloned()
    }

    fn attaching(&self, line: &str, pasted: Vec<String>) -> AttachingLine {
        Self::attaching(self, line, pasted)
    }

    async fn attach(&self, line: AttachingLine) -> Result<LineAttachments, String> {
        Self::attach(self, line).await
    }

    async fn send(
        &mut self,
        text: String,
        attached: LineAttachments,
    ) -> Result<(SendOutcome, MessageId), CommandError> {
        self.send_message(SentMessage { text, files: attached.files }).await
    }

    fn sender(&self, _: &MessageId) -> MessageSender {
        MessageSender::Here
    }

    async fn stop(&mut self) -> Result<StopOutcome, CommandError> {
        match self.live() {
            Some(live) => Ok(live.session.stop(StopBy::Person).await.map_err(FollowError::from)?),
            None => Ok(StopOutcome { runs: 0, dropped: 0 }),
        }
    }

    async fn perform(&mut self, command: SlashCommand) -> Result<CommandFollowUp, CommandError> {
        performing::perform(self, command).await
    }

    async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<String, CommandError> {
        let option = answer.option;
        let Some(session) = self.live_session() else { return Ok(String::new()) };
        let taken = session.answer(asked.question, answer).await.map_err(FollowError::from)?;
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
        Ok(match (taken, option, rule, asked.kind.subject()) {
            (false, ..) => "too late: the question has been answered already\n".to_owned(),
            // A rule that is tried out in the demo must not apply to other folders.
            (true, QuestionOption::Always, Some(rule), QuestionKind::Approval { .. })
                if self.model.as_str() != DEMO =>
            {
                self.allow_always(rule).await
            }
            // A rule may cover more than the call that was asked about.
            (true, QuestionOption::Session | QuestionOption::Always, Some(rule), QuestionKind::Approval { .. }) => {
                format!("allowed for this session: {}\n", harmless_line(rule))
            }
            (true, ..) => String::new(),
        })
    }

    async fn wait_past_question(&self, question: QuestionId) {
        if let Some(session) = self.live_session() {
            session.wait_past_question(question).await;
        }
    }

    async fn find_answer(&self, question: QuestionId) -> Result<Option<QuestionAnswered>, CommandError> {
        let Some(session) = self.live_session() else { return Ok(None) };
        Ok(unanswered::find_answer(self.store.as_ref(), session.id(), question).await?)
    }

    async fn call_request(&self, call: CallId) -> Result<Option<CallRequested>, CommandError> {
        Ok(requested(&self.records().await?, call))
    }

    /// Deny rules apply to the person's arguments too.
    async fn check_edit(&self, call: &CallRequested, arguments: Json) -> Result<EditedCall, String> {
        let records = self.records().await.map_err(|error| error.message)?;
        let tools = records.iter().rev().find_map(|envelope| match &envelope.record {
            Record::RunStarted(started) if started.run == call.call.run => Some(Selection::from(&started.policy)),
            _ => None,
        });
        let tools = tools.ok_or_else(|| "the run of this call is not known any more".to_owned())?;
        let deny = permissions(&self.prepared_run.setup.settings.permissions).deny;
        let permissions = Permissions { mode: Mode::Strict, deny, ..Permissions::default() };
        let edited = ReplyCall {
            provider_id: None,
            name: call.name.clone(),
            arguments: arguments.as_str().to_owned(),
            mended: None,
        };
        let prepared = self.agent().hub().offer(&tools).prepare(&edited, &permissions, &[]);
        match prepared.verdict {
            Verdict::Allow | Verdict::Ask => {
                let preview = prepared.preview.map(|preview| preview_text(&preview, "  ")).unwrap_or_default();
                Ok(EditedCall { arguments, preview: ChatSession::scrubbed(self, &preview).into_owned() })
            }
            Verdict::Deny { reason, .. } | Verdict::Invalid { reason, .. } | Verdict::Unknown { reason, .. } => {
                Err(reason)
            }
        }
    }
}

/// Returns a call as the model requested it.
pub(crate) fn requested(records: &[Envelope], call: CallId) -> Option<CallRequested> {
    records.iter().rev().find_map(|envelope| match &envelope.record {
        Record::CallRequested(request) if request.call == call => Some(request.clone()),
        _ => None,
    })
}
