//! The handle to a live session. Cheap to clone; the driver lives until the last handle is dropped or `close` is
//! called. A run that is open then stays open and continues when the session is opened again.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use windlass_store::Store;
use windlass_vocab::{
    Answer, AttachedFile, MessageId, QuestionAsked, QuestionId, RunId, SessionEdit, SessionId, StopBy,
};

use crate::closed::SessionClosed;
use crate::feed::{Feed, Interest};
use crate::membership::{Membership, OtherMembers};
use crate::subscription::Subscription;
use crate::undo_report::{UndoError, UndoReport, UndoRequest};

/// A message that a session is opened for.
#[derive(Clone, Debug)]
pub struct FirstMessage {
    /// Its id.
    pub message_id: MessageId,
    /// The message.
    pub message: SentMessage,
}

/// A person's message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentMessage {
    /// The text.
    pub text: String,
    /// The files attached to it.
    pub files: Vec<AttachedFile>,
}

impl From<String> for SentMessage {
    fn from(text: String) -> Self {
        Self { text, files: Vec::new() }
    }
}

impl From<&str> for SentMessage {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for SentMessage {
    fn from(text: &String) -> Self {
        Self::from(text.to_owned())
    }
}

/// The outcome of sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// This run accepted it: the message started the run, or joined it.
    TakenUp(RunId),
    /// It waits in the inbox.
    Queued,
    /// Its id was known: it belongs to this run and was not added again (J6).
    Known(RunId),
}

/// The outcome of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopOutcome {
    /// Runs stopped: 1 or 0.
    pub runs: u32,
    /// Dropped messages that no model had seen: those in the inbox, and those that had joined the run.
    pub dropped: usize,
}

/// What became of the wish to take a compaction back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionUndo {
    /// What the last compaction left out is sent again, from the next run on.
    Restored,
    /// A compaction had been asked for and was not done yet: it will not be done.
    Withdrawn,
    /// What was left out does not fit any more; nothing was changed.
    TooLong,
    /// A run or an undo of files is open; nothing was changed.
    Busy,
    /// Nothing was left out, or it was taken back already.
    Nothing,
}

/// The activity of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionActivity {
    /// No run is open and no message waits.
    Idle,
    /// A run is open and an effect is running.
    Working,
    /// A run is open and only a person can continue it.
    Waiting(Vec<QuestionAsked>),
    /// The driver is gone.
    Closed(SessionClosed),
}

/// When a message that is not known yet is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SendCondition {
    /// It would start a run at once.
    Idle,
    /// Fewer than so many messages wait.
    FewerWait(usize),
}

/// A command for a driver.
pub(crate) enum DriverCommand {
    Send {
        message_id: MessageId,
        message: SentMessage,
        reply: oneshot::Sender<SendOutcome>,
    },
    SendIf {
        condition: SendCondition,
        message_id: MessageId,
        message: SentMessage,
        reply: oneshot::Sender<Option<SendOutcome>>,
    },
    Stop {
        by: StopBy,
        reply: oneshot::Sender<StopOutcome>,
    },
    Answer {
        question: QuestionId,
        answer: Answer,
        reply: oneshot::Sender<Acceptance>,
    },
    Retry {
        reply: oneshot::Sender<Option<RunId>>,
    },
    Undo {
        request: UndoRequest,
        reply: oneshot::Sender<Result<UndoReport, UndoError>>,
    },
    Edit {
        edit: SessionEdit,
        reply: oneshot::Sender<()>,
    },
    UndoCompaction {
        reply: oneshot::Sender<CompactionUndo>,
    },
    /// Start nothing more, finish what is under way, and end.
    Drain,
    /// End at once.
    Close,
}

/// How a driver is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriverEnd {
    /// What is under way is finished first.
    Drained,
    /// What is under way is cut short.
    AtOnce,
}

/// Whether a driver starts what is owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriverPhase {
    /// It does.
    Driving,
    /// It only waits for what is under way.
    Draining,
}

