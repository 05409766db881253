//! The chat's session as a server drives it.

use std::borrow::Cow;
use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use windlass::{Event, Record, Session};
use windlass_runtime::{SendOutcome, SessionActivity, StopOutcome};
use windlass_setup::settings::Env;
use windlass_tools::Secrets;
use windlass_vocab::{
    Answer, CallId, CallRequested, Envelope, Json, MessageId, QuestionAnswered, QuestionAsked, QuestionId,
    QuestionKind, QuestionOption, SessionId,
};

use super::activity::RemoteActivity;
use super::feed::{EventFeed, FeedItem};
use super::remote_commands;
use super::requests::{
    MessageReply, RemoteCaller, RemoteFile, RemoteMessage, RemoteNewSession, RemoteStop, RemoteSummary, last_records,
    of_session,
};
use crate::chat::chat_session::{ChatSession, EditedCall, MessageSender, OpenWork, SessionNews, TakenUpSession};
use crate::chat::follow_up::CommandFollowUp;
use crate::chat::mentions::{self, AttachingLine, LineAttachments};
use crate::chat::requested;
use crate::chat::slash::SlashCommand;
use crate::chat::title::title;
use crate::commands::recall::is_of_call;
use crate::error::CommandError;
use crate::output::{harmless_line, harmless_lines, quoted, short_line};
use crate::remote_server::{RefusalKind, RemoteClient, RemoteError};
use crate::screen::{TerminalLook, wrapped_lines};

/// How often a request that may pass is sent again, and after how long first.
const ATTEMPTS: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How long a message of ours may wait after a run before it is taken for dropped.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);

/// What a chat with a server needs of this machine.
#[derive(Debug)]
pub(crate) struct LocalPlace {
    pub(crate) env: Env,
    /// Where paths are that the person types.
    pub(crate) folder: PathBuf,
    /// Where the line history is.
    pub(crate) data_dir: PathBuf,
    pub(crate) secrets: Secrets,
}

/// A session of a server, or the one that the first message will begin.
pub(crate) struct RemoteSession {
    pub(super) client: RemoteClient,
    pub(super) session: Option<RemoteSummary>,
    pub(super) activity: RemoteActivity,
    place: LocalPlace,
    feed: Option<EventFeed>,
    /// The last record seen when the session was taken up.
    head: u64,
    /// The calls of the last run when it was taken up.
    calls: Vec<Record>,
    sent: BTreeSet<MessageId>,
    /// A message whose acceptance is not known: sent again, it keeps its id.
    unanswered: Option<(String, MessageId)>,
    /// News that was taken from the feed before its turn.
    waiting: VecDeque<FeedItem>,
    /// Since when nothing but a queued message of ours keeps the session from being idle.
    queue_since: Option<tokio::time::Instant>,
    begun: Instant,
}

impl RemoteSession {
    pub(crate) fn new(client: RemoteClient, session: Option<RemoteSummary>, place: LocalPlace) -> Self {
        Self {
            client,
            session,
            activity: RemoteActivity::default(),
            place,
            feed: None,
            head: 0,
            calls: Vec::new(),
            sent: BTreeSet::new(),
            unanswered: None,
            waiting: VecDeque::new(),
            queue_since: None,
            begun: Instant::now(),
        }
    }

    /// The session's id, once there is one.
    pub(super) fn id(&self) -> Option<SessionId> {
        self.session.as_ref().map(|session| session.id)
    }

    /// The key by which the session is named.
    pub(super) fn key(&self) -> Option<&str> {
        self.session.as_ref().map(|session| session.key.as_str())
    }

    /// Goes to another session, or to none yet.
    pub(super) fn go_to(&mut self, session: Option<RemoteSummary>) {
        self.let_go();
        self.session = session;
    }

    /// Whether the message was sent from here.
    pub(super) fn has_sent(&self, message: &MessageId) -> bool {
        self.sent.contains(message)
    }

    /// Returns all records of the session.
    pub(super) async fn records(&self) -> Result<Vec<Envelope>, RemoteError> {
        match self.id() {
            Some(id) => last_records(&self.client, id, |_| false).await,
            None => Ok(Vec::new()),
        }
    }

    /// Returns the records from the start of the last run on, at least.
    async fn records_of_last_run(&self, id: SessionId) -> Result<Vec<Envelope>, RemoteError> {
        last_records(&self.client, id, |envelope| matches!(envelope.record, Record::RunStarted(_))).await
    }

