//! The wire form of an answer: an event of a stream, or a whole body, which is the message that a stream builds up.
//!
//! Every field may be absent: servers that imitate this API leave some out, and new kinds of events and blocks are
//! announced to come.

use serde::Deserialize;
use windlass_vocab::StopReason;

use crate::json_text::{JsonText, RawJson, or_empty};

/// An event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireEvent<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<JsonText<'a>>,
    pub(super) index: Option<u32>,
    #[serde(borrow)]
    pub(super) message: Option<WireMessage<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) delta: Option<WireDelta<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<RawJson<'a>>,
}

/// A whole body, or the start of a stream's message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireMessage<'a> {
    #[serde(borrow)]
    pub(super) model: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) content: Option<Vec<RawJson<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) stop_reason: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) stop_details: Option<StopDetails<'a>>,
}

/// What an event adds to a block, or to the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireDelta<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) partial_json: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) stop_reason: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) stop_details: Option<StopDetails<'a>>,
}

/// Why a request was refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StopDetails<'a> {
    #[serde(borrow)]
    pub(super) explanation: Option<JsonText<'a>>,
}

/// A content block, as far as it is understood.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireBlock<'a> {
    #[serde(borrow)]
    pub(super) r#type: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) signature: Option<RawJson<'a>>,
    #[serde(borrow)]
    pub(super) id: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<JsonText<'a>>,
    #[serde(borrow)]
    pub(super) input: Option<RawJson<'a>>,
}

/// Returns the meaning of a `stop_reason`; `None` if it is absent. An unknown one means the end of the reply: its
/// blocks decide the rest.
pub(super) fn stop_reason(word: Option<&JsonText<'_>>) -> Option<StopReason> {
    match or_empty(word) {
        "" => None,
        "tool_use" => Some(StopReason::Calls),
        "max_tokens" | "model_context_window_exceeded" => Some(StopReason::Length),
        "refusal" => Some(StopReason::Refused),
        "pause_turn" => Some(StopReason::Paused),
        // `end_turn`, `stop_sequence`, and what is yet unknown.
        _ => Some(StopReason::Stop),
    }
}
