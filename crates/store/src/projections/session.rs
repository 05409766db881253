//! The session list: key, title, status, last prompt (L4).

use windlass_vocab::{
    CallId, EndReason, Envelope, Record, SessionChanged, SessionEdit, SessionId, Timestamp, parent_in_key,
};

/// How many characters of a prompt a row keeps.
const PROMPT_CHARS: usize = 200;

/// What a session is doing (L4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionStatus {
    /// No run is open.
    Idle,
    /// A run is open and has made no call yet.
    Processing,
    /// A run is open and has made a call.
    ToolLoop,
    /// A run is open and waits for a person's answer.
    Waiting,
    /// The last run failed, or hit its turn cap where that is a failure.
    Failed,
}

impl SessionStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [Self::Idle, Self::Processing, Self::ToolLoop, Self::Waiting, Self::Failed];

    /// The status name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Processing => "processing",
            Self::ToolLoop => "tool_loop",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
        }
    }

    /// Whether a run is open.
    #[must_use]
    pub const fn is_open(self) -> bool {
        match self {
            Self::Processing | Self::ToolLoop | Self::Waiting => true,
            Self::Idle | Self::Failed => false,
        }
    }

    /// The status with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// A session as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The session id.
    pub session: SessionId,
    /// The owner.
    pub owner: String,
    /// The key that a person types to name the session.
    pub key: String,
    /// The title, if set.
    pub title: Option<String>,
    /// The workspace folder of its tools.
    pub workspace: Option<String>,
    /// The current status.
    pub status: SessionStatus,
    /// When it was opened.
    pub created: Timestamp,
    /// When this row last changed: at a message, at the start or end of a run, at a question, when it was taken out of
    /// the archive. Pinning, unpinning and archiving leave it as it was.
    pub updated: Timestamp,
    /// The beginning of the newest message.
    pub last_prompt: Option<String>,
    /// How many runs it has had.
    pub runs: u32,
    /// Whether it is listed before the others, and never cleaned up.
    pub pinned: bool,
    /// When it was archived; `None` if it is not. A message or a new run takes it out of the archive.
    pub archived: Option<Timestamp>,
}

impl SessionRow {
    /// Returns the session that started it, and its position there, if another one did.
    #[must_use]
    pub fn parent(&self) -> Option<(SessionId, CallId)> {
        parent_in_key(&self.key)
    }

    /// Whether the session is already as this edit makes it.
    #[must_use]
    pub fn has(&self, edit: &SessionEdit) -> bool {
        match edit {
            SessionEdit::Title(title) => self.title.as_ref() == Some(title),
            SessionEdit::Pin => self.pinned,
            SessionEdit::Unpin => !self.pinned,
            SessionEdit::Archive => self.archived.is_some(),
            SessionEdit::Unarchive => self.archived.is_none(),
            // The list does not show it, so the journal decides.
            SessionEdit::Compact => false,
        }
    }

    /// Applies a record about the session as a whole; returns whether the session counts as changed.
    fn change(&mut self, changed: &SessionChanged, at: Timestamp) -> CountsAsChange {
        let SessionChanged { title, key, imported, pinned, archived, compact } = changed;
        self.title = title.clone().or(self.title.take());
        if let Some(key) = key {
            self.key.clone_from(key);
        }
        self.pinned = pinned.unwrap_or(self.pinned);
        self.archived = match archived {
            Some(true) => self.archived.or(Some(at)),
            Some(false) => None,
            None => self.archived,
        };
        if let Some(imported) = imported {
            self.workspace.clone_from(&imported.workspace);
            if let Some(owner) = &imported.owner {
                self.owner.clone_from(owner);
            }
            // Another person pinned or archived it; and it is as old as its import, whatever times its records carry.
            (self.pinned, self.archived, self.updated) = (false, None, at);
        }
        let is_only_marked = title.is_none() && key.is_none() && imported.is_none();
        match (pinned, archived, compact) {
            (_, Some(false), _) | (None, None, None) => CountsAsChange::Yes,
            _ if is_only_marked => CountsAsChange::No,
            _ => CountsAsChange::Yes,
        }
    }

    /// Whether the other row has the same owner and key, which together name a session.
    pub(crate) fn has_name_of(&self, other: &Self) -> bool {
        (&self.owner, &self.key) == (&other.owner, &other.key)
    }
}

/// Whether a record moves a session to the front of the list.
enum CountsAsChange {
    Yes,
    No,
}

/// A row, and the state that the fold needs to continue it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionFold {
    /// The row.
    pub row: SessionRow,
    /// Whether the open run has made a call.
    pub called: bool,
    /// Questions of the open run that nobody has answered.
    pub questions: u32,
}

/// Folds records onto the state before them. Returns `None` until the session is opened.
pub fn project<'a>(
    before: Option<SessionFold>,
    records: impl IntoIterator<Item = &'a Envelope>,
) -> Option<SessionFold> {
    let mut fold = before;
    for envelope in records {
        match &mut fold {
            Some(fold) => fold.apply(envelope),
            None => fold = SessionFold::open(envelope),
        }
    }
    fold
}

