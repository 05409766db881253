//! Writes the history as content blocks.
//!
//! The protocol: neighbouring messages of one role are one message on this wire, so that all results of a reply, and
//! what a person or a nudge adds to them, answer it together. A message is therefore left open when it is written: the
//! next one continues it, or closes it and opens its own. What closes the last one is no part of the stable bytes.

use bytes::{BufMut, BytesMut};
use windlass_vocab::{CallId, CallInHistory, ImageRef, Json, Message, ModelName, OutcomeKind, Part};

use crate::ability::CallIdForm;
use crate::call_ids::CallIds;
use crate::images::{ImagePlace, ImageSource, SentImage};
use crate::request_body::reminder;
use crate::write_json::{wire_name, write, write_string};

/// The ids of calls that the protocol accepts.
const CALL_IDS: CallIdForm = CallIdForm::Plain;

/// Who speaks in a message on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WireRole {
    User,
    Assistant,
}

/// A content block.
#[derive(Clone, Copy, Debug)]
enum SentBlock<'a> {
    Text(&'a str),
    Thinking {
        text: &'a str,
        signature: &'a str,
    },
    Opaque(&'a Json),
    Call(&'a CallInHistory),
    /// What a person or a nudge says, with the images behind it.
    Words {
        text: &'a str,
        images: &'a [ImageRef],
    },
    Result {
        call: CallId,
        provider_id: Option<&'a str>,
        outcome: OutcomeKind,
        text: &'a str,
        images: &'a [ImageRef],
    },
}

/// Who is sent a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// The model that made it.
    Author,
    Other,
}

impl Reader {
    fn of(author: &ModelName, reader: &ModelName) -> Self {
        if author == reader { Self::Author } else { Self::Other }
    }
}

/// Writes the message at `place` of the history.
pub(super) fn write_message(
    out: &mut BytesMut,
    history: &[Message],
    place: usize,
    reader: &ModelName,
    images: &ImageSource,
    ids: &mut CallIds,
) {
    let Some((earlier, message)) = history.get(..=place).and_then(<[_]>::split_last).map(|(last, all)| (all, last))
    else {
        return;
    };
    let role = role(message);
    for (number, block) in blocks(message, reader).into_iter().enumerate() {
        if number == 0 {
            open(out, last_role(earlier, reader), role);
        } else {
            write(out, ",");
        }
        match block {
            SentBlock::Words { text, images: refs } if !refs.is_empty() => write_words(out, text, refs, images),
            SentBlock::Result { images: refs, .. } if !refs.is_empty() => write_result(out, block, images, ids),
            SentBlock::Text(_)
            | SentBlock::Thinking { .. }
            | SentBlock::Opaque(_)
            | SentBlock::Call(_)
            | SentBlock::Words { .. }
            | SentBlock::Result { .. } => write_block(out, block, ids),
        }
    }
}

/// Continues the open message, or closes it and opens one of `role`.
fn open(out: &mut impl BufMut, before: Option<WireRole>, role: WireRole) {
    match before {
        Some(open) if open == role => return write(out, ","),
        Some(_) => write(out, "]},"),
        None => {}
    }
    write(
        out,
        match role {
            WireRole::User => r#"{"role":"user","content":["#,
            WireRole::Assistant => r#"{"role":"assistant","content":["#,
        },
    );
}

/// What a request does with a reply at the end of the history that the provider paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastReply {
    /// It goes on with it, so the reply must stay the last message.
    Continued,
    /// It asks for something else, a summary for instance, so the words that ask for it follow the reply.
    Answered,
}

/// Closes the last message, with `tail` as its last block where there is one.
pub(super) fn close(out: &mut impl BufMut, history: &[Message], reader: &ModelName, tail: &str, last_reply: LastReply) {
    let before = last_role(history, reader);
    let stays_last =
        last_reply == LastReply::Continued && before == Some(WireRole::Assistant) && ends_in_opaque(history, reader);
    if !tail.is_empty() && !stays_last {
        open(out, before, WireRole::User);
        write_text(out, &reminder(tail));
        write(out, "]}");
    } else if before.is_some() {
        write(out, "]}");
    }
}

fn ends_in_opaque(history: &[Message], reader: &ModelName) -> bool {
    let last = history.iter().rev().find_map(|message| blocks(message, reader).pop());
    matches!(last, Some(SentBlock::Opaque(_)))
}

/// Returns the role of the last message that has something to write.
fn last_role(history: &[Message], reader: &ModelName) -> Option<WireRole> {
    history.iter().rev().find(|message| is_written(message, reader)).map(role)
}

/// Whether a message has a block that the wire accepts.
pub(super) fn is_written(message: &Message, reader: &ModelName) -> bool {
    !blocks(message, reader).is_empty()
}

pub(super) fn role(message: &Message) -> WireRole {
    match message {
        Message::User { .. } | Message::Tool { .. } => WireRole::User,
        Message::Assistant { .. } => WireRole::Assistant,
    }
}

/// Whether a reply starts with reasoning that `reader` may be given back.
pub(super) fn starts_with_thinking(message: &Message, reader: &ModelName) -> bool {
    blocks(message, reader).first().is_some_and(SentBlock::is_thinking)
}

/// Returns the blocks of a message. Servers refuse blank text.
fn blocks<'a>(message: &'a Message, reader: &ModelName) -> Vec<SentBlock<'a>> {
    match message {
        Message::User { text, images } if is_blank(text) && images.is_empty() => Vec::new(),
        Message::User { text, images } => vec![SentBlock::Words { text, images }],
        Message::Tool { call, provider_id, name: _, outcome, text, images } => {
            let provider_id = provider_id.as_deref();
            vec![SentBlock::Result { call: *call, provider_id, outcome: *outcome, text, images }]
        }
        Message::Assistant { parts, calls, model } => reply_blocks(parts, calls, Reader::of(model, reader)),
    }
}

