//! How many bytes of text the next model call sends: an upper bound, and cheap, because texts know their length.

use windlass_vocab::{ImageRef, Message, Part, PinnedContext, Record};

use crate::counting::image_tokens;
use crate::transcript::Transcript;

/// Returns the bytes of the prefix, the offer and the conversation, with what the records of the batch add to it.
pub(crate) fn of_next_call(transcript: &Transcript, batch: &[Record]) -> u64 {
    let pinned = batch.iter().rev().find_map(|record| match record {
        Record::ContextPinned(pinned) => pinned.context.as_ref(),
        _ => None,
    });
    let context = pinned.or(transcript.context.as_deref()).map_or(0, of_context);
    let added = batch.iter().map(of_record).fold(0, usize::saturating_add);
    let sent = [context, transcript.sent_bytes(), added].into_iter().fold(0, usize::saturating_add);
    u64::try_from(sent).unwrap_or(u64::MAX)
}

fn of_context(context: &PinnedContext) -> usize {
    let tools =
        context.offer.iter().map(|tool| tool.wire_name.len() + tool.description.len() + tool.schema.as_str().len());
    // A model that writes calls as text gets rules in place of the definitions.
    let rules = context.text_calls.as_ref().map_or(0, |text| text.rules.len());
    context.prefix.len() + tools.sum::<usize>().max(rules)
}

/// Returns the bytes that a record adds to the conversation.
fn of_record(record: &Record) -> usize {
    match record {
        Record::MessageAccepted(accepted) => accepted.sent_text().len() + of_images(accepted.images()),
        Record::ModelReplied(replied) => of_parts(&replied.parts),
        Record::CallRequested(requested) => requested.name.len() + requested.arguments.as_str().len(),
        Record::CallFinished(finished) => finished.text.len() + of_images(&finished.images),
        Record::Nudged(nudged) => nudged.text.len(),
        Record::Undone(undone) => undone.told.len(),
        _ => 0,
    }
}

/// Returns the bytes of a message.
pub(crate) fn of_message(message: &Message) -> usize {
    match message {
        Message::User { text, images } => text.len() + of_images(images),
        Message::Assistant { parts, calls, .. } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.as_str().len());
            of_parts(parts) + calls.sum::<usize>()
        }
        Message::Tool { text, images, .. } => text.len() + of_images(images),
    }
}

/// Returns the bytes of a text that would have as many tokens as these images: three bytes for each.
fn of_images<'a>(images: impl IntoIterator<Item = &'a ImageRef>) -> usize {
    usize::try_from(image_tokens(images).saturating_mul(3)).unwrap_or(usize::MAX)
}

/// Returns the bytes of a reply's parts, without its calls.
pub(crate) fn of_parts(parts: &[Part]) -> usize {
    let bytes = parts.iter().map(|part| match part {
        Part::Text { text } => text.len(),
        Part::Thinking { text, signature } => text.len() + signature.as_ref().map_or(0, String::len),
        Part::Call { .. } => 0,
        Part::Opaque { item } => item.as_str().len(),
    });
    bytes.sum()
}
