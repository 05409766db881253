//! The blocks of an answer, as far as they have arrived.
//!
//! Text and reasoning are ours to show, calls are ours to make. Every other block is the provider's own (reasoning
//! that it hides, tools that it runs): it is kept as it came, to be returned to the model, unless it came in fragments
//! that this version does not know.

use serde_json::Value;
use windlass_vocab::{Json, Part, ReplyCall};

use super::event::{WireBlock, WireDelta};
use crate::json_text::{RawJson, arguments, or_empty, string};
use crate::piece::Piece;

/// A block that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BegunBlock {
    /// Its number in the stream.
    pub(super) index: u32,
    pub(super) content: BlockContent,
}

/// What a block holds so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum BlockContent {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    /// The call with this place in the reply.
    Call(BegunCall),
    Item(BegunItem),
}

/// A call that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BegunCall {
    /// Its place among the calls.
    pub(super) place: u32,
    pub(super) call: ReplyCall,
    /// The arguments the block began with; they count if no fragments follow.
    pub(super) initial: String,
}

/// An item of the provider's that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BegunItem {
    /// The block as it began; `None` if it can't be completed.
    item: Option<Json>,
    /// Fragments of its field `input`.
    input: String,
}

impl BlockContent {
    /// Returns a block that begins like `raw`, as the call with `place` if it is one. What it begins with goes to
    /// `sink`.
    pub(super) fn begin(raw: RawJson<'_>, place: u32, sink: &mut dyn FnMut(Piece<'_>)) -> Self {
        let block: WireBlock<'_> = serde_json::from_str(raw.0).unwrap_or_default();
        let text = |raw: Option<RawJson<'_>>| string(raw).unwrap_or_default().into_owned();
        match or_empty(block.r#type.as_ref()) {
            "text" => {
                let mut content = Self::Text(String::new());
                content.add_text(&text(block.text), sink);
                content
            }
            "thinking" => {
                let mut content = Self::Thinking { text: String::new(), signature: text(block.signature) };
                content.add_thinking(&text(block.thinking), sink);
                content
            }
            "tool_use" => {
                let id = or_empty(block.id.as_ref());
                let name = or_empty(block.name.as_ref());
                let call = ReplyCall {
                    provider_id: (!id.is_empty()).then(|| id.to_owned()),
                    name: name.to_owned(),
                    ..ReplyCall::default()
                };
                sink(Piece::Call { index: place, name: Some(name), arguments: "" });
                Self::Call(BegunCall { place, call, initial: arguments(block.input).into_owned() })
            }
            _ => Self::Item(BegunItem { item: Json::parse(raw.0).ok(), input: String::new() }),
        }
    }

    /// Adds what an event brings.
    pub(super) fn add(&mut self, delta: &WireDelta<'_>, sink: &mut dyn FnMut(Piece<'_>)) {
        match or_empty(delta.r#type.as_ref()) {
            "text_delta" => self.add_text(&string(delta.text).unwrap_or_default(), sink),
            "thinking_delta" => self.add_thinking(&string(delta.thinking).unwrap_or_default(), sink),
            "signature_delta" => {
                if let Self::Thinking { signature, .. } = self {
                    signature.push_str(&string(delta.signature).unwrap_or_default());
                }
            }
            "input_json_delta" => self.add_input(&string(delta.partial_json).unwrap_or_default(), sink),
            // Sources of a text are not kept; an item that changes in a way unknown here is lost.
            _ => {
                if let Self::Item(open) = self {
                    open.item = None;
                }
            }
        }
    }

    fn add_text(&mut self, more: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        if let (Self::Text(text), false) = (self, more.is_empty()) {
            text.push_str(more);
            sink(Piece::Text(more));
        }
    }

    fn add_thinking(&mut self, more: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        if let (Self::Thinking { text, .. }, false) = (self, more.is_empty()) {
            text.push_str(more);
            sink(Piece::Thinking(more));
        }
    }

    fn add_input(&mut self, more: &str, sink: &mut dyn FnMut(Piece<'_>)) {
        match self {
            Self::Call(open) if !more.is_empty() => {
                open.call.arguments.push_str(more);
                sink(Piece::Call { index: open.place, name: None, arguments: more });
            }
            Self::Item(open) => open.input.push_str(more),
            Self::Call(_) | Self::Text(_) | Self::Thinking { .. } => {}
        }
    }

    /// Ends the block: a call without fragments has the arguments it began with.
    pub(super) fn end(&mut self, sink: &mut dyn FnMut(Piece<'_>)) {
        if let Self::Call(BegunCall { place, call, initial }) = self
            && call.arguments.is_empty()
            && !initial.is_empty()
        {
            call.arguments = std::mem::take(initial);
            sink(Piece::Call { index: *place, name: None, arguments: &call.arguments });
        }
    }

    /// Returns the block as a part of the reply, and the call if it is one; `None` if there is nothing in it.
    pub(super) fn finish(self) -> Option<(Part, Option<ReplyCall>)> {
        match self {
            Self::Text(text) if text.is_empty() => None,
            Self::Text(text) => Some((Part::Text { text: kept(text) }, None)),
            Self::Thinking { text, signature } if text.is_empty() && signature.is_empty() => None,
            Self::Thinking { text, signature } => {
                let signature = (!signature.is_empty()).then(|| kept(signature));
                Some((Part::Thinking { text: kept(text), signature }, None))
            }
            Self::Call(open) => Some((Part::Call { index: open.place }, Some(open.call))),
            Self::Item(open) => Some((Part::Opaque { item: open.finish()? }, None)),
        }
    }
}

/// A reply stays in memory as long as its session.
fn kept(mut text: String) -> String {
    text.shrink_to_fit();
    text
}

impl BegunItem {
    fn finish(self) -> Option<Json> {
        let item = self.item?;
        if self.input.is_empty() {
            return Some(item);
        }
        let mut whole = item.to_value();
        let input: Value = serde_json::from_str(&self.input).ok()?;
        whole.as_object_mut()?.insert("input".into(), input);
        Some(Json::from(&whole))
    }
}