    /// Begins to follow the session, if it is not followed.
    pub(super) async fn follow(&mut self) -> Result<(), RemoteError> {
        let Some(id) = self.id() else { return Ok(()) };
        if self.feed.is_none() {
            self.read(id).await?;
            self.feed = Some(EventFeed::start(self.client.clone(), id, self.head, self.activity.clone()));
        }
        Ok(())
    }

    /// Reads where the session is.
    async fn read(&mut self, id: SessionId) -> Result<Vec<Envelope>, RemoteError> {
        let records = self.records_of_last_run(id).await?;
        let mut activity = RemoteActivity::default();
        records.iter().for_each(|envelope| activity.record(envelope));
        self.activity = activity;
        self.head = records.last().map_or(0, |last| last.seq);
        self.calls = calls_of_last_run(&records);
        Ok(records)
    }

    /// Begins a session on the server, if there is none.
    async fn ensure_session(&mut self, text: &str) -> Result<SessionId, RemoteError> {
        if let Some(id) = self.id() {
            return Ok(id);
        }
        let title = title(text);
        let title = Some(title.as_str()).filter(|title| !title.is_empty() && !title.chars().any(char::is_control));
        let made: RemoteSummary = self.client.post("api/sessions", &RemoteNewSession { title }).await?;
        let id = made.id;
        self.session = Some(made);
        Ok(id)
    }

    /// Sends a message until the server has taken it; the key makes sure that it counts once (J6).
    async fn deliver(
        &self,
        id: SessionId,
        key: &MessageId,
        message: &RemoteMessage<'_>,
    ) -> Result<MessageReply, RemoteError> {
        let (path, MessageId(key)) = (of_session(id, "/messages"), key);
        let mut pause = FIRST_PAUSE;
        for _ in 1..ATTEMPTS {
            match self.client.post_once(&path, key, message).await {
                Err(error) if error.may_pass() => {
                    tokio::time::sleep(error.retry_after().unwrap_or(pause).min(pause * 4)).await;
                    pause *= 2;
                }
                done => return done,
            }
        }
        self.client.post_once(&path, key, message).await
    }

    /// Sends a message with these files. Returns the run that took it up, if one did.
    pub(super) async fn say(
        &mut self,
        text: &str,
        files: Vec<RemoteFile>,
    ) -> Result<(SendOutcome, MessageId), RemoteError> {
        let id = self.ensure_session(text).await?;
        self.follow().await?;
        let message = match self.unanswered.take() {
            Some((before, message)) if before == text => message,
            Some(_) | None => MessageId(uuid::Uuid::now_v7().to_string()),
        };
        self.sent.insert(message.clone());
        let accepted = self.deliver(id, &message, &RemoteMessage { text, files }).await;
        if accepted.as_ref().is_err_and(RemoteError::may_pass) {
            self.unanswered = Some((text.to_owned(), message.clone()));
        }
        Ok(match accepted?.run {
            Some(run) => {
                self.activity.begun(run);
                (SendOutcome::TakenUp(run), message)
            }
            None => {
                self.activity.queued(message.clone());
                (SendOutcome::Queued, message)
            }
        })
    }

    /// Stops the run.
    pub(super) async fn stop_run(&mut self) -> Result<StopOutcome, RemoteError> {
        let Some(id) = self.id() else { return Ok(StopOutcome { runs: 0, dropped: 0 }) };
        let stopped: RemoteStop = self.client.post(&of_session(id, "/stop"), &NoContent {}).await?;
        self.activity.drop_queued();
        Ok(StopOutcome { runs: stopped.runs, dropped: stopped.dropped })
    }

    /// Takes an item of the feed; `None` where it is nothing to tell.
    fn take(&mut self, item: FeedItem) -> SessionNews {
        match item {
            FeedItem::Event(event) => {
                if let Event::Record(envelope) = &event {
                    self.activity.record(envelope);
                    self.remember(&envelope.record);
                }
                SessionNews::Event(event)
            }
            FeedItem::Lost(reason) => SessionNews::Notice(format!("({reason}; reconnecting…)")),
            FeedItem::Back => SessionNews::Notice("(back; nothing was missed)".to_owned()),
            FeedItem::Refused(error) => {
                self.let_go();
                SessionNews::Failed(error.into())
            }
        }
    }

    fn remember(&mut self, record: &Record) {
        if matches!(record, Record::RunStarted(_)) {
            self.calls.clear();
        } else if is_of_call(record) {
            self.calls.push(record.clone());
        }
    }

    fn let_go(&mut self) {
        self.feed = None;
        self.waiting.clear();
        self.activity = RemoteActivity::default();
    }

