//! The types that Windlass stores on disk, sends on the wire, shows on the web page and uses in tests.
//!
//! Every serialised type of the project lives here and nowhere else. The crate holds data and the rules of its form
//! (how an id is written, how a timestamp reads), never behaviour: no clock, no randomness, no environment, no input or
//! output.
//!
//! ```
//! use windlass_vocab::{CallId, RunId, TurnId};
//!
//! let call = CallId { run: RunId(3), turn: TurnId(2), index: 0 };
//! assert_eq!(call.to_string(), "3.2.0");
//! assert_eq!("3.2.0".parse(), Ok(call));
//! ```

#![deny(missing_docs)]

mod attachment;
mod attendance;
mod audit;
mod cache_report;
mod child_key;
mod compact;
mod context_budget;
mod control;
mod cut_input;
mod decode;
mod digits;
mod dollars;
mod elicitation;
mod envelope;
mod escape;
mod event;
mod failure;
mod found_tools;
mod hash;
mod id;
mod intent;
mod json;
mod message;
mod model_role;
mod model_software;
mod newer;
mod output;
mod part;
mod policy;
mod prices;
mod question;
mod record;
mod remedy;
mod reply_fault;
mod run_changes;
mod run_model;
mod session_edit;
mod shown_path;
mod spending;
mod text;
mod text_origin;
mod time;
mod tool;
mod turn_mode;
mod undo;
mod usage;
mod verdict;

pub use attachment::{AttachedFile, AttachedText, Attachment, ImageContent, ImageRef, file_size};
pub use attendance::Attendance;
pub use audit::{AuditAnswer, AuditEntry, AuditVerdict};
pub use cache_report::{CacheMissCause, CacheReport, CacheResult, PromptCache};
pub use child_key::{child_key, parent_in_key};
pub use context_budget::ContextBudget;
pub use control::{Control, ControlOutcome};
pub use cut_input::CutInput;
pub use decode::DecodeError;
pub use dollars::{Dollars, ParseDollarsError};
pub use elicitation::{Elicitation, ElicitationKind, Pause, Resumption};
pub use envelope::{BatchPosition, ENVELOPE_VERSION, Envelope};
pub use escape::json_text;
pub use event::{Delta, DeltaBody, Event, Wait, WaitFor};
pub use failure::{Failure, FailureCause, FailureClass};
pub use found_tools::FoundTools;
pub use hash::Hash;
pub use id::{
    CallId, CommandId, EffectId, MessageId, ModelName, ParseIdError, QuestionId, RecordId, RunId, SessionId, ToolName,
    TurnId,
};
pub use intent::Intent;
pub use json::Json;
pub use message::{CallInHistory, Message, Reply, ReplyCall, StopReason};
pub use model_role::{ModelRole, RoleUse};
pub use model_software::ModelSoftware;
pub use newer::NewerRecord;
pub use output::{OutputForm, OutputSpec};
pub use part::Part;
pub use policy::{
    Dialect, EndsBy, Guard, HistoryKeeping, IntentRouter, MaxTokens, NotBuilt, Nudge, OutsideText, Overview, Parallel,
    Planning, Policy, PolicyPatch, Reasoning, ResultCap, Retrieve, Retry, Sampling, Spill, Steering, StreamIdle,
    Titles, ToolSource, TurnCapAction, UnaskedChanges, UnfinishedCall, VALUES_NOT_BUILT,
};
pub use prices::{ListPrices, LongInputPrices, Prices};
pub use question::{Answer, AnsweredBy, Preview, QuestionKind, QuestionOption};
pub use record::{
    AttemptFailed, CallFinished, CallPaused, CallRequested, CallSettled, CallStarted, CancelAsked, ChildReported,
    ChildSpawned, Compacted, CompactionMethod, ContextPinned, EndReason, Grant, ImportDetails, LeaseTaken,
    MessageAccepted, ModelReplied, NextAttempt, NudgeCause, Nudged, Origin, OverviewFile, PinnedContext, PlanChanged,
    PlanItem, PlanStatus, QuestionAnswered, QuestionAsked, Record, RunEnded, RunMilestone, RunResumed, RunStarted,
    SessionChanged, SessionOpened, Settlement, StopBy, SummaryTask, TextCalls, ToolWithheld, TurnStarted, Unknown,
    WithheldFor, WorkspaceOverview,
};
pub use remedy::Remedy;
pub use reply_fault::ReplyFault;
pub use run_changes::{MissingChange, MovedPath, RunChanges};
pub use run_model::RunModel;
pub use session_edit::SessionEdit;
pub use shown_path::{first_paths, shown_path};
pub use spending::{LimitUnit, Spending, SpendingLimit, SpentElsewhere};
pub use text_origin::TextOrigin;
pub use time::Timestamp;
pub use tool::{CommandExit, Cut, EffectClass, Ending, Outcome, OutcomeKind, PreparedCall, Repair, ToolSpec};
pub use turn_mode::TurnMode;
pub use undo::{
    Change, Changes, Coverage, FileState, FilesChanged, SnapshotKind, SnapshotTaken, UndoId, UndoStarted, Undoable,
    Undone,
};
pub use usage::{NanoMoney, Usage};
pub use verdict::{UnaskedChange, Verdict, VerdictReason};
