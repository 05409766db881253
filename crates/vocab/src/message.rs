//! Messages: the history as it is sent to a model, and a model's reply as it came.

use serde::{Deserialize, Serialize};

use crate::part::Part;
use crate::{CallId, ImageRef, Json, ModelName, OutcomeKind, Usage};

/// One entry of the history sent to a model. Derived from records, never stored itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A person's message, or a nudge.
    User {
        /// The text.
        text: String,
        /// The images sent with it.
        images: Vec<ImageRef>,
    },
    /// A model's reply, with the calls it asked for.
    Assistant {
        /// The parts, in the order they came.
        parts: Vec<Part>,
        /// The calls, by index.
        calls: Vec<CallInHistory>,
        /// The model that made it, as named in the configuration: signed and opaque parts are returned to no other.
        model: ModelName,
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
        /// The images of the result.
        images: Vec<ImageRef>,
    },
}

impl Message {
    /// Returns a message of the user role that is only text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into(), images: Vec::new() }
    }

    /// Returns the images in it.
    #[must_use]
    pub fn images(&self) -> &[ImageRef] {
        match self {
            Self::User { images, .. } | Self::Tool { images, .. } => images,
            Self::Assistant { .. } => &[],
        }
    }
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
    /// The provider wants the conversation sent again, with this reply at its end, to continue the reply.
    Paused,
}

/// A model's whole reply as the wire codec decoded it. Not yet a record: tool names are unresolved and arguments are
/// unparsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The parts, in the order they came. Each call has a [`Part::Call`] with its index in `calls`.
    pub parts: Vec<Part>,
    /// The calls, in order.
    pub calls: Vec<ReplyCall>,
    /// Why it stopped.
    pub stop: StopReason,
    /// The tokens used, as far as the provider reports them.
    pub usage: Option<Usage>,
    /// The model that answered, according to the provider.
    pub model: Option<String>,
}

impl Reply {
    /// Returns a reply that is only text, or nothing where the text is empty.
    #[must_use]
    pub fn from_text(text: impl Into<String>) -> Self {
        let mut reply = Self::default();
        reply.set_text(text.into());
        reply
    }

    /// Returns the text for the person, joined.
    #[must_use]
    pub fn text(&self) -> String {
        Part::joined_text(&self.parts)
    }

    /// Returns the reasoning, joined.
    #[must_use]
    pub fn thinking(&self) -> String {
        Part::joined_thinking(&self.parts)
    }

    /// Replaces the text for the person: all of it stands where the first text stood.
    pub fn set_text(&mut self, text: String) {
        let place = self.parts.iter().position(|part| part.as_text().is_some()).unwrap_or(self.parts.len());
        self.parts.retain(|part| part.as_text().is_none());
        if !text.is_empty() {
            self.parts.insert(place.min(self.parts.len()), Part::Text { text });
        }
    }

    /// Adds a call at the end.
    pub fn push_call(&mut self, call: ReplyCall) {
        self.parts.push(Part::Call { index: u32::try_from(self.calls.len()).unwrap_or(u32::MAX) });
        self.calls.push(call);
    }
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
    /// The whole call as written, where it could be parsed or run only after a repair.
    pub mended: Option<String>,
}