    /// Waits for the next item of the feed, not for ever where only a message of ours seems to wait.
    async fn next_item(&mut self) -> Option<FeedItem> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(item);
        }
        let feed = self.feed.as_mut()?;
        if !self.activity.waits_for_queue() {
            self.queue_since = None;
            return feed.next().await;
        }
        // This future is dropped and made again all the time, so the limit is a moment, not a while.
        let until = *self.queue_since.get_or_insert_with(tokio::time::Instant::now) + QUEUE_LIMIT;
        match tokio::time::timeout_at(until, feed.next()).await {
            Ok(item) => item,
            Err(_) => {
                self.activity.drop_queued();
                None
            }
        }
    }
}

/// A body without content.
#[derive(serde::Serialize)]
pub(super) struct NoContent {}

/// Returns the calls of the last run and the questions about them.
fn calls_of_last_run(records: &[Envelope]) -> Vec<Record> {
    let begin = records.iter().rposition(|envelope| matches!(envelope.record, Record::RunStarted(_))).unwrap_or(0);
    let records = records.iter().skip(begin).map(|envelope| &envelope.record);
    records.filter(|record| is_of_call(record)).cloned().collect()
}

impl ChatSession for RemoteSession {
    fn env(&self) -> &Env {
        &self.place.env
    }

    fn workspace(&self) -> &Path {
        &self.place.folder
    }

