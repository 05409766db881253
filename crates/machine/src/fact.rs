//! Inputs of the machine: facts that the driver reports.

use std::collections::{BTreeMap, BTreeSet};

use windlass_vocab::{
    Answer, AnsweredBy, Attachment, Attendance, CallId, ChildReported, CommandExit, Cut, Elicitation, Failure,
    FilesChanged, ImageRef, Json, LeaseTaken, MessageId, ModelName, ModelRole, OutcomeKind, OutputSpec, Part, Pause,
    PinnedContext, PlanItem, Policy, PreparedCall, Preview, QuestionAsked, QuestionId, Remedy, RunModel,
    SessionChanged, SessionOpened, SnapshotTaken, Spending, StopBy, StopReason, TextOrigin, Timestamp, UndoId, Usage,
    VerdictReason, WorkspaceOverview,
};

use crate::AttemptKey;
use crate::plan::PlannedStep;
use crate::undo::CheckedUndo;

/// A fact with its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// When it arrived.
    pub at: Timestamp,
    /// The fact.
    pub fact: Fact,
}

/// The settings with which a run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// The resolved policy.
    pub policy: Policy,
    /// The agent's name.
    pub agent: String,
    /// The models to try, in order.
    pub chain: Vec<ModelName>,
    /// The time by which it must end.
    pub deadline: Option<Timestamp>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The form its answer must have, where plain text is not enough.
    pub output: Option<OutputSpec>,
    /// The server of all models, in journals from before each model named its own.
    pub server: Option<String>,
    /// What is known of the models of the chain and of the role chains.
    pub models: Vec<RunModel>,
    /// The models to try in other roles than the turn's.
    pub role_chains: BTreeMap<ModelRole, Vec<ModelName>>,
    /// Whether the conversation so far is summarised before the first turn.
    pub compact: bool,
    /// What all sessions have spent today, where the policy limits that.
    pub spent_today: Option<Spending>,
    /// What all sessions of the agent have spent today, where the policy limits that.
    pub spent_by_agent: Option<Spending>,
    /// A system prompt that becomes the session's own.
    pub system: Option<String>,
}

/// A call's result, already cut to what the model sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// The outcome of the call.
    pub outcome: OutcomeKind,
    /// The text the model sees.
    pub text: String,
    /// What was left out of the text.
    pub cut: Option<Cut>,
    /// How long the call took, in milliseconds.
    pub took_ms: u64,
    /// Structured content beside the text.
    pub structured: Option<Json>,
    /// The images of the result.
    pub images: Vec<ImageRef>,
    /// How the command ended, where the call ran one.
    pub exit: Option<CommandExit>,
    /// Where the text came from, if from outside.
    pub origin: Option<TextOrigin>,
    /// What a person could change so that such a call would run.
    pub remedy: Option<Remedy>,
    /// The plan after the call, if the call changed it.
    pub plan: Option<Vec<PlanItem>>,
    /// The changes to files, where they were saved before the call.
    pub files: Option<FilesChanged>,
}

impl CallResult {
    /// Returns a result that is only text and took no time.
    #[must_use]
    pub fn new(outcome: OutcomeKind, text: impl Into<String>) -> Self {
        Self {
            outcome,
            text: text.into(),
            cut: None,
            took_ms: 0,
            structured: None,
            images: Vec::new(),
            exit: None,
            origin: None,
            remedy: None,
            plan: None,
            files: None,
        }
    }
}

/// A tool's answer to whether a call's effect took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifiedCall {
    /// It took place, and this is the result.
    Done(Box<CallResult>),
    /// It did not take place.
    NotDone,
    /// The tool can't tell.
    Unknown,
}