/// Returns the blocks of a reply. Reasoning and opaque items go back to the model that made them, and to no other; reasoning that nothing follows is refused by the server.
fn reply_blocks<'a>(parts: &'a [Part], calls: &'a [CallInHistory], reader: Reader) -> Vec<SentBlock<'a>> {
    let mut blocks = Vec::with_capacity(parts.len());
    let mut written = vec![false; calls.len()];
    for part in parts {
        match part {
            Part::Text { text } if is_blank(text) => {}
            Part::Text { text } => blocks.push(SentBlock::Text(text)),
            Part::Thinking { text, signature: Some(signature) }
                if reader == Reader::Author && !signature.is_empty() =>
            {
                blocks.push(SentBlock::Thinking { text, signature });
            }
            Part::Opaque { item } if reader == Reader::Author && is_of_this_wire(item) => {
                blocks.push(SentBlock::Opaque(item));
            }
            Part::Thinking { .. } | Part::Opaque { .. } => {}
            Part::Call { index } => {
                let place = usize::try_from(*index).unwrap_or(usize::MAX);
                if let (Some(call), Some(false)) = (calls.get(place), written.get(place)) {
                    written[place] = true;
                    blocks.push(SentBlock::Call(call));
                }
            }
        }
    }
    blocks.extend(calls.iter().zip(written).filter(|(_, written)| !written).map(|(call, _)| SentBlock::Call(call)));
    while blocks.last().is_some_and(SentBlock::is_thinking) {
        blocks.pop();
    }
    blocks
}

impl SentBlock<'_> {
    fn is_thinking(&self) -> bool {
        match self {
            Self::Thinking { .. } => true,
            Self::Opaque(item) => item_type(item).as_deref() == Some(REDACTED),
            Self::Text(_) | Self::Call(_) | Self::Words { .. } | Self::Result { .. } => false,
        }
    }
}

const REDACTED: &str = "redacted_thinking";

/// Whether an item was made on this wire: a model's name may have been another wire's before.
fn is_of_this_wire(item: &Json) -> bool {
    item_type(item)
        .is_some_and(|kind| kind == REDACTED || kind.ends_with("_tool_use") || kind.ends_with("_tool_result"))
}

fn item_type(item: &Json) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct ItemType {
        r#type: String,
    }
    serde_json::from_str::<ItemType>(item.as_str()).ok().map(|ItemType { r#type }| r#type)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn write_text(out: &mut impl BufMut, text: &str) {
    write_string(out, r#"{"type":"text","text":"#, text);
    write(out, "}");
}

fn write_block(out: &mut BytesMut, block: SentBlock<'_>, ids: &mut CallIds) {
    match block {
        SentBlock::Text(text) | SentBlock::Words { text, .. } => return write_text(out, text),
        SentBlock::Thinking { text, signature } => {
            write_string(out, r#"{"type":"thinking","thinking":"#, text);
            write_string(out, r#","signature":"#, signature);
        }
        SentBlock::Opaque(item) => return write(out, item.as_str()),
        SentBlock::Call(call) => {
            let id = ids.id(CALL_IDS, call.call, call.provider_id.as_deref());
            write_string(out, r#"{"type":"tool_use","id":"#, &id);
            write_string(out, r#","name":"#, &wire_name(&call.name));
            write(out, r#","input":"#);
            write(out, call.arguments.as_str());
        }
        SentBlock::Result { call, provider_id, outcome, text, images: _ } => {
            write_string(out, r#"{"type":"tool_result","tool_use_id":"#, &ids.id(CALL_IDS, call, provider_id));
            let is_error = outcome != OutcomeKind::Ok;
            if is_error {
                write(out, r#","is_error":true"#);
            }
            // An error without content is refused.
            write_string(out, r#","content":"#, if is_error && is_blank(text) { "The call failed." } else { text });
        }
    }
    write(out, "}");
}

/// Writes words with images: a block of text, which names them, and a block for each that is sent.
fn write_words(out: &mut BytesMut, text: &str, refs: &[ImageRef], images: &ImageSource) {
    write_text(out, &images.text_with(text, refs, ImagePlace::Message));
    for image in images.sent(refs, ImagePlace::Message) {
        write(out, ",");
        write_image(out, &image);
    }
}

/// Writes a result with images. The content of an error must be text.
fn write_result(out: &mut BytesMut, block: SentBlock<'_>, images: &ImageSource, ids: &mut CallIds) {
    let SentBlock::Result { call, provider_id, outcome, text, images: refs } = block else { return };
    let place = if outcome == OutcomeKind::Ok { ImagePlace::Result } else { ImagePlace::TextResult };
    let text = images.text_with(text, refs, place);
    let mut sent = images.sent(refs, place).peekable();
    if sent.peek().is_none() {
        return write_block(out, SentBlock::Result { call, provider_id, outcome, text: &text, images: &[] }, ids);
    }
    write_string(out, r#"{"type":"tool_result","tool_use_id":"#, &ids.id(CALL_IDS, call, provider_id));
    write(out, r#","content":["#);
    let mut comma = "";
    if !is_blank(&text) {
        write_text(out, &text);
        comma = ",";
    }
    for image in sent {
        write(out, comma);
        write_image(out, &image);
        comma = ",";
    }
    write(out, "]}");
}

fn write_image(out: &mut BytesMut, image: &SentImage<'_>) {
    write_string(out, r#"{"type":"image","source":{"type":"base64","media_type":"#, image.media_type);
    write(out, r#","data":""#);
    image.write_base64(out);
    write(out, r#""}}"#);
}
