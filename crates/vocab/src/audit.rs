//! What is told of a call afterwards (T11): who had it made, whether it was allowed and by what, and how
//! it came out. Of its arguments only a digest.

use serde::{Deserialize, Serialize};

use crate::{
    AnsweredBy, CallId, CommandExit, EffectClass, Hash, OutcomeKind, QuestionOption, SessionId, Timestamp, UndoId,
    VerdictReason,
};

/// The verdict on a call, without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditVerdict {
    /// It may run.
    Allow,
    /// A person had to say.
    Ask,
    /// It may not.
    Deny,
    /// Its arguments don't fit.
    Invalid,
    /// There is no such tool.
    Unknown,
}

/// What was said when somebody was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditAnswer {
    /// The answer.
    pub option: QuestionOption,
    /// By whom.
    pub by: AnsweredBy,
}

/// A call, as an auditor sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When it was asked for.
    pub at: Timestamp,
    /// Whose session.
    pub owner: String,
    /// The session.
    pub session: SessionId,
    /// What people call it.
    pub key: String,
    /// The call.
    pub call: CallId,
    /// The tool, or the name the model wrote where there is none.
    pub tool: String,
    /// What running it twice would mean.
    pub effect: EffectClass,
    /// BLAKE3 of the arguments it ran with, as the journal has them.
    pub arguments: Hash,
    /// May it run?
    pub verdict: AuditVerdict,
    /// What decided that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
    /// What was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AuditAnswer>,
    /// How it came out; absent while it has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<OutcomeKind>,
    /// How the command ended, where the call ran one and saw its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<CommandExit>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The undo that took it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<UndoId>,
}