/// Whether a request was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Yes,
    No,
}

/// A live session.
#[derive(Clone)]
pub struct Session {
    pub(crate) id: SessionId,
    pub(crate) store: Arc<dyn Store>,
    /// Boxed, because a channel reserves space for many items from the start.
    pub(crate) commands: mpsc::Sender<Box<DriverCommand>>,
    pub(crate) feed: Feed,
    pub(crate) activity: watch::Receiver<SessionActivity>,
    pub(crate) membership: Arc<Membership>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Session {
    /// Returns its id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Returns every event from now on.
    #[must_use]
    pub fn events(&self) -> Subscription {
        self.events_from_now(Interest::Everything)
    }

    /// Returns accepted messages and the start and end of runs, from now on: cheaper where no more is needed.
    #[must_use]
    pub fn runs(&self) -> Subscription {
        self.events_from_now(Interest::Runs)
    }

    pub(crate) fn events_from_now(&self, interest: Interest) -> Subscription {
        self.events_after(self.feed.head(), interest)
    }

    pub(crate) fn events_after(&self, seq: u64, interest: Interest) -> Subscription {
        Subscription::new(self.id, Arc::clone(&self.store), self.feed.clone(), interest, seq)
    }

    /// Sends it a message; returns once the message is stored, in the journal or in the inbox.
    pub async fn send(
        &self,
        message_id: MessageId,
        message: impl Into<SentMessage>,
    ) -> Result<SendOutcome, SessionClosed> {
        let message = message.into();
        self.ask(|reply| DriverCommand::Send { message_id, message, reply }).await
    }

    /// Like [`Self::send`], if the message would start a run at once or is known; `None`, with nothing stored, where
    /// the session is busy: a run is open, or messages wait (J6).
    pub async fn send_if_idle(
        &self,
        message_id: MessageId,
        message: impl Into<SentMessage>,
    ) -> Result<Option<SendOutcome>, SessionClosed> {
        let message = message.into();
        let condition = SendCondition::Idle;
        self.ask(|reply| DriverCommand::SendIf { condition, message_id, message, reply }).await
    }

    /// Like [`Self::send`], if fewer messages than `most` wait, in the inbox or for the next turn, or if the message is
    /// known; `None`, with nothing stored, otherwise.
    pub async fn send_if_fewer_wait(
        &self,
        most: usize,
        message_id: MessageId,
        message: impl Into<SentMessage>,
    ) -> Result<Option<SendOutcome>, SessionClosed> {
        let (message, condition) = (message.into(), SendCondition::FewerWait(most));
        self.ask(|reply| DriverCommand::SendIf { condition, message_id, message, reply }).await
    }

    /// Stops the open run and drops the waiting messages (L8).
    pub async fn stop(&self, by: StopBy) -> Result<StopOutcome, SessionClosed> {
        self.ask(|reply| DriverCommand::Stop { by, reply }).await
    }

    /// Answers a question; `false` when it no longer waits or offers no such answer.
    pub async fn answer(&self, question: QuestionId, answer: Answer) -> Result<bool, SessionClosed> {
        Ok(self.ask(|reply| DriverCommand::Answer { question, answer, reply }).await? == Acceptance::Yes)
    }

    /// Retries the last run if it failed; `None` when it did not.
    pub async fn retry(&self) -> Result<Option<RunId>, SessionClosed> {
        self.ask(|reply| DriverCommand::Retry { reply }).await
    }

    /// Reverses a call's changes to files, or an earlier undo (T9). Refused while a run is open.
    pub async fn undo(&self, request: UndoRequest) -> Result<UndoReport, UndoError> {
        self.ask(|reply| DriverCommand::Undo { request, reply }).await?
    }

    /// Gives the session a title for people.
    pub async fn set_title(&self, title: impl Into<String>) -> Result<(), SessionClosed> {
        self.edit(SessionEdit::Title(title.into())).await
    }

    /// Changes something about the session as a whole: its title, whether it is pinned or archived.
    pub async fn edit(&self, edit: SessionEdit) -> Result<(), SessionClosed> {
        self.ask(|reply| DriverCommand::Edit { edit, reply }).await
    }

    /// Has the conversation so far summarised before the next run answers (C5): only a run calls a model. The wish is
    /// stored, so it outlives this process.
    pub async fn compact(&self) -> Result<(), SessionClosed> {
        self.edit(SessionEdit::Compact).await
    }

    /// Withdraws a compaction that was asked for and not done yet; else has what the last one left out sent again.
    pub async fn undo_compaction(&self) -> Result<CompactionUndo, SessionClosed> {
        self.ask(|reply| DriverCommand::UndoCompaction { reply }).await
    }

    /// Returns its current activity.
    #[must_use]
    pub fn activity(&self) -> SessionActivity {
        self.activity.borrow().clone()
    }

    /// Waits until it is idle, waits for a person, or is closed.
    pub async fn settled(&self) -> SessionActivity {
        let mut activity = self.activity.clone();
        let settled = activity.wait_for(|activity| !matches!(activity, SessionActivity::Working)).await;
        settled.map_or(SessionActivity::Closed(SessionClosed::Closed), |activity| activity.clone())
    }

    /// Waits until only a person can continue the session, or it is closed.
    pub async fn wait_for_person(&self) -> SessionActivity {
        let mut activity = self.activity.clone();
        let stuck = activity
            .wait_for(|activity| matches!(activity, SessionActivity::Waiting(_) | SessionActivity::Closed(_)))
            .await;
        stuck.map_or(SessionActivity::Closed(SessionClosed::Closed), |activity| activity.clone())
    }

    /// Waits until this question is no longer open: it was answered, it expired, or its run was stopped.
    pub async fn wait_past_question(&self, question: QuestionId) {
        let waits = |activity: &SessionActivity| match activity {
            SessionActivity::Waiting(questions) => questions.iter().any(|asked| asked.question == question),
            SessionActivity::Idle | SessionActivity::Working | SessionActivity::Closed(_) => false,
        };
        // An error means that the driver is gone, and its questions with it.
        let _ = self.activity.clone().wait_for(|activity| !waits(activity)).await;
    }

    /// Releases the session, for this handle and its clones. Where nobody else has it open, its lease is free when this
    /// returns; an open run stays open.
    pub async fn close(self) {
        match self.membership.leave() {
            OtherMembers::Remain => {}
            OtherMembers::None => self.end_driver(DriverEnd::AtOnce).await,
        }
    }

    /// Ends the driver, even where others have a handle.
    pub(crate) async fn end_driver(self, end: DriverEnd) {
        let mut activity = self.activity.clone();
        let command = match end {
            DriverEnd::Drained => DriverCommand::Drain,
            DriverEnd::AtOnce => DriverCommand::Close,
        };
        if self.commands.send(Box::new(command)).await.is_ok() {
            let _ = activity.wait_for(|activity| matches!(activity, SessionActivity::Closed(_))).await;
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> DriverCommand) -> Result<T, SessionClosed> {
        let (reply, answer) = oneshot::channel();
        if self.commands.send(Box::new(command(reply))).await.is_err() {
            return Err(self.why_closed().await);
        }
        // A command sent just as the driver ends is neither read nor dropped while handles live, so waiting for its
        // reply alone could hang.
        tokio::select! {
            biased;
            answer = answer => match answer {
                Ok(answer) => Ok(answer),
                Err(_) => Err(self.why_closed().await),
            },
            why = self.why_closed() => Err(why),
        }
    }

    async fn why_closed(&self) -> SessionClosed {
        let mut activity = self.activity.clone();
        match activity.wait_for(|activity| matches!(activity, SessionActivity::Closed(_))).await.as_deref() {
            Ok(SessionActivity::Closed(why)) => why.clone(),
            Ok(SessionActivity::Idle | SessionActivity::Working | SessionActivity::Waiting(_)) | Err(_) => {
                SessionClosed::Closed
            }
        }
    }
}
