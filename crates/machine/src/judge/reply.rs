//! Reads a reply: what its words suggest, where the records leave it open.

use windlass_vocab::ToolSpec;

use super::language::{begins_with, has_phrase, plain};

/// What the words of a reply suggest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplyWords {
    /// It gives a reason why something was not done.
    pub(super) gives_reason: bool,
    /// It refuses, not for want of access.
    pub(super) refuses: bool,
    /// It asks the person something that only they can answer.
    pub(super) asks_back: bool,
    /// It tells the person how to do the work, or that files can't be reached.
    pub(super) hands_back: bool,
    /// It shows a call as text.
    pub(super) shows_call: bool,
    /// Its last sentence certainly announces a step.
    pub(super) announces: bool,
    /// Its last sentence may announce a step.
    pub(super) may_announce: bool,
}

/// How the result of a script that failed begins. A model that copies it gives no reason of its own.
const TOLD_ERROR: &str = "the script failed in line ";

/// Reads a reply of a run that offers these tools.
pub(super) fn read_reply(text: &str, offer: &[ToolSpec]) -> ReplyWords {
    let lower = plain(text);
    let prose = without_code(&lower);
    let last = last_sentence(&prose);
    let no_access = has_phrase(&prose, |language| &language.no_access);
    let asks_leave = has_phrase(last, |language| &language.asks_leave);
    let has_code = lower.contains("```") || lower.contains('`');
    let is_closing = has_phrase(last, |language| &language.closings);
    let step = has_phrase(last, |language| &language.step_verbs) && !is_closing && !last.ends_with('?');
    ReplyWords {
        gives_reason: has_phrase(&prose, |language| &language.grounds) && !prose.trim_start().starts_with(TOLD_ERROR),
        refuses: has_phrase(&prose, |language| &language.refusals) && !no_access,
        asks_back: prose.trim_end().ends_with('?') && !asks_leave && !no_access,
        hands_back: no_access || (has_code && has_phrase(&prose, |language| &language.hands_back)),
        shows_call: shows_call(text, offer),
        announces: step && begins_with(last, |language| &language.announces),
        may_announce: step && begins_with(last, |language| &language.may_announce),
    }
}

/// Whether the answer of a run, as written, says that it changed something.
pub(super) fn answer_claims_change(answer: &str) -> bool {
    has_phrase(&without_code(&plain(answer)), |language| &language.claims)
}

/// Returns a text without its fenced blocks.
fn without_code(text: &str) -> String {
    let mut in_code = false;
    let mut prose = String::with_capacity(text.len());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the last sentence of a text.
fn last_sentence(prose: &str) -> &str {
    let text = prose.trim_end();
    let line = text.rsplit('\n').next().unwrap_or(text).trim();
    let body = line.trim_end_matches(['.', '!', '?', ':', ' ']);
    let start = body.rfind(". ").or_else(|| body.rfind("! ")).map_or(0, |at| at + 2);
    line.get(start..).unwrap_or(line).trim_start_matches(['-', '*', ' ', '#'])
}

/// Tags that models put around calls.
const CALL_TAGS: &[&str] =
    &["<tool>", "<tools>", "<tool_call>", "<tool ", "<function=", "<function_call>", "<|tool_call", "[tool_calls]"];

/// Whether a reply is a call and nothing else, whatever tool it names.
pub(crate) fn is_mere_call(text: &str) -> bool {
    let lower = plain(text.trim());
    let text = lower.trim_start_matches("```json").trim_start_matches("```xml").trim_start_matches("```").trim_start();
    let is_json = text.starts_with('{') && text.contains("\"name\"") && text.contains("\"arguments\"");
    is_json || CALL_TAGS.iter().any(|tag| text.starts_with(tag))
}

/// Whether a reply contains what looks like a call: a tag, JSON with the name of an offered tool, or a line or fenced
/// block that begins with one.
fn shows_call(text: &str, offer: &[ToolSpec]) -> bool {
    let lower = plain(text);
    if CALL_TAGS.iter().any(|tag| lower.contains(tag)) {
        return true;
    }
    let names = || offer.iter().flat_map(|spec| [spec.name.bare(), spec.wire_name.as_str(), spec.name.as_str()]);
    let as_json = |name: &str| {
        [
            "\"name\": \"",
            "\"name\":\"",
            "\"tool\": \"",
            "\"tool\":\"",
            "\"function\": \"",
            "\"tool_name\": \"",
            "\"tool_name\":\"",
        ]
        .iter()
        .any(|key| {
            lower.match_indices(key).any(|(at, key)| {
                let after = lower.get(at + key.len()..).unwrap_or_default();
                after.strip_prefix(name).is_some_and(|rest| rest.starts_with('"'))
            })
        })
    };
    let as_line = |name: &str| {
        let mut lines = lower.lines().map(|line| line.trim().trim_start_matches(['`', '-', '*', ' ']));
        lines.any(|line| line.strip_prefix(name).is_some_and(is_call_after_name))
    };
    names().any(|name| as_json(name) || as_line(name))
}

/// Whether what follows a tool's name on its line makes it a call and not a sentence about the tool.
fn is_call_after_name(rest: &str) -> bool {
    let rest = rest.trim_end_matches(['`', ' ', ';']);
    let in_brackets = rest.starts_with('(') && rest.ends_with(')');
    in_brackets || (rest.trim_start().starts_with('{') && rest.ends_with('}'))
}
