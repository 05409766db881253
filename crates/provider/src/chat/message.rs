//! Writes messages in the wire format. Every turn writes some, so they are written directly: constant JSON as it is,
//! and strings escaped.

use std::borrow::Cow;

use bytes::BufMut;
use windlass_vocab::{CallInHistory, Message, Part};

use crate::ability::ReasoningReturn;
use crate::write_json::{wire_id, wire_name, write, write_string};

/// The role of a plain text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptRole {
    System,
    User,
}

/// Writes a message of the system or the user.
pub(super) fn write_words(out: &mut impl BufMut, speaker: PromptRole, words: &str) {
    let opening = match speaker {
        PromptRole::System => r#"{"role":"system","content":"#,
        PromptRole::User => r#"{"role":"user","content":"#,
    };
    write_string(out, opening, words);
    write(out, "}");
}

/// Whether a message is a reply of which this wire can send nothing: only reasoning and items of another model. Servers
/// refuse a message without content.
pub(super) fn has_nothing_for_chat(message: &Message) -> bool {
    match message {
        Message::Assistant { parts, calls, model: _ } => {
            let unsendable = |part: &Part| match part {
                Part::Text { text } => text.is_empty(),
                Part::Thinking { .. } | Part::Opaque { .. } => true,
                Part::Call { .. } => false,
            };
            calls.is_empty() && !parts.is_empty() && parts.iter().all(unsendable)
        }
        Message::User { .. } | Message::Tool { .. } => false,
    }
}

/// Writes a message of the history.
pub(super) fn write_message(out: &mut impl BufMut, message: &Message, reasoning: ReasoningReturn) {
    match message {
        Message::User { text } => write_words(out, PromptRole::User, text),
        Message::Assistant { parts, calls, model: _ } => write_reply(out, parts, calls, reasoning),
        Message::Tool { call, provider_id, text, name: _, outcome: _ } => {
            write_string(out, r#"{"role":"tool","tool_call_id":"#, &wire_id(*call, provider_id.as_deref()));
            write_string(out, r#","content":"#, text);
            write(out, "}");
        }
    }
}

fn write_reply(out: &mut impl BufMut, parts: &[Part], calls: &[CallInHistory], reasoning: ReasoningReturn) {
    let words = joined(parts, Part::as_text);
    let thoughts = joined(parts, |part| match (reasoning, part) {
        (ReasoningReturn::Field, Part::Thinking { text, .. }) => Some(text),
        (ReasoningReturn::Never, _) | (_, Part::Text { .. } | Part::Call { .. } | Part::Opaque { .. }) => None,
    });
    // Null is only valid with calls; servers refuse a message that has neither.
    if words.is_empty() && !calls.is_empty() {
        write(out, r#"{"role":"assistant","content":null"#);
    } else {
        write_string(out, r#"{"role":"assistant","content":"#, &words);
    }
    if !thoughts.is_empty() {
        write_string(out, r#","reasoning_content":"#, &thoughts);
    }
    for (place, call) in calls.iter().enumerate() {
        write(out, if place == 0 { r#","tool_calls":["# } else { "," });
        write_string(out, r#"{"id":"#, &wire_id(call.call, call.provider_id.as_deref()));
        write_string(out, r#","type":"function","function":{"name":"#, &wire_name(&call.name));
        write_string(out, r#","arguments":"#, call.arguments.as_str());
        write(out, "}}");
    }
    write(out, if calls.is_empty() { "}" } else { "]}" });
}

/// Joins the texts that `pick` selects; copies only if there are several.
fn joined<'a>(parts: &'a [Part], pick: impl Fn(&'a Part) -> Option<&'a str>) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(pick).filter(|text| !text.is_empty());
    let mut all = Cow::Borrowed(texts.next().unwrap_or_default());
    for text in texts {
        all.to_mut().push_str(text);
    }
    all
}
