//! The position of a conversation in a script, derived from the messages of a request.

use serde_json::Value;
use windlass_provider::WireKind;
use windlass_vocab::Message;

use crate::request::ReadRequest;
use crate::request::message::RequestMessage;
use crate::script::ToolCalling;

/// The start of the only message that is not part of the conversation: the lines for this turn only.
const REMINDER: &str = "<reminder>";

/// How the message begins in which images of results are sent.
const RESULT_IMAGES: &str = "[images in the result of ";

/// Returns the messages of a Chat Completions request without the lines for this turn only, which end it.
#[must_use]
pub fn conversation(body: &Value) -> &[Value] {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    match messages.split_last() {
        Some((tail, rest))
            if tail["role"] == "user" && tail["content"].as_str().is_some_and(|text| text.starts_with(REMINDER)) =>
        {
            rest
        }
        _ => messages,
    }
}

/// The position of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScriptPosition {
    /// How many user messages there are.
    pub(crate) users: usize,
    /// The text of the last user message.
    pub(crate) last_user: String,
    /// The replies after the last user message.
    pub(crate) since_user: ReplyCount,
    /// The replies of the whole conversation.
    pub(crate) whole: ReplyCount,
    /// Whether the model may call tools.
    pub(crate) tools: ToolCalling,
}

/// A number of replies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplyCount {
    /// The number.
    pub(crate) count: usize,
    /// The id of the first call in the last reply. It identifies the step even if older turns were pruned.
    pub(crate) last_call: Option<String>,
}

impl ReplyCount {
    fn add(&mut self, call: Option<&str>) {
        self.count += 1;
        self.last_call = call.map(str::to_owned);
    }
}

impl ScriptPosition {
    /// Reads it from a request.
    pub(crate) fn of_request(request: &ReadRequest) -> Self {
        let conversation = match request.messages.split_last() {
            Some((RequestMessage::User(text), rest)) if text.starts_with(REMINDER) => rest,
            Some(_) | None => &request.messages,
        };
        Self::fold(conversation, request.tools)
    }

    /// Reads it from a history.
    pub(crate) fn of_history(history: &[Message], tools: ToolCalling) -> Self {
        let messages: Vec<RequestMessage> = history
            .iter()
            .map(|message| match message {
                Message::User { text, .. } => RequestMessage::User(text.clone()),
                Message::Assistant { calls, .. } => {
                    RequestMessage::Reply { calls: calls.iter().filter_map(|call| call.provider_id.clone()).collect() }
                }
                Message::Tool { call, .. } => RequestMessage::Result(call.to_string()),
            })
            .collect();
        Self::fold(&messages, tools)
    }

    fn fold(messages: &[RequestMessage], tools: ToolCalling) -> Self {
        let start = Self {
            users: 0,
            last_user: String::new(),
            since_user: ReplyCount::default(),
            whole: ReplyCount::default(),
            tools,
        };
        messages.iter().fold(start, |mut position, message| {
            match message {
                // Images of results stand in a message of their own where results are text; nobody says anything new.
                RequestMessage::User(text) if text.starts_with(RESULT_IMAGES) => {}
                RequestMessage::User(text) => {
                    position.users += 1;
                    position.last_user.clone_from(text);
                    position.since_user = ReplyCount::default();
                }
                RequestMessage::Reply { calls } => {
                    let first_call = calls.first().map(String::as_str);
                    position.since_user.add(first_call);
                    position.whole.add(first_call);
                }
                RequestMessage::System | RequestMessage::Result(_) => {}
            }
            position
        })
    }
}

/// How many replies a request carries, counted without parsing it. A quote inside a JSON string is
/// escaped, so these bytes can only be the role of a message, or the type of an item. In Responses, where a reply has
/// several items, each reply must have one call.
pub(crate) fn count_replies(wire: WireKind, body: &[u8]) -> usize {
    let sign: &[u8] = match wire {
        WireKind::Chat | WireKind::Messages => br#""role":"assistant""#,
        WireKind::Responses => br#""type":"function_call","#,
    };
    memchr::memmem::find_iter(body, sign).count()
}

/// Whether a request asks for a stream, found without parsing it.
pub(crate) fn asks_for_stream(body: &[u8]) -> bool {
    memchr::memmem::find(body, br#""stream":true"#).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use windlass_provider::WireKind;

    use super::{ScriptPosition, asks_for_stream, count_replies};
    use crate::request::read_request;
    use crate::script::ToolCalling;

    #[test]
    fn replies_are_counted_from_the_last_user_message_and_from_the_start() {
        let call = json!({"id": "x", "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let body = json!({"messages": [
            {"role": "system", "content": "be good"},
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": [{"type": "text", "text": "sec"}, {"type": "text", "text": "ond"}]},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "x", "content": "…"},
        ]});
        let position = ScriptPosition::of_request(&read_request(WireKind::Chat, &body).unwrap());
        assert_eq!((position.users, position.last_user.as_str()), (2, "second"));
        assert_eq!((position.since_user.count, position.whole.count), (1, 2));
        assert_eq!(position.whole.last_call.as_deref(), Some("x"));
        assert_eq!(position.tools, ToolCalling::Withheld);
    }

    #[test]
    fn the_lines_for_this_turn_only_do_not_count_as_a_user_message() {
        let body = json!({"messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "going"},
            {"role": "user", "content": "<reminder>it is Monday</reminder>"},
        ], "tools": [{}], "tool_choice": "auto"});
        let position = ScriptPosition::of_request(&read_request(WireKind::Chat, &body).unwrap());
        assert_eq!((position.users, position.since_user.count), (1, 1));
        assert_eq!(position.tools, ToolCalling::Offered);
    }

    #[test]
    fn a_quick_look_counts_replies_and_is_not_fooled_by_text() {
        let body = json!({"messages": [
            {"content": r#"say "role":"assistant" and "stream":true"#, "role": "user"},
            {"content": "a", "role": "assistant"},
            {"content": "b", "role": "assistant"},
        ]})
        .to_string();
        assert_eq!(count_replies(WireKind::Chat, body.as_bytes()), 2);
        let items = br#"{"input":[{"type":"function_call","call_id":"a"},{"type":"function_call_output"}]}"#;
        assert_eq!(count_replies(WireKind::Responses, items), 1);
        assert!(!asks_for_stream(body.as_bytes()));
        assert!(asks_for_stream(br#"{"stream":true}"#));
    }
}
