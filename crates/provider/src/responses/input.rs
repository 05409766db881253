//! Writes the history as input items. Every turn writes some, so they are written directly: constant JSON as it is,
//! and strings escaped.
//!
//! Items are sent without ids of their own: a server checks an id against what it stored, and it stores nothing. A
//! reply's text is sent as a plain string, the one form of it that needs no id.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use windlass_vocab::{CallInHistory, Message, ModelName, Part};

use super::kept_item::KeptItem;
use crate::ability::CallIdForm;
use crate::call_ids::CallIds;
use crate::images::{ImagePlace, ImageSource, SentImage};
use crate::write_json::{separate, wire_name, write, write_string};

/// The ids of calls that the protocol accepts.
const CALL_IDS: CallIdForm = CallIdForm::Plain;

/// Writes a message of the history for `model`.
pub(super) fn write_message(
    out: &mut BytesMut,
    message: &Message,
    model: &ModelName,
    images: &ImageSource,
    ids: &mut CallIds,
) {
    match message {
        Message::User { text, images: refs } => {
            separate(out);
            write(out, r#"{"type":"message","role":"user","content":"#);
            write_content(
                out,
                &images.text_with(text, refs, ImagePlace::Message),
                images.sent(refs, ImagePlace::Message),
            );
            write(out, "}");
        }
        Message::Assistant { parts, calls, model: author } => {
            write_parts(out, parts, calls, if author == model { Author::Same } else { Author::Other }, ids);
        }
        Message::Tool { call, provider_id, text, images: refs, name: _, outcome: _ } => {
            separate(out);
            let id = ids.id(CALL_IDS, *call, provider_id.as_deref());
            write_string(out, r#"{"type":"function_call_output","call_id":"#, &id);
            let text = images.text_with(text, refs, ImagePlace::Result);
            let mut sent = images.sent(refs, ImagePlace::Result).peekable();
            if sent.peek().is_none() {
                write_string(out, r#","output":"#, &text);
            } else {
                write(out, r#","output":"#);
                write_content(out, &text, sent);
            }
            write(out, "}");
        }
    }
}

/// Writes a text and the images behind it as a list.
fn write_content<'a>(out: &mut BytesMut, text: &str, images: impl Iterator<Item = SentImage<'a>>) {
    write_string(out, r#"[{"type":"input_text","text":"#, text);
    write(out, "}");
    for image in images {
        write(out, r#",{"type":"input_image","detail":"auto","image_url":"#);
        image.write_data_url(out);
        write(out, "}");
    }
    write(out, "]");
}

/// Writes a message of the user.
pub(super) fn write_user(out: &mut impl BufMut, text: &str) {
    write_string(out, r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"#, text);
    write(out, "}]}");
}

/// Whether a reply was made by the model it is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Author {
    Same,
    Other,
}

/// Writes a reply. Texts that stand together are one message. A call that no part names follows the parts: its result
/// stands in the history, and a result without its call is refused.
fn write_parts(out: &mut BytesMut, parts: &[Part], calls: &[CallInHistory], author: Author, ids: &mut CallIds) {
    let mut message = PendingMessage::default();
    let mut unwritten: Vec<Option<&CallInHistory>> = calls.iter().map(Some).collect();
    for (place, part) in parts.iter().enumerate() {
        match part {
            Part::Text { text } if message.text.is_empty() => message.text = Cow::Borrowed(text),
            Part::Text { text } => message.text.to_mut().push_str(text),
            Part::Call { index } => {
                message.write(out);
                if let Some(call) = unwritten.get_mut(*index as usize).and_then(Option::take) {
                    write_call(out, call, ids);
                }
            }
            Part::Opaque { item } if author == Author::Same => match KeptItem::read(item) {
                // Reasoning that led to nothing is refused.
                Some(KeptItem::Reasoning(item)) if is_followed(&parts[place + 1..], &unwritten) => {
                    message.write(out);
                    separate(out);
                    write(out, item);
                }
                Some(KeptItem::Phase(phase)) => {
                    message.write(out);
                    message.phase = Some(phase);
                }
                Some(KeptItem::Reasoning(_)) | None => {}
            },
            Part::Opaque { .. } | Part::Thinking { .. } => {}
        }
    }
    message.write(out);
    for call in unwritten.into_iter().flatten() {
        write_call(out, call, ids);
    }
}

/// Whether an item follows that is written for `parts`, or for a call that no part before them names.
fn is_followed(parts: &[Part], unwritten: &[Option<&CallInHistory>]) -> bool {
    let has_text = |part: &Part| matches!(part, Part::Text { text } if !text.is_empty());
    parts.iter().any(has_text) || unwritten.iter().any(Option::is_some)
}

/// The text of a reply that has not been written yet.
#[derive(Default)]
struct PendingMessage<'a> {
    text: Cow<'a, str>,
    phase: Option<String>,
}

impl PendingMessage<'_> {
    fn write(&mut self, out: &mut BytesMut) {
        let Self { text, phase } = std::mem::take(self);
        if text.is_empty() {
            return;
        }
        separate(out);
        write(out, r#"{"type":"message","role":"assistant""#);
        if let Some(phase) = phase {
            write_string(out, r#","phase":"#, &phase);
        }
        write_string(out, r#","content":"#, &text);
        write(out, "}");
    }
}

fn write_call(out: &mut BytesMut, call: &CallInHistory, ids: &mut CallIds) {
    separate(out);
    let id = ids.id(CALL_IDS, call.call, call.provider_id.as_deref());
    write_string(out, r#"{"type":"function_call","call_id":"#, &id);
    write_string(out, r#","name":"#, &wire_name(&call.name));
    write_string(out, r#","arguments":"#, call.arguments.as_str());
    write(out, "}");
}
