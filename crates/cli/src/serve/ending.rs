//! Converts the end of a run into the result of a tool call: the answer as text, and everything in the structured
//! content, which is all that many clients pass to their model.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::Value;
use windlass::EndReason;
use windlass_narrate::{RunEndWords, answer_of};
use windlass_vocab::{Json, RunId, Usage};

use super::awaited_run::RunEnding;
use super::denied_calls::DeniedCall;
use crate::output::advice::{end_advice, end_words};

#[derive(Serialize)]
struct StructuredEnding<'a> {
    session: &'a str,
    run: RunId,
    reason: EndReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "<[DeniedCall]>::is_empty")]
    denied: &'a [DeniedCall],
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a Json>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut_off: bool,
}

/// Returns the result of the call. A run without an answer is an error, with everything known about it.
pub(super) fn result(ending: &RunEnding) -> CallToolResult {
    let RunEnding { key, run, ended, denied } = ending;
    let (words, advice) = (RunEndWords::of(ended), end_advice(ended.reason));
    let answer = answer_of(ended);
    let error = answer.is_none().then(|| words.map(|words| end_words(&words, ended)).unwrap_or_default());
    let mut result = match answer {
        Some(answer) => {
            let remark = words.map(|words| format!("({}{advice})", words.reason));
            CallToolResult::success(
                [Some(answer.to_owned()), remark].into_iter().flatten().map(ContentBlock::text).collect(),
            )
        }
        None => {
            let why = error.as_deref().unwrap_or_default();
            CallToolResult::error(vec![ContentBlock::text(format!("{why} (session {key}, run {run})"))])
        }
    };
    let structured = StructuredEnding {
        session: key,
        run: *run,
        reason: ended.reason,
        answer,
        error: error.as_deref(),
        denied,
        usage: ended.usage,
        output: ended.output.as_ref(),
        cut_off: ended.cut_off,
    };
    result.structured_content = serde_json::to_value(structured).ok().filter(Value::is_object);
    result
}