/// What happens to calls that wait for approval when a run is resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenApprovals {
    /// They are checked again, and their questions are withdrawn.
    #[default]
    CheckedAgain,
    /// Their questions stay, because the caller brings an answer. An approval counts if the preview is the same now.
    Answered,
    /// They stay as they are: the behaviour of older versions, for replaying their journals.
    LeftAlone,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The session was opened, by the writer that takes the lease.
    Opened(SessionOpened, LeaseTaken),
    /// The title or key of the session changed.
    Changed(SessionChanged),
    /// A writer took the lease of the session.
    LeaseTaken(LeaseTaken),
    /// A message waits to be accepted.
    Message {
        /// The sender's id for it.
        message_id: MessageId,
        /// The text of the message.
        text: String,
        /// The files attached to it.
        attachments: Vec<Attachment>,
        /// The settings of the run it starts, if it starts one.
        run_settings: Box<RunSettings>,
    },
    /// A person wants to retry the run that failed.
    Retried(Box<RunSettings>),
    /// This process resumed a run that another process left unfinished.
    Resumed {
        /// Whether a person can be asked now.
        attendance: Attendance,
        /// A new deadline.
        deadline: Option<Timestamp>,
        /// What happens to calls that wait for approval.
        approvals: OpenApprovals,
    },
    /// The prefix and the offered tools were collected, and what the workspace holds where the run begins with that.
    Pinned(PinnedContext, Option<Box<WorkspaceOverview>>),
    /// The tools that the open run offers have changed since they were pinned.
    OfferChanged {
        /// The context that it sends before the conversation from now on.
        context: PinnedContext,
        /// The servers whose tools were added.
        joined: BTreeSet<String>,
    },
    /// A model call failed.
    Failed {
        /// The attempt.
        attempt: AttemptKey,
        /// The failure.
        failure: Failure,
        /// The tokens charged for it.
        usage: Option<Usage>,
    },
    /// A model answered.
    Replied {
        /// The attempt.
        attempt: AttemptKey,
        /// The reply; it holds calls by index.
        parts: Vec<Part>,
        /// Why the model stopped.
        stop: StopReason,
        /// The tokens used.
        usage: Usage,
        /// The calls, by index.
        calls: Vec<PreparedCall>,
        /// Why the reply does not fit the requested output.
        misfit: Option<String>,
        /// The message to the model about a call in the reply that could not be parsed.
        malformed: Option<String>,
        /// The estimated tokens of the passages that were sent for this turn only.
        retrieved: u64,
    },
    /// A planner answered.
    Planned {
        /// The attempt.
        attempt: AttemptKey,
        /// The reply.
        parts: Vec<Part>,
        /// Why the model stopped.
        stop: StopReason,
        /// The tokens used.
        usage: Usage,
        /// The steps in it, taken apart by the files of the workspace.
        steps: Vec<PlannedStep>,
    },
    /// The child session that works on a step of the plan has ended its run.
    StepReported(ChildReported),
    /// The child session that works on a step of the plan waits for an answer to this question of its own.
    StepAsked {
        /// The child's position.
        child: CallId,
        /// Its question.
        asked: Box<QuestionAsked>,
    },
    /// A model call was aborted; this is what it had streamed.
    HandedBack {
        /// The attempt.
        attempt: AttemptKey,
        /// The text so far.
        text: String,
        /// The tokens charged for it.
        usage: Usage,
    },
    /// A call has its result.
    CallDone {
        /// The call.
        call: CallId,
        /// The result.
        finished: CallResult,
    },
    /// The current permission rules require approval for a call that was next to start (X6). It has not run.
    CallNeedsApproval {
        /// The call.
        call: CallId,
        /// What a person sees of it.
        preview: Option<Preview>,
        /// What decided that; absent in journals of older versions, which did not record it.
        because: Option<VerdictReason>,
    },
    /// The current permission rules allow a call that another process had checked (X6).
    CallAllowed {
        /// The call.
        call: CallId,
    },
    /// A call can't continue before the person has answered.
    CallPaused {
        /// The call.
        call: CallId,
        /// The state to hand back to the tool, and the requests to the person.
        pause: Pause,
    },
    /// The tool of a running call asks the person something and waits for the answer.
    Elicited {
        /// The call.
        call: CallId,
        /// The request.
        elicitation: Elicitation,
    },
    /// A tool answered whether a call's effect took place.
    CallVerified {
        /// The call.
        call: CallId,
        /// The answer.
        verified: VerifiedCall,
    },
    /// A question was answered or expired.
    Answered {
        /// The question.
        question: QuestionId,
        /// The answer.
        answer: Answer,
        /// Who answered.
        by: AnsweredBy,
    },
    /// Somebody asked for a stop.
    Stopped(StopBy),
    /// The files that a call may change were saved.
    Snapshot(SnapshotTaken),
    /// The file changes of a call that was stopped before it could report them.
    FilesChanged(FilesChanged),
    /// Files are to be restored.
    Undo(Box<CheckedUndo>),
    /// The files were restored.
    Restored {
        /// The undo.
        undo: UndoId,
        /// Paths that were left as they are, and why.
        left_alone: BTreeMap<String, String>,
    },
    /// A person wants what the last compaction left out to be sent again. With the settings of the next run it is refused
    /// where that run would leave it out again; without them it was accepted before.
    CompactionUndone(Option<Box<RunSettings>>),
    /// The session was forked here; open work continues only in the original session.
    Forked,
}
