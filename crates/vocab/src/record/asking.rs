//! Questions to a person, and what they said.

use serde::{Deserialize, Serialize};

use crate::{
    Answer, AnsweredBy, Elicitation, ElicitationKind, Json, Preview, QuestionId, QuestionKind, QuestionOption,
    Timestamp, VerdictReason,
};

/// A person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// Its number in the session.
    pub question: QuestionId,
    /// What about.
    pub kind: QuestionKind,
    /// What is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The answers on offer.
    pub options: Vec<QuestionOption>,
    /// When the default is taken; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// What silence means.
    pub default: QuestionOption,
    /// What a tool needs to be told, where it is a tool that asks (P4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<Elicitation>,
    /// What decided that a person is asked for approval, where that was found right before the call was to run; absent
    /// means what the call was recorded with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
}

impl QuestionAsked {
    /// The schema of the form it asks to be filled in, if it asks for one.
    #[must_use]
    pub fn form(&self) -> Option<&Json> {
        match &self.elicitation.as_ref()?.wants {
            ElicitationKind::Form { schema } => Some(schema),
            ElicitationKind::Visit { .. } => None,
        }
    }
}

/// A permission that outlives the call it was given for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grant {
    /// The rule, e.g. `run_command(cargo *)`.
    pub rule: String,
}

/// A question was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    /// Which.
    pub question: QuestionId,
    /// How.
    pub answer: Answer,
    /// By whom.
    pub by: AnsweredBy,
    /// What it allows from now on in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}
