//! What a chat needs of the session it talks in, whether this process drives it ([`super::conversation`]) or a server does
//! ([`crate::attach`]): the terminal, the questions and the commands are the same for both.

use std::borrow::Cow;
use std::path::Path;

use windlass::{Event, Record, Session};
use windlass_runtime::{SendOutcome, SessionActivity, StopOutcome};
use windlass_setup::settings::Env;
use windlass_vocab::{
    Answer, CallId, CallRequested, Envelope, Json, MessageId, QuestionAnswered, QuestionAsked, QuestionId,
};

use super::follow_up::CommandFollowUp;
use super::mentions::{AttachingLine, LineAttachments};
use super::slash::SlashCommand;
use crate::error::CommandError;
use crate::screen::TerminalLook;

/// What happens with a session while it is followed.
#[derive(Debug)]
pub(crate) enum SessionNews {
    /// An event.
    Event(Event),
    /// All events so far were returned, and the session does this now.
    Settled(SessionActivity),
    /// Something about the way to the session, for the person.
    Notice(String),
    /// The session can't be followed any more.
    Failed(CommandError),
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageSender {
    /// The person at this chat: it was typed above.
    Here,
    /// Somebody else.
    Elsewhere,
}

/// A call with the arguments that a person wrote.
pub(crate) struct EditedCall {
    /// The arguments that the call would run with.
    pub(crate) arguments: Json,
    /// Preview of the effects of the call.
    pub(crate) preview: String,
}

/// A session as it is when a chat takes it up.
pub(crate) struct TakenUpSession {
    /// Its last records, or all of them.
    pub(crate) records: Vec<Envelope>,
    /// Whether there is something to follow.
    pub(crate) open: OpenWork,
}

/// Whether a run is open or a message waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenWork {
    Some,
    None,
}

/// A session that a chat talks in. It is opened when something is sent to it.
pub(crate) trait ChatSession {
    /// The environment of the person.
    fn env(&self) -> &Env;

    /// The folder in which the paths are that the person types.
    fn workspace(&self) -> &Path;

    /// Where the chat keeps its line history.
    fn data_dir(&self) -> &Path;

    /// The time by which waiting is shown, in milliseconds.
    fn now(&self) -> u64;

    /// Returns the text with secrets replaced, as in the journal (X1).
    fn scrubbed<'text>(&self, text: &'text str) -> Cow<'text, str>;

    /// Prepares what takes a while, before the person has typed anything.
    fn warm_up(&self);

    /// Model, folder, session, and protections that are switched off.
    async fn banner(&self, look: TerminalLook) -> Result<String, CommandError>;

    /// Says how to come back to the session.
    async fn farewell(&mut self) -> String;

    /// Returns the session as it is; `None` where there is none yet.
    async fn take_up(&mut self) -> Result<Option<TakenUpSession>, CommandError>;

    /// Opens the session to follow what is under way.
    async fn open_work(&mut self) -> Result<(), CommandError>;

    /// Lets the session go. An open run stays open.
    async fn close(&mut self);

    /// Ends what was started for the chat.
    async fn leave(&mut self);

    /// Waits for what happens next. Dropping the future loses nothing.
    async fn next(&mut self) -> SessionNews;

    /// Returns the next event if it is there already.
    fn try_next(&mut self) -> Option<Event>;

    /// Returns what is new about the tool servers, for the person.
    fn server_news(&mut self) -> Vec<String>;

    /// Returns the calls of the last run and the questions about them.
    async fn calls_of_last_run(&self) -> Result<Vec<Record>, CommandError>;

    /// Returns the session whose run Ctrl-C stops where the chat itself is blocked.
    fn stopped_when_blocked(&self) -> Option<Session>;

    /// Returns a line with where the files are that it names.
    fn attaching(&self, line: &str, pasted: Vec<String>) -> AttachingLine;

    /// Reads the files that a line names. An error says why the line should not be sent.
    async fn attach(&self, line: AttachingLine) -> Result<LineAttachments, String>;

    /// Sends a message. Returns the outcome and the message's id.
    async fn send(&mut self, text: String, attached: LineAttachments)
    -> Result<(SendOutcome, MessageId), CommandError>;

    /// Says who sent a message.
    fn sender(&self, message: &MessageId) -> MessageSender;

    /// Stops the open run, ahead of queued messages, which are dropped (L8).
    async fn stop(&mut self) -> Result<StopOutcome, CommandError>;

    /// Executes a slash command.
    async fn perform(&mut self, command: SlashCommand) -> Result<CommandFollowUp, CommandError>;

    /// Gives the answer to a question. Returns what the person should know of its effect, in whole lines.
    async fn answer(&mut self, asked: &QuestionAsked, answer: Answer) -> Result<String, CommandError>;

    /// Waits until the question is asked no more.
    async fn wait_past_question(&self, question: QuestionId);

    /// Returns the answer to a question, if it has one.
    async fn find_answer(&self, question: QuestionId) -> Result<Option<QuestionAnswered>, CommandError>;

    /// Returns the call as the model requested it.
    async fn call_request(&self, call: CallId) -> Result<Option<CallRequested>, CommandError>;

    /// Returns the call if it may run with these arguments, else the problem.
    async fn check_edit(&self, call: &CallRequested, arguments: Json) -> Result<EditedCall, String>;
}
