//! What the end of a run is on this wire: an answer with a reason to finish, or an error.

use serde_json::{Value, json};
use windlass_vocab::{EndReason, FailureClass, RunEnded, Usage};

use super::error::OpenAiError;

/// Why the answer ends where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    /// It is complete.
    Stop,
    /// A limit ended it: of the reply's length, of turns, or of the budget.
    Length,
    /// The provider withheld it.
    ContentFilter,
}

impl AnswerEnd {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// The answer of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunAnswer {
    pub(super) text: String,
    pub(super) finish: AnswerEnd,
    pub(super) usage: Usage,
}

impl RunAnswer {
    /// Returns the answer, or why there is none.
    pub(super) fn of(ended: &RunEnded) -> Result<Self, OpenAiError> {
        let is_filtered = ended.failure.as_ref().is_some_and(|failure| failure.class == FailureClass::Filtered);
        let finish = match ended.reason {
            EndReason::Completed | EndReason::Asked | EndReason::Conversed if ended.cut_off => AnswerEnd::Length,
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => AnswerEnd::Stop,
            EndReason::Unfinished | EndReason::TurnCap | EndReason::BudgetSpent => AnswerEnd::Length,
            EndReason::Failed if is_filtered => AnswerEnd::ContentFilter,
            EndReason::Failed => return Err(OpenAiError::failed(&ended.answer, ended.failure.as_ref())),
            EndReason::Cancelled => return Err(OpenAiError::stopped()),
        };
        Ok(Self { text: ended.answer.trim().to_owned(), finish, usage: ended.usage })
    }
}

/// Returns the usage as Chat Completions writes it.
pub(super) fn chat_usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input.saturating_add(usage.output),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

/// Returns the usage as the Responses API writes it.
pub(super) fn responses_usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.cache_written},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input.saturating_add(usage.output),
    })
}
