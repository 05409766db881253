//! What the server uses of requests on the OpenAI wire, as the document describes it. OpenAI's own documents have the rest, and
//! `docs/openai.md` says what of it is ignored and refused.

use utoipa::ToSchema;

/// The agent that answers: `windlass`, or `windlass/NAME`.
#[derive(ToSchema)]
#[schema(pattern = "^windlass(/[a-z]+)?$", example = "windlass")]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct AgentName(String);

/// A request for a chat completion.
#[derive(ToSchema)]
#[schema(example = json!({"model": "windlass", "messages": [{"role": "user", "content": "What does this project do?"}]}))]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct ChatCompletionRequest {
    model: AgentName,
    /// The conversation; the last message is the user's.
    #[schema(min_items = 1)]
    messages: Vec<ConversationMessage>,
    /// Whether the answer comes in parts.
    stream: Option<bool>,
}

/// A request for a response.
#[derive(ToSchema)]
#[schema(example = json!({"model": "windlass", "input": "What does this project do?"}))]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct ResponseRequest {
    model: AgentName,
    input: ConversationInput,
    /// What the agent is told before the conversation.
    instructions: Option<String>,
    /// The response that the conversation goes on from.
    previous_response_id: Option<String>,
    /// Whether the answer comes in parts.
    stream: Option<bool>,
}

/// A text, or a conversation.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) enum ConversationInput {
    Text(String),
    Messages(Vec<ConversationMessage>),
}

/// A message of a conversation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) struct ConversationMessage {
    role: ConversationRole,
    content: ConversationContent,
}

/// Who says it.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) enum ConversationRole {
    System,
    Developer,
    User,
    Assistant,
}

/// A text, or parts of text, images and files.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes the body")]
pub(crate) enum ConversationContent {
    Text(String),
    Parts(Vec<serde_json::Value>),
}

/// A part of an answer, as OpenAI describes it; the last `data` of a chat completion is `[DONE]`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it only describes what is sent")]
pub(crate) struct AnswerStreamEvent {
    #[schema(nullable = false)]
    event: Option<String>,
    data: String,
}
