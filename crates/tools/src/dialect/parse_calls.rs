//! Parses a call once its end is known.

use windlass_vocab::ReplyCall;

use super::malformed_call::MalformedCall;
use super::opening::{CallForm, NamesTool};
use super::{block, bracket, json, lines};

/// The result of parsing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParsedCalls {
    /// Calls.
    Calls(Vec<ReplyCall>),
    /// A call that can't be parsed.
    Malformed(MalformedCall),
    /// Not a call.
    Nothing,
}

impl From<Result<Vec<ReplyCall>, MalformedCall>> for ParsedCalls {
    fn from(read: Result<Vec<ReplyCall>, MalformedCall>) -> Self {
        match read {
            Ok(calls) => Self::Calls(calls),
            Err(malformed) => Self::Malformed(malformed),
        }
    }
}

/// Parses `text`, from the first byte of the call to its last; for a form with tags, the text between the tags.
pub(super) fn parse_calls(kind: CallForm, text: &str, knows: &dyn Fn(&str) -> bool) -> ParsedCalls {
    match kind {
        CallForm::Block => block::calls(text, knows).into(),
        CallForm::Wrapped(_) => block::wrapped(text).into(),
        CallForm::Function => block::function(text).map(|call| vec![call]).into(),
        CallForm::Json(named) => match (json::calls(text).filter(|calls| all_known(calls, knows)), named) {
            (Some(calls), _) => ParsedCalls::Calls(calls),
            (None, NamesTool::NotYet) => ParsedCalls::Nothing,
            // It names a tool and has no arguments: probably a description of the tool.
            (None, NamesTool::Yes) if serde_json::from_str::<serde_json::Value>(text).is_ok() => ParsedCalls::Nothing,
            (None, NamesTool::Yes) => ParsedCalls::Malformed(MalformedCall::parse("the JSON of the call is broken.")),
        },
        CallForm::Bracket => match bracket::calls(text) {
            Some(Ok(calls)) if !all_known(&calls, knows) => ParsedCalls::Nothing,
            Some(read) => read.into(),
            None => ParsedCalls::Nothing,
        },
        CallForm::Parentheses => match bracket::calls(&format!("[{text}]")) {
            Some(Ok(calls)) if all_known(&calls, knows) => ParsedCalls::Calls(calls),
            Some(_) | None => ParsedCalls::Nothing,
        },
        CallForm::Lines { arguments } => lines::call(text, arguments).map(|call| vec![call]).into(),
    }
}

fn all_known(calls: &[ReplyCall], knows: &dyn Fn(&str) -> bool) -> bool {
    calls.iter().all(|call| knows(&call.name))
}

/// Parses `text`, which begins as a call and has no end. JSON that lacks only its last brackets is repaired; anything
/// else is a call that was cut off.
pub(super) fn unfinished(kind: CallForm, text: &str, knows: &dyn Fn(&str) -> bool) -> ParsedCalls {
    let text = text.trim_end().trim_end_matches("```").trim_end();
    match kind {
        CallForm::Json(_) | CallForm::Lines { .. } | CallForm::Block | CallForm::Wrapped(_) => {
            parse_calls(kind, text, knows)
        }
        CallForm::Function => ParsedCalls::Malformed(MalformedCall::parse("<function=…> is not closed.")),
        CallForm::Bracket => ParsedCalls::Malformed(MalformedCall::parse("the call has no closing `)]`.")),
        CallForm::Parentheses => ParsedCalls::Nothing,
    }
}
