//! A call that was cut off at the end of its reply is not run (T3, M3): the model is told so, and its history contains
//! only the arguments that arrived completely.
//!
//! Only the last native call of a reply can be cut; a call in the text is parsed completely or not at all.

use serde_json::value::RawValue;
use windlass_vocab::{Json, MaxTokens, PreparedCall, Reply, ReplyCall, StopReason, Verdict};

/// Refuses the last call if it was cut. `calls` are those of `reply`, prepared.
pub(crate) fn refuse_cut(reply: &Reply, calls: &mut [PreparedCall], limit: MaxTokens) {
    let (Some(written), Some(call)) = (reply.calls.last(), calls.last_mut()) else { return };
    let cut = match reached(reply, limit) {
        LengthLimit::Reached => cut_by_the_limit(written),
        LengthLimit::NotKnown => cut_without_a_word(written, call),
    };
    let Some(cut) = cut else { return };
    call.verdict = Verdict::invalid(cut.message());
    call.preview = None;
    call.arguments = whole_members(&written.arguments);
    if !written.arguments.is_empty() {
        call.raw = Some(written.arguments.clone());
    }
}

/// Whether the length limit ended a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LengthLimit {
    Reached,
    /// It did not, as far as is known; some servers report a stop for a call although the limit was reached.
    NotKnown,
}

/// Whether the length limit was reached, by the server's stop reason or by the number of tokens.
pub(crate) fn reached(reply: &Reply, limit: MaxTokens) -> LengthLimit {
    let counted = match (limit, reply.usage) {
        (MaxTokens::Fixed(most), Some(usage)) => usage.output >= u64::from(most),
        (MaxTokens::Fixed(_), None) | (MaxTokens::ModelOwn | MaxTokens::Budget, _) => false,
    };
    if reply.stop == StopReason::Length || counted { LengthLimit::Reached } else { LengthLimit::NotKnown }
}

/// Where a call was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutPoint {
    BeforeArguments,
    InArguments,
    /// In the arguments, although the server reports that the model had finished.
    NotReported,
}

impl CutPoint {
    /// Returns the message for the model.
    fn message(self) -> &'static str {
        match self {
            Self::BeforeArguments => {
                "The call was cut off by the length limit before its arguments began, and was not run. \
                 Call again, with less text before the call."
            }
            Self::InArguments => {
                "The call was cut off by the length limit before it was whole, and was not run. \
                 Make it shorter, or do it in several steps."
            }
            Self::NotReported => {
                "The call breaks off in the middle of its arguments, as at the length limit, and was not run. \
                 Make it shorter, or do it in several steps."
            }
        }
    }
}

/// Arguments that are not valid JSON as they are were cut, even if a repair could complete them.
fn cut_by_the_limit(call: &ReplyCall) -> Option<CutPoint> {
    let arguments = call.arguments.trim();
    if arguments.is_empty() {
        return Some(CutPoint::BeforeArguments);
    }
    serde_json::from_str::<&RawValue>(arguments).is_err().then_some(CutPoint::InArguments)
}

/// Brackets that a model forgot are repaired elsewhere; arguments that could not be repaired and end too early were
/// cut. Missing arguments mean nothing: many tools have none.
fn cut_without_a_word(call: &ReplyCall, prepared: &PreparedCall) -> Option<CutPoint> {
    let ends_early = || serde_json::from_str::<&RawValue>(call.arguments.trim()).is_err_and(|error| error.is_eof());
    let refused = matches!(prepared.verdict, Verdict::Invalid { .. });
    (refused && !call.arguments.trim().is_empty() && ends_early()).then_some(CutPoint::NotReported)
}

/// Returns the object members that arrived completely: those before the last comma between members.
fn whole_members(arguments: &str) -> Json {
    let (mut depth, mut in_string, mut escaped, mut end) = (0_u32, false, false, None);
    for (at, byte) in arguments.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 1 => end = Some(at),
            _ => {}
        }
    }
    let object = end.and_then(|end| Json::parse(&format!("{}}}", arguments[..end].trim())).ok());
    object.filter(|object| object.as_str().starts_with('{')).unwrap_or_else(Json::empty_object)
}

#[cfg(test)]
mod tests {
    use super::whole_members;

    // proves T3: the model's history contains only what the model wrote of a cut call
    #[test]
    fn of_arguments_that_were_cut_the_members_that_came_whole_are_left() {
        for (written, left) in [
            ("", "{}"),
            ("{", "{}"),
            (r#"{"path": "a"#, "{}"),
            (r#"{"n": 12"#, "{}"),
            (r#"{"path": "a.txt", "content": "x, y"#, r#"{"path": "a.txt"}"#),
            (r#"{"path": "a.txt", "list": [1, 2"#, r#"{"path": "a.txt"}"#),
            (r#"{"a": {"b": 1, "c": 2}, "d": 3, "e"#, r#"{"a": {"b": 1, "c": 2}, "d": 3}"#),
            (r#"{"a": "say \", {", "b": "#, r#"{"a": "say \", {"}"#),
            (r#"["a", "b"#, "{}"),
            ("{'a': 1, 'b': ", "{}"),
            ("{\"a\": \"ü, \u{1F600}\", \"b\": \"ü", "{\"a\": \"ü, \u{1F600}\"}"),
        ] {
            assert_eq!(whole_members(written).as_str(), left, "{written}");
        }
    }
}
