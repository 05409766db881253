//! Parses a call once its end is known.

use windlass_vocab::ReplyCall;

use super::malformed_call::MalformedCall;
use super::offered_tools::OfferedTools;
use super::opening::{CallForm, NamesTool};
use super::{block, bracket, json, lines, script, tool_tag};

/// The result of parsing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ParsedCalls {
    /// Calls.
    Calls(Vec<ReplyCall>),
    /// Calls of offered tools in a form without tags, some with arguments that don't fit.
    Unfit(Vec<ReplyCall>),
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

/// Parses `text`, from the first byte of the call to its last; for a form with tags, the text between the tags, or without
/// the closing one.
pub(super) fn parse_calls(kind: CallForm, text: &str, tools: &dyn OfferedTools) -> ParsedCalls {
    match kind {
        CallForm::Block => block::calls(text, &|name| tools.knows(name)).into(),
        CallForm::ToolTag { .. } => tool_tag::call(text).map(|call| vec![call]).into(),
        CallForm::NameTag { .. } => match tool_tag::call_by_tag(text) {
            Some(call) if fits(&call, tools) => ParsedCalls::Calls(vec![call]),
            Some(_) | None => ParsedCalls::Nothing,
        },
        CallForm::Wrapped(_) => block::wrapped(text).into(),
        CallForm::Function => block::function(text).map(|call| vec![call]).into(),
        CallForm::Json(named) => match (json::calls(text).filter(|calls| all_known(calls, tools)), named) {
            (Some(calls), _) => fitting(calls, tools),
            (None, NamesTool::NotYet) => ParsedCalls::Nothing,
            // It names a tool and has no arguments: probably a description of the tool.
            (None, NamesTool::Yes) if serde_json::from_str::<serde_json::Value>(text).is_ok() => ParsedCalls::Nothing,
            (None, NamesTool::Yes) => ParsedCalls::Malformed(MalformedCall::parse("the JSON of the call is broken.")),
        },
        CallForm::Bracket => match bracket::calls(text) {
            Some(Ok(calls)) if !all_known(&calls, tools) => ParsedCalls::Nothing,
            Some(read) => read.into(),
            None => ParsedCalls::Nothing,
        },
        CallForm::Parentheses => match bracket::calls(&format!("[{text}]")) {
            Some(Ok(calls)) if all_known(&calls, tools) => fitting(calls, tools),
            Some(_) | None => ParsedCalls::Nothing,
        },
        CallForm::Lines { arguments } => lines::call(text, arguments).map(|call| vec![call]).into(),
        CallForm::Script { language, indent } => match script::call(language, indent, text) {
            Some(read) => read.map(|call| vec![call]).into(),
            None => ParsedCalls::Nothing,
        },
    }
}

fn all_known(calls: &[ReplyCall], tools: &dyn OfferedTools) -> bool {
    calls.iter().all(|call| tools.knows(&call.name))
}

/// Whether the arguments of a call fit the tool.
pub(super) fn fits(call: &ReplyCall, tools: &dyn OfferedTools) -> bool {
    tools.fits(&call.name, &call.arguments)
}

fn fitting(calls: Vec<ReplyCall>, tools: &dyn OfferedTools) -> ParsedCalls {
    if calls.iter().all(|call| fits(call, tools)) { ParsedCalls::Calls(calls) } else { ParsedCalls::Unfit(calls) }
}

/// Parses `text`, which begins as a call and has no end. JSON that lacks only its last brackets is repaired; anything
/// else is a call that was cut off.
pub(super) fn unfinished(kind: CallForm, text: &str, tools: &dyn OfferedTools) -> ParsedCalls {
    if let CallForm::Script { .. } = kind {
        return parse_calls(kind, text, tools);
    }
    let text = text.trim_end().trim_end_matches("```").trim_end();
    match kind {
        CallForm::Json(_)
        | CallForm::Lines { .. }
        | CallForm::Block
        | CallForm::ToolTag { .. }
        | CallForm::NameTag { .. }
        | CallForm::Script { .. }
        | CallForm::Wrapped(_) => parse_calls(kind, text, tools),
        CallForm::Function => ParsedCalls::Malformed(MalformedCall::parse("<function=…> is not closed.")),
        CallForm::Bracket => ParsedCalls::Malformed(MalformedCall::parse("the call has no closing `)]`.")),
        CallForm::Parentheses => ParsedCalls::Nothing,
    }
}
