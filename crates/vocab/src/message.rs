//! What is said: the history as it is sent to a model, and a model's reply as it came.

use serde::{Deserialize, Serialize};

use crate::{CallId, Json, OutcomeKind, Usage};

/// One entry of the history sent to a model. Folded from records, never stored itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A person's words, or a nudge.
    User {
        /// The words.
        text: String,
    },
    /// What a model said and which calls it asked for.
    Assistant {
        /// The parts, in the order they came.
        parts: Vec<Part>,
        /// The calls, by index.
        calls: Vec<CallInHistory>,
    },
    /// The result of one call.
    Tool {
        /// The call answered.
        call: CallId,
        /// The id the provider gave the call, if it gave one.
        provider_id: Option<String>,
        /// The tool's name as the model wrote it.
        name: String,
        /// How the call came out.
        outcome: OutcomeKind,
        /// The text shown to the model.
        text: String,
    },
}

/// A call as the history shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInHistory {
    /// Its id.
    pub call: CallId,
    /// The id the provider gave it.
    pub provider_id: Option<String>,
    /// The tool as the model wrote it.
    pub name: String,
    /// The arguments, always an object.
    pub arguments: Json,
}

/// A part of a model's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words meant for the person.
    Text {
        /// The words.
        text: String,
    },
    /// Reasoning; shown as thinking, never as answer.
    Thinking {
        /// The thoughts, empty where the provider hides them.
        text: String,
        /// The provider's signature, returned unchanged to the same model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A call the model asked for; what it asks stands in the `CallRequested` of the same batch.
    Call {
        /// Its place among the calls of the reply, from 0.
        index: u32,
    },
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    #[default]
    Stop,
    /// It wants its calls answered.
    Calls,
    /// It reached the length limit.
    Length,
    /// The provider's filter cut it off.
    Filtered,
    /// It refused.
    Refused,
    /// The provider reported an error as its finish.
    Error,
}

/// A model's whole reply, as a wire's codec gives it. Not yet a fact: names are unresolved and
/// arguments are whatever text the model wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Words, joined.
    pub text: String,
    /// Reasoning, joined.
    pub thinking: String,
    /// The provider's signature over the reasoning.
    pub signature: Option<String>,
    /// The calls, in order.
    pub calls: Vec<ReplyCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What it cost, as far as the provider says.
    pub usage: Option<Usage>,
    /// The model the provider says answered.
    pub model: Option<String>,
}

/// A call as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyCall {
    /// The provider's id; empty ones are `None`.
    pub provider_id: Option<String>,
    /// The name as written.
    pub name: String,
    /// The arguments as written; may be anything.
    pub arguments: String,
    /// The whole call as written, where it had to be mended to be read at all.
    pub mended: Option<String>,
}
