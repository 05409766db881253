//! The audit entry of a call (T11): whose session made it, whether it was allowed and by which rule, and its outcome.
//! Of the arguments it holds only a digest.

use serde::{Deserialize, Serialize};

use crate::{
    AnsweredBy, CallId, CommandExit, EffectClass, Hash, OutcomeKind, QuestionOption, SessionId, Timestamp, UndoId,
    VerdictReason,
};

/// The verdict on a call, without its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditVerdict {
    /// The call may run.
    Allow,
    /// A person had to decide.
    Ask,
    /// The call may not run.
    Deny,
    /// The arguments don't fit the schema.
    Invalid,
    /// There is no such tool.
    Unknown,
}

/// The answer to the question about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAnswer {
    /// The chosen option.
    pub option: QuestionOption,
    /// Who answered.
    pub by: AnsweredBy,
}

/// One call in the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When the model requested the call.
    pub at: Timestamp,
    /// The owner of the session.
    pub owner: String,
    /// The session.
    pub session: SessionId,
    /// The session's key: its name for people.
    pub key: String,
    /// The call.
    pub call: CallId,
    /// The tool, or the name the model wrote where no such tool exists.
    pub tool: String,
    /// What running the call twice would mean.
    pub effect: EffectClass,
    /// BLAKE3 of the arguments the call ran with, as the journal holds them.
    pub arguments: Hash,
    /// Whether the call may run.
    pub verdict: AuditVerdict,
    /// What decided the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
    /// The answer, where a person was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AuditAnswer>,
    /// The outcome of the call; absent while it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeKind>,
    /// How the command ended, where the call ran one and observed its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<CommandExit>,
    /// How long the call took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The undo that reversed the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<UndoId>,
}
