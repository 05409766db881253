//! Questions to a person, and their answers.

use serde::{Deserialize, Serialize};

use crate::{
    Answer, AnsweredBy, Elicitation, ElicitationKind, Json, Preview, QuestionId, QuestionKind, QuestionOption,
    Timestamp, VerdictReason,
};

/// A person was asked a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAsked {
    /// The question's number in the session.
    pub question: QuestionId,
    /// The subject of the question.
    pub kind: QuestionKind,
    /// What is displayed to the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// The offered answers.
    pub options: Vec<QuestionOption>,
    /// When the question expires and the default is taken; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
    /// The answer that is taken when the question expires.
    pub default: QuestionOption,
    /// The tool's request, where a tool asks (P4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<Elicitation>,
    /// Why approval is needed, where that was decided right before the call was to run; absent means for the reason
    /// that the call was recorded with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<VerdictReason>,
}

impl QuestionAsked {
    /// Returns the schema of the form to be filled in, if the question has one.
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
    /// The question.
    pub question: QuestionId,
    /// The answer.
    pub answer: Answer,
    /// Who answered.
    pub by: AnsweredBy,
    /// The rule that the answer allows from now on in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Grant>,
}
