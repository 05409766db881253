//! What a beginning turned out to be, once its end is known.

use windlass_vocab::ReplyCall;

use super::malformed::Malformed;
use super::opening::{Kind, Named};
use super::{block, bracket, json, lines};

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Calls.
    Calls(Vec<ReplyCall>),
    /// A call that can't be read.
    Malformed(Malformed),
    /// Something else.
    Nothing,
}

impl From<Result<Vec<ReplyCall>, Malformed>> for Found {
    fn from(read: Result<Vec<ReplyCall>, Malformed>) -> Self {
        match read {
            Ok(calls) => Self::Calls(calls),
            Err(malformed) => Self::Malformed(malformed),
        }
    }
}

/// What `text`, from the first byte of the call to its last, is. For tags it is what stands in them.
pub(super) fn found(kind: Kind, text: &str, knows: &dyn Fn(&str) -> bool) -> Found {
    match kind {
        Kind::Block => block::calls(text).into(),
        Kind::Wrapped(_) => block::wrapped(text).into(),
        Kind::Function => block::function(text).map(|call| vec![call]).into(),
        Kind::Json(named) => match (json::calls(text).filter(|calls| all_known(calls, knows)), named) {
            (Some(calls), _) => Found::Calls(calls),
            (None, Named::NotYet) => Found::Nothing,
            // It named a tool and has no arguments: a description of the tool, most likely.
            (None, Named::Yes) if serde_json::from_str::<serde_json::Value>(text).is_ok() => Found::Nothing,
            (None, Named::Yes) => Found::Malformed(Malformed::parse("the JSON of the call is broken.")),
        },
        Kind::Bracket => match bracket::calls(text) {
            Some(Ok(calls)) if !all_known(&calls, knows) => Found::Nothing,
            Some(read) => read.into(),
            None => Found::Nothing,
        },
        Kind::Lines { arguments } => lines::call(text, arguments).map(|call| vec![call]).into(),
    }
}

fn all_known(calls: &[ReplyCall], knows: &dyn Fn(&str) -> bool) -> bool {
    calls.iter().all(|call| knows(&call.name))
}

/// What `text` is that begins as a call and does not end. JSON that lacks only its last brackets is
/// mended; anything else is a call cut in half.
pub(super) fn unfinished(kind: Kind, text: &str, knows: &dyn Fn(&str) -> bool) -> Found {
    let text = text.trim_end().trim_end_matches("```").trim_end();
    match kind {
        Kind::Json(_) | Kind::Lines { .. } | Kind::Block | Kind::Wrapped(_) => found(kind, text, knows),
        Kind::Function => Found::Malformed(Malformed::parse("<function=…> is not closed.")),
        Kind::Bracket => Found::Malformed(Malformed::parse("the call has no closing `)]`.")),
    }
}
