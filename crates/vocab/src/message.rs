//! Messages: the history as it is sent to a model, and a model's reply as it came.

use serde::{Deserialize, Serialize};

use crate::{CallId, Json, OutcomeKind, Usage};

/// One entry of the history sent to a model. Derived from records, never stored itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A person's message, or a nudge.
    User {
        /// The text.
        text: String,
    },
    /// A model's reply, with the calls it asked for.
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
        /// The id the provider gave the call, if any.
        provider_id: Option<String>,
        /// The tool's name as the model wrote it.
        name: String,
        /// The outcome of the call.
        outcome: OutcomeKind,
        /// The text shown to the model.
        text: String,
    },
}

/// A call in the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInHistory {
    /// Its id.
    pub call: CallId,
    /// The id the provider gave it.
    pub provider_id: Option<String>,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments, always an object.
    pub arguments: Json,
}

/// A part of a model's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text for the person.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning; displayed as thinking, never as the answer.
    Thinking {
        /// The reasoning text, empty where the provider hides it.
        text: String,
        /// The provider's signature, returned unchanged to the same model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A call the model asked for; its details are in the `CallRequested` of the same batch.
    Call {
        /// The call's place among the calls of the reply, from 0.
        index: u32,
    },
}

impl Part {
    /// Returns the text, if this part is text for the person.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            Self::Thinking { .. } | Self::Call { .. } => None,
        }
    }

    /// Returns the text for the person in these parts, joined.
    #[must_use]
    pub fn joined_text(parts: &[Self]) -> String {
        parts.iter().filter_map(Self::as_text).collect()
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It finished its reply.
    #[default]
    Stop,
    /// It wants the results of its calls.
    Calls,
    /// It reached the length limit.
    Length,
    /// The provider's filter cut it off.
    Filtered,
    /// It refused.
    Refused,
    /// The provider gave an error as the finish reason.
    Error,
}

/// A model's whole reply as the wire codec decoded it. Not yet a record: tool names are unresolved and arguments are
/// unparsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The text, joined.
    pub text: String,
    /// The reasoning, joined.
    pub thinking: String,
    /// The provider's signature over the reasoning.
    pub signature: Option<String>,
    /// The calls, in order.
    pub calls: Vec<ReplyCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// The tokens used, as far as the provider reports them.
    pub usage: Option<Usage>,
    /// The model that answered, according to the provider.
    pub model: Option<String>,
}

/// A call as the model wrote it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplyCall {
    /// The provider's id; `None` where it was empty.
    pub provider_id: Option<String>,
    /// The tool's name as written.
    pub name: String,
    /// The arguments as written; any text, not necessarily JSON.
    pub arguments: String,
    /// The whole call as written, where it could be parsed only after a repair.
    pub mended: Option<String>,
}