    fn data_dir(&self) -> &Path {
        &self.place.data_dir
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn scrubbed<'text>(&self, text: &'text str) -> Cow<'text, str> {
        self.place.secrets.scrub(text)
    }

    fn warm_up(&self) {}

    async fn banner(&self, look: TerminalLook) -> Result<String, CommandError> {
        let me: RemoteCaller = self.client.get("api/me", &[]).await?;
        let dot = look.glyphs.dot();
        let model = me.model.as_deref().unwrap_or("the demo model");
        let folder = self.session.as_ref().and_then(|session| session.folder.as_deref());
        let folder = folder.or(me.folders.first().map(String::as_str)).unwrap_or_default();
        let session = self.session.as_ref().map_or_else(
            || "a new session".to_owned(),
            |session| format!("session {}: {}", session.key, super::replies::about(session)),
        );
        let lines = [
            format!("Windlass {} at {} {dot} {model} {dot} {folder}", me.version, self.client.base()),
            short_line(&format!("{} {dot} {session}", me.user), look.columns()),
            format!("/help {dot} Ctrl-C stops a run {dot} Ctrl-D leaves"),
        ];
        Ok(wrapped_lines(&harmless_lines(&lines.join("\n")), look.columns()))
    }

    async fn farewell(&mut self) -> String {
        let Some(key) = self.key() else { return String::new() };
        let again = format!("windlass attach {} --session {}", self.client.base(), quoted(&harmless_line(key)));
        match self.activity.now() {
            SessionActivity::Idle | SessionActivity::Closed(_) => format!("`{again}` takes this session up again.\n"),
            SessionActivity::Working | SessionActivity::Waiting(_) => {
                format!("The run goes on at the server; `{again}` shows it.\n")
            }
        }
    }

    async fn take_up(&mut self) -> Result<Option<TakenUpSession>, CommandError> {
        let Some(id) = self.id() else { return Ok(None) };
        let records = self.read(id).await?;
        let open = match self.activity.now() {
            SessionActivity::Idle | SessionActivity::Closed(_) => OpenWork::None,
            SessionActivity::Working | SessionActivity::Waiting(_) => OpenWork::Some,
        };
        Ok(Some(TakenUpSession { records, open }))
    }

    async fn open_work(&mut self) -> Result<(), CommandError> {
        Ok(self.follow().await?)
    }

    async fn close(&mut self) {
        self.let_go();
    }

    async fn leave(&mut self) {
        self.feed = None;
    }

    async fn next(&mut self) -> SessionNews {
        // What the feed has comes before what follows from it.
        if self.waiting.is_empty()
            && let Some(item) = self.feed.as_mut().and_then(EventFeed::try_next)
        {
            return self.take(item);
        }
        if self.waiting.is_empty() {
            match self.activity.now() {
                SessionActivity::Working => {}
                settled @ (SessionActivity::Idle | SessionActivity::Waiting(_) | SessionActivity::Closed(_)) => {
                    return SessionNews::Settled(settled);
                }
            }
        }
        match self.next_item().await {
            Some(item) => self.take(item),
            None => SessionNews::Settled(SessionActivity::Idle),
        }
    }

    fn try_next(&mut self) -> Option<Event> {
        if !self.waiting.is_empty() {
            return None;
        }
        match self.feed.as_mut()?.try_next()? {
            FeedItem::Event(event) => match self.take(FeedItem::Event(event)) {
                SessionNews::Event(event) => Some(event),
                SessionNews::Settled(_) | SessionNews::Notice(_) | SessionNews::Failed(_) => None,
            },
            other @ (FeedItem::Lost(_) | FeedItem::Back | FeedItem::Refused(_)) => {
                self.waiting.push_back(other);
                None
            }
        }
    }

    fn server_news(&mut self) -> Vec<String> {
        Vec::new()
    }

    async fn calls_of_last_run(&self) -> Result<Vec<Record>, CommandError> {
        Ok(self.calls.clone())
    }

    fn stopped_when_blocked(&self) -> Option<Session> {
        None
    }

    fn attaching(&self, line: &str, pasted: Vec<String>) -> AttachingLine {
        let home = self.place.env.home();
        AttachingLine { line: line.to_owned(), pasted, workspace: self.place.folder.clone(), home }
    }

    async fn attach(&self, line: AttachingLine) -> Result<LineAttachments, String> {
        let read = tokio::task::spawn_blocking(move || mentions::attach(&line)).await;
        read.map_err(|error| format!("the files can't be read: {error}; nothing was sent"))?
    }

    async fn send(
        &mut self,
        text: String,
        attached: LineAttachments,
    ) -> Result<(SendOutcome, MessageId), CommandError> {
        let read = attached.paths.iter().map(|path| RemoteFile::read(path));
        let files = read.collect::<std::io::Result<Vec<_>>>().map_err(|error| CommandError::output(&error))?;
        Ok(self.say(&text, files).await?)
    }

    fn sender(&self, message: &MessageId) -> MessageSender {
        if self.sent.contains(message) { MessageSender::Here } else { MessageSender::Elsewhere }
    }

    async fn stop(&mut self) -> Result<StopOutcome, CommandError> {
        Ok(self.stop_run().await?)
    }

    async fn perform(&mut self, command: SlashCommand) -> Result<CommandFollowUp, CommandError> {
        remote_commands::perform(self, command).await
    }

    async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<String, CommandError> {
        let Some(id) = self.id() else { return Ok(String::new()) };
        let option = answer.option;
        let path = of_session(id, &format!("/questions/{}/answer", asked.question));
        let taken = self.client.post::<serde_json::Value>(&path, &answer).await;
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
        match taken {
            Ok(_) => self.activity.answered(asked.question),
            Err(error) if matches!(error.kind(), Some(RefusalKind::AlreadyAnswered | RefusalKind::RunIsOver)) => {
                self.activity.answered(asked.question);
                return Ok(format!("too late: {}\n", error.advised()));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(match (option, rule, asked.kind.subject()) {
            (QuestionOption::Session, Some(rule), QuestionKind::Approval { .. }) => {
                format!("allowed for this session: {}\n", harmless_line(rule))
            }
            (QuestionOption::Always, Some(rule), QuestionKind::Approval { .. }) => {
                format!("allowed by you at this server: {}\n", harmless_line(rule))
            }
            (..) => String::new(),
        })
    }

    async fn wait_past_question(&self, question: QuestionId) {
        if let Some(feed) = &self.feed {
            feed.wait_past_question(question).await;
        }
    }

    async fn find_answer(&self, question: QuestionId) -> Result<Option<QuestionAnswered>, CommandError> {
        let Some(id) = self.id() else { return Ok(None) };
        // Where the server can't be asked now, the events tell it later.
        let records = self.records_of_last_run(id).await.unwrap_or_default();
        Ok(records.into_iter().rev().find_map(|envelope| match envelope.record {
            Record::QuestionAnswered(answered) if answered.question == question => Some(answered),
            _ => None,
        }))
    }

    async fn call_request(&self, call: CallId) -> Result<Option<CallRequested>, CommandError> {
        let Some(id) = self.id() else { return Ok(None) };
        Ok(requested(&self.records_of_last_run(id).await?, call))
    }

    /// The tools are the server's: it checks the arguments when it has them.
    async fn check_edit(&self, call: &CallRequested, arguments: Json) -> Result<EditedCall, String> {
        let value = arguments.to_value();
        let text = serde_json::to_string_pretty(&value).unwrap_or_else(|_| arguments.as_str().to_owned());
        let preview = harmless_lines(&format!("{} with\n{text}", call.name));
        Ok(EditedCall { arguments, preview })
    }
}
