//! Inputs: what the outside tells the machine.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Answer, AnsweredBy, Attendance, CallId, CommandExit, Cut, Elicitation, Failure, FilesChanged, Json, LeaseTaken,
    MessageId, ModelName, OutcomeKind, OutputSpec, Part, Pause, PinnedContext, PlanItem, Policy, PreparedCall, Preview,
    QuestionId, Remedy, SessionChanged, SessionOpened, SnapshotTaken, StopBy, StopReason, TextOrigin, Timestamp,
    UndoId, Usage, VerdictReason,
};

use crate::AttemptKey;
use crate::undo::CheckedUndo;

/// A fact and when it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// When.
    pub at: Timestamp,
    /// What.
    pub fact: Fact,
}

/// The terms a run is begun under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// The rules, resolved.
    pub policy: Policy,
    /// The agent's name.
    pub agent: String,
    /// The models to try, in order.
    pub chain: Vec<ModelName>,
    /// When it must be over.
    pub deadline: Option<Timestamp>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// What its answer must fit, where plain text is not enough.
    pub output: Option<OutputSpec>,
    /// The server its models are reached at, where there is one.
    pub server: Option<String>,
}

/// A call's result, already cut to what the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// How it came out.
    pub outcome: OutcomeKind,
    /// The text the model sees.
    pub text: String,
    /// What was left out.
    pub cut: Option<Cut>,
    /// How long it took.
    pub took_ms: u64,
    /// Structure beside the text.
    pub structured: Option<Json>,
    /// How the command ended, where the call ran one.
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside.
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run.
    pub remedy: Option<Remedy>,
    /// The plan after the call, if the call changed it.
    pub plan: Option<Vec<PlanItem>>,
    /// What it changed in the files, where they were kept.
    pub files: Option<FilesChanged>,
}

impl CallResult {
    /// A result that is only text, which took no time.
    #[must_use]
    pub fn new(outcome: OutcomeKind, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
            cut: None,
            took_ms: 0,
            structured: None,
            exit: None,
            origin: None,
            remedy: None,
            plan: None,
            files: None,
        }
    }
}

/// What a tool says about a call that may have taken place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifiedCall {
    /// It did, and this is its result.
    Done(Box<CallResult>),
    /// It did not.
    NotDone,
    /// It can't tell.
    Unknown,
}

/// What becomes of calls that wait for approval when a run is taken up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenApprovals {
    /// They are judged again, and their questions are withdrawn.
    #[default]
    CheckedAgain,
    /// Their questions stay: somebody brings an answer. A yes counts if the same would be shown now.
    Answered,
    /// Older versions left them as they were; for replaying their journals.
    LeftAlone,
}

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The session was opened, by the writer that takes it.
    Opened(SessionOpened, LeaseTaken),
    /// Its title or key changed.
    Changed(SessionChanged),
    /// A writer took it.
    LeaseTaken(LeaseTaken),
    /// A message is there to be taken up.
    Message {
        /// The sender's id for it.
        message_id: MessageId,
        /// What it says.
        text: String,
        /// The terms of the run it begins, if it begins one.
        run_settings: Box<RunSettings>,
    },
    /// A person wants another try at the run that ended badly.
    Retried(Box<RunSettings>),
    /// This process took up what another left.
    Resumed {
        /// Whether a person can be asked now.
        attendance: Attendance,
        /// A new deadline.
        deadline: Option<Timestamp>,
        /// What becomes of calls that wait for approval.
        approvals: OpenApprovals,
    },
    /// The prefix and the offer were gathered.
    Pinned(PinnedContext),
    /// What the open run offers has changed since it was pinned.
    OfferChanged {
        /// What it sends before the conversation from now on.
        context: PinnedContext,
        /// The servers whose tools joined.
        joined: BTreeSet<String>,
    },
    /// A model call failed.
    Failed {
        /// Which.
        attempt: AttemptKey,
        /// How.
        failure: Failure,
        /// What it is charged.
        usage: Option<Usage>,
    },
    /// A model answered.
    Replied {
        /// Which attempt.
        attempt: AttemptKey,
        /// What it said; calls by index.
        parts: Vec<Part>,
        /// Why it stopped.
        stop: StopReason,
        /// What it cost.
        usage: Usage,
        /// The calls, by index.
        calls: Vec<PreparedCall>,
        /// What is wrong with it as the output that was asked for.
        misfit: Option<String>,
        /// What the model is told about a call in it that can't be read.
        malformed: Option<String>,
    },
    /// A model call was aborted; this had been streamed.
    HandedBack {
        /// Which attempt.
        attempt: AttemptKey,
        /// The text so far.
        text: String,
        /// What it is charged.
        usage: Usage,
    },
    /// A call has its result.
    CallDone {
        /// Which.
        call: CallId,
        /// The result.
        finished: CallResult,
    },
    /// The rules of today want a person asked about a call that was to run now (X6). It has not run.
    CallNeedsApproval {
        /// Which.
        call: CallId,
        /// What is shown of it.
        preview: Option<Preview>,
        /// What decided that; nothing in journals of older versions, which did not say.
        because: Option<VerdictReason>,
    },
    /// The rules of today let a call run that was judged by another process (X6).
    CallAllowed {
        /// Which.
        call: CallId,
    },
    /// A call can't go on before the person has answered.
    CallPaused {
        /// Which.
        call: CallId,
        /// What it must be given back, and what it asks.
        pause: Pause,
    },
    /// A call under way needs something of the person; it waits for the answer.
    Elicited {
        /// Which.
        call: CallId,
        /// What it needs.
        elicitation: Elicitation,
    },
    /// A tool says whether a call took place.
    CallVerified {
        /// Which.
        call: CallId,
        /// What it says.
        verified: VerifiedCall,
    },
    /// A question was answered, or its time ran out.
    Answered {
        /// Which.
        question: QuestionId,
        /// How.
        answer: Answer,
        /// By whom.
        by: AnsweredBy,
    },
    /// A stop was asked for.
    Stopped(StopBy),
    /// The files that a call may change are kept.
    Snapshot(SnapshotTaken),
    /// What a call changed that was stopped before it could say so.
    FilesChanged(FilesChanged),
    /// Files are to be put back.
    Undo(Box<CheckedUndo>),
    /// They are.
    Restored {
        /// By which undo.
        undo: UndoId,
        /// Paths that were left as they are, and why.
        left_alone: BTreeMap<String, String>,
    },
    /// The session was forked here; what is open goes on only where it was begun.
    Forked,
}
