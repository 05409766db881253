//! The body of a request for a chat completion.

use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::content::MessageContent;
use super::conversation::{SaidBefore, SentConversation, Speaker};
use super::error::OpenAiError;
use super::parameters;

/// The body of a request for a chat completion.
#[derive(Debug, Deserialize)]
pub(super) struct ChatBody {
    pub(super) model: String,
    messages: Vec<MessageBody>,
    stream: Option<bool>,
    stream_options: Option<ChunkOptions>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct ChunkOptions {
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct MessageBody {
    role: ChatRole,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<ToolCallBody>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ChatRole {
    System,
    Developer,
    User,
    Assistant,
    Tool,
    Function,
}

/// A call of a tool of the client, in a conversation that began elsewhere.
#[derive(Debug, Deserialize)]
struct ToolCallBody {
    function: Option<CalledFunction>,
}

#[derive(Debug, Deserialize)]
struct CalledFunction {
    name: String,
    #[serde(default)]
    arguments: String,
}

/// How a chat completion is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatDelivery {
    /// Whole.
    Whole,
    /// In chunks.
    Chunks(UsageChunk),
}

/// Whether a stream ends with a chunk about usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UsageChunk {
    Sent,
    LeftOut,
}

impl ChatBody {
    /// Returns how it is to be answered.
    pub(super) fn delivery(&self) -> ChatDelivery {
        let wants_usage = self.stream_options.as_ref().and_then(|options| options.include_usage);
        match (self.stream, wants_usage) {
            (Some(true), Some(true)) => ChatDelivery::Chunks(UsageChunk::Sent),
            (Some(true), Some(false) | None) => ChatDelivery::Chunks(UsageChunk::LeftOut),
            (Some(false) | None, _) => ChatDelivery::Whole,
        }
    }

    /// Returns its conversation, if nothing in the request is refused.
    pub(super) fn conversation(&self) -> Result<SentConversation, OpenAiError> {
        parameters::check(&self.parameters)?;
        let (mut system, mut said) = (Vec::new(), Vec::new());
        for (index, message) in self.messages.iter().enumerate() {
            let content = MessageContent::read(&message.content, &format!("messages[{index}].content"))?;
            let by = match message.role {
                ChatRole::System | ChatRole::Developer => {
                    system.push(content.text);
                    continue;
                }
                ChatRole::User => Speaker::User,
                ChatRole::Assistant => Speaker::Assistant,
                ChatRole::Tool | ChatRole::Function => Speaker::Tool,
            };
            said.push(SaidBefore { by, content: with_calls(content, message.tool_calls.as_deref()) });
        }
        SentConversation::of(&system, said, "messages")
    }
}

/// Adds the calls that an assistant elsewhere asked for: they were part of what it said.
fn with_calls(mut content: MessageContent, calls: Option<&[ToolCallBody]>) -> MessageContent {
    for CalledFunction { name, arguments } in calls.into_iter().flatten().filter_map(|call| call.function.as_ref()) {
        // Writing to a string can't fail.
        let _ = write!(content.text, "\n[called {name} with {arguments}]");
    }
    content
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ChatBody, ChatDelivery, UsageChunk};
    use crate::openai::conversation::{SentConversation, Speaker};
    use crate::openai::error::OpenAiError;

    fn read(body: serde_json::Value) -> Result<SentConversation, OpenAiError> {
        serde_json::from_value::<ChatBody>(body).unwrap().conversation()
    }

    // proves W3
    #[test]
    fn messages_become_system_text_earlier_words_and_the_message() {
        let read = read(json!({"model": "windlass", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is in a.txt?"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "read", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "x"},
            {"role": "assistant", "content": [{"type": "text", "text": "An x."}]},
            {"role": "developer", "content": "Be polite."},
            {"role": "user", "content": [{"type": "text", "text": "And in b.txt?"}]}]}))
        .unwrap();
        assert_eq!(read.system.as_deref(), Some("Be brief.\n\nBe polite."));
        let before: Vec<(Speaker, &str)> =
            read.before.iter().map(|said| (said.by, said.content.text.as_str())).collect();
        let called = (Speaker::Assistant, "\n[called read with {}]");
        let expected =
            [(Speaker::User, "What is in a.txt?"), called, (Speaker::Tool, "x"), (Speaker::Assistant, "An x.")];
        assert_eq!(before, expected);
        assert_eq!(read.message.text, "And in b.txt?");
    }

    // proves W3
    #[test]
    fn a_request_says_how_it_is_answered() {
        let delivery = |more: serde_json::Value| {
            let mut body = json!({"model": "windlass", "messages": []});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<ChatBody>(body).unwrap().delivery()
        };
        assert_eq!(delivery(json!({})), ChatDelivery::Whole);
        assert_eq!(delivery(json!({"stream": false, "stream_options": null})), ChatDelivery::Whole);
        assert_eq!(delivery(json!({"stream": true})), ChatDelivery::Chunks(UsageChunk::LeftOut));
        let with_usage = json!({"stream": true, "stream_options": {"include_usage": true}});
        assert_eq!(delivery(with_usage), ChatDelivery::Chunks(UsageChunk::Sent));
    }
}
