//! Writes messages in the wire format. Every turn writes some, so they are written directly: constant JSON as it is,
//! and strings escaped.

use std::borrow::Cow;

use bytes::{BufMut, BytesMut};
use windlass_vocab::{CallInHistory, ImageRef, Message, ModelName, Part};

use crate::abilities::Abilities;
use crate::ability::ReasoningReturn;
use crate::call_ids::CallIds;
use crate::images::{ImagePlace, ImageSource, SentImage};
use crate::write_json::{separate, wire_name, write, write_string};

/// The role of a plain text message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptRole {
    System,
    User,
}

/// Writes a message of the system or the user.
pub(super) fn write_words(out: &mut impl BufMut, speaker: PromptRole, words: &str) {
    let opening = match speaker {
        PromptRole::System => r#"{"role":"system","content":"#,
        PromptRole::User => r#"{"role":"user","content":"#,
    };
    write_string(out, opening, words);
    write(out, "}");
}

/// Whether a message is a reply of which this wire can send nothing: only reasoning and items of another model. Servers
/// refuse a message without content.
fn has_nothing_for_chat(message: &Message) -> bool {
    match message {
        Message::Assistant { parts, calls, model: _ } => {
            let unsendable = |part: &Part| match part {
                Part::Text { text } => text.is_empty(),
                Part::Thinking { .. } | Part::Opaque { .. } => true,
                Part::Call { .. } => false,
            };
            calls.is_empty() && !parts.is_empty() && parts.iter().all(unsendable)
        }
        Message::User { .. } | Message::Tool { .. } => false,
    }
}

/// Stands between results and a message of the user where a server refuses one directly behind the other.
const BETWEEN_RESULTS_AND_USER: &str = "I have the results.";

/// Writes messages of the history for one model.
pub(super) struct ChatWriter<'a> {
    /// The model that is sent them.
    pub(super) reader: &'a ModelName,
    pub(super) abilities: &'a Abilities,
    pub(super) images: &'a ImageSource,
}

impl ChatWriter<'_> {
    /// Writes the message at `place` of the history.
    pub(super) fn write(&self, out: &mut BytesMut, history: &[Message], place: usize, ids: &mut CallIds) {
        let Some(message) = history.get(place).filter(|message| !has_nothing_for_chat(message)) else { return };
        separate(out);
        match message {
            Message::User { text, images } => {
                self.write_before_user(out, &history[..place]);
                self.write_user(out, text, images);
            }
            Message::Assistant { parts, calls, model } => self.write_reply(out, parts, calls, model, ids),
            Message::Tool { call, provider_id, text, images, name: _, outcome: _ } => {
                let id = ids.id(self.abilities.call_ids, *call, provider_id.as_deref());
                write_string(out, r#"{"role":"tool","tool_call_id":"#, &id);
                write_string(out, r#","content":"#, &self.images.text_with(text, images, ImagePlace::Result));
                write(out, "}");
                // All results of a reply enter the history together, so what follows them is known with the last one.
                if !matches!(history.get(place + 1), Some(Message::Tool { .. })) {
                    self.write_result_images(out, &history[..=place], ids);
                }
            }
        }
    }

    /// Writes what must stand between `history` and a message of the user.
    pub(super) fn write_before_user(&self, out: &mut impl BufMut, history: &[Message]) {
        let last = history.iter().rev().find(|message| !has_nothing_for_chat(message));
        let after_results = matches!(last, Some(Message::Tool { .. }));
        if after_results && !self.abilities.user_after_results.is_not_excluded() {
            write_string(out, r#"{"role":"assistant","content":"#, BETWEEN_RESULTS_AND_USER);
            write(out, "},");
        }
    }

    fn write_user(&self, out: &mut BytesMut, text: &str, images: &[ImageRef]) {
        let text = self.images.text_with(text, images, ImagePlace::Message);
        let mut sent = self.images.sent(images, ImagePlace::Message).peekable();
        if sent.peek().is_none() {
            return write_words(out, PromptRole::User, &text);
        }
        write_string(out, r#"{"role":"user","content":[{"type":"text","text":"#, &text);
        write(out, "}");
        sent.for_each(|image| write_image(out, &image));
        write(out, "]}");
    }

    /// Writes the images of the results at the end of `history`, in the order of the calls: in a message of the user
    /// behind them, because results are text alone.
    fn write_result_images(&self, out: &mut BytesMut, history: &[Message], ids: &mut CallIds) {
        let first = history.iter().rposition(|message| !matches!(message, Message::Tool { .. })).map_or(0, |at| at + 1);
        let mut opened = false;
        for message in &history[first..] {
            let Message::Tool { call, provider_id, name, images, .. } = message else { continue };
            let mut sent = self.images.sent(images, ImagePlace::Result).peekable();
            if sent.peek().is_none() {
                continue;
            }
            write(out, ",");
            if !opened {
                self.write_before_user(out, history);
                write(out, r#"{"role":"user","content":["#);
            }
            let id = ids.id(self.abilities.call_ids, *call, provider_id.as_deref());
            let words = format!("[images in the result of {}, {id}]", wire_name(name));
            write_string(out, r#"{"type":"text","text":"#, &words);
            write(out, "}");
            sent.for_each(|image| write_image(out, &image));
            opened = true;
        }
        if opened {
            write(out, "]}");
        }
    }

    fn write_reply(
        &self,
        out: &mut BytesMut,
        parts: &[Part],
        calls: &[CallInHistory],
        author: &ModelName,
        ids: &mut CallIds,
    ) {
        let words = joined(parts, Part::as_text);
        // Null is only valid with calls; servers refuse a message that has neither.
        if words.is_empty() && !calls.is_empty() {
            write(out, r#"{"role":"assistant","content":null"#);
        } else {
            write_string(out, r#"{"role":"assistant","content":"#, &words);
        }
        match self.abilities.reasoning_return {
            ReasoningReturn::Never => {}
            // A server that takes reasoning back may require the field, and the reasoning of others is not for it.
            ReasoningReturn::Field => {
                let is_own = author == self.reader;
                let thoughts = joined(parts, |part| part.as_thinking().filter(|_| is_own));
                write_string(out, r#","reasoning_content":"#, &thoughts);
            }
        }
        for (place, call) in calls.iter().enumerate() {
            write(out, if place == 0 { r#","tool_calls":["# } else { "," });
            let id = ids.id(self.abilities.call_ids, call.call, call.provider_id.as_deref());
            write_string(out, r#"{"id":"#, &id);
            write_string(out, r#","type":"function","function":{"name":"#, &wire_name(&call.name));
            write_string(out, r#","arguments":"#, call.arguments.as_str());
            write(out, "}}");
        }
        write(out, if calls.is_empty() { "}" } else { "]}" });
    }
}

/// Writes an image behind another part of a message.
fn write_image(out: &mut BytesMut, image: &SentImage<'_>) {
    write(out, r#",{"type":"image_url","image_url":{"url":"#);
    image.write_data_url(out);
    write(out, "}}");
}

/// Joins the texts that `pick` selects; copies only if there are several.
fn joined<'a>(parts: &'a [Part], pick: impl Fn(&'a Part) -> Option<&'a str>) -> Cow<'a, str> {
    let mut texts = parts.iter().filter_map(pick).filter(|text| !text.is_empty());
    let mut all = Cow::Borrowed(texts.next().unwrap_or_default());
    for text in texts {
        all.to_mut().push_str(text);
    }
    all
}