impl SessionFold {
    fn open(envelope: &Envelope) -> Option<Self> {
        let Record::SessionOpened(opened) = &envelope.record else { return None };
        let row = SessionRow {
            session: envelope.session,
            owner: opened.owner.clone(),
            key: opened.key.clone(),
            title: None,
            workspace: opened.workspace.clone(),
            status: SessionStatus::Idle,
            created: envelope.at,
            updated: envelope.at,
            last_prompt: None,
            runs: 0,
            pinned: false,
            archived: None,
        };
        Some(Self { row, called: false, questions: 0 })
    }

    /// Whether a record of this kind can change a row; other kinds need not be folded.
    #[must_use]
    pub fn reads(record: &Record) -> bool {
        match record {
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::CallRequested(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::RunResumed(_)
            | Record::RunEnded(_) => true,
            Record::LeaseTaken(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::AttemptFailed(_)
            | Record::ModelReplied(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::CallFinished(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::Unknown(_) => false,
        }
    }

    fn apply(&mut self, envelope: &Envelope) {
        let row = &mut self.row;
        match &envelope.record {
            Record::SessionChanged(changed) => match row.change(changed, envelope.at) {
                CountsAsChange::Yes => {}
                CountsAsChange::No => return,
            },
            Record::MessageAccepted(message) => {
                row.archived = None;
                row.last_prompt = Some(message.text.chars().take(PROMPT_CHARS).collect());
            }
            Record::RunStarted(_) => {
                row.runs += 1;
                row.archived = None;
                row.status = SessionStatus::Processing;
                (self.called, self.questions) = (false, 0);
            }
            Record::CallRequested(_) if self.called => return,
            Record::CallRequested(_) => {
                self.called = true;
                self.settle();
            }
            Record::QuestionAsked(_) => {
                self.questions += 1;
                self.settle();
            }
            Record::QuestionAnswered(_) if self.questions == 0 => return,
            Record::QuestionAnswered(_) => {
                self.questions -= 1;
                self.settle();
            }
            Record::RunResumed(resumed) => {
                let withdrawn = resumed.withdrawn.as_ref().map_or(0, Vec::len);
                if withdrawn == 0 {
                    return;
                }
                self.questions = self.questions.saturating_sub(u32::try_from(withdrawn).unwrap_or(u32::MAX));
                self.settle();
            }
            Record::RunEnded(ended) => {
                row.status = status_after(ended.reason);
                (self.called, self.questions) = (false, 0);
            }
            Record::SessionOpened(_)
            | Record::LeaseTaken(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::AttemptFailed(_)
            | Record::ModelReplied(_)
            | Record::CallStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::CallFinished(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::Unknown(_) => return,
        }
        // Records copied by a fork are older than the fork.
        self.row.updated = self.row.updated.max(envelope.at);
    }

    /// Sets the status of an open run.
    fn settle(&mut self) {
        self.row.status = match (self.questions, self.called) {
            (0, false) => SessionStatus::Processing,
            (0, true) => SessionStatus::ToolLoop,
            (_, _) => SessionStatus::Waiting,
        };
    }
}

/// The status of a session whose last run ended like this. A run ends at its turn cap only if the policy says `fail`.
const fn status_after(reason: EndReason) -> SessionStatus {
    match reason {
        EndReason::Failed | EndReason::TurnCap => SessionStatus::Failed,
        EndReason::Completed
        | EndReason::Asked
        | EndReason::Conversed
        | EndReason::Unfinished
        | EndReason::Cancelled
        | EndReason::BudgetSpent => SessionStatus::Idle,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_vocab::EndReason;

    use super::{SessionFold, SessionStatus, project};
    use crate::conformance::sample;
    use crate::{Batch, Entry, Head, Writer};

    #[test]
    fn a_run_that_failed_or_hit_its_cap_leaves_a_session_failed() {
        // proves L4
        let session = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
        for (reason, status) in [
            (EndReason::Completed, SessionStatus::Idle),
            (EndReason::Asked, SessionStatus::Idle),
            (EndReason::Conversed, SessionStatus::Idle),
            (EndReason::Unfinished, SessionStatus::Idle),
            (EndReason::Cancelled, SessionStatus::Idle),
            (EndReason::TurnCap, SessionStatus::Failed),
            (EndReason::BudgetSpent, SessionStatus::Idle),
            (EndReason::Failed, SessionStatus::Failed),
        ] {
            let records = [sample::opened("ada", "notes"), sample::run_started(1), sample::run_ended(reason)];
            let batch = Batch { entries: records.into_iter().map(Entry::new).collect(), ..Batch::default() };
            let sealed = Writer::new(session, Head::default(), 1).seal(batch).unwrap();
            let fold = project(None, sealed.envelopes.iter().map(Arc::as_ref)).unwrap();
            assert_eq!(fold.row.status, status, "{reason:?}");
        }
    }

    #[test]
    fn a_record_that_a_fold_does_not_read_changes_nothing() {
        let session = "0198f3a0-0000-7000-8000-000000000001".parse().unwrap();
        let mut writer = Writer::new(session, Head::default(), 1);
        let mut fold = None;
        for batch in sample::every_kind(session) {
            for envelope in writer.seal(batch).unwrap().envelopes {
                let after = project(fold.clone(), [&*envelope]);
                assert!(SessionFold::reads(&envelope.record) || after == fold, "{}", envelope.record.kind());
                fold = after;
            }
        }
    }
}
