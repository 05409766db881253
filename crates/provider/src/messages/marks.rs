//! Where the provider's cache is told to keep what it has read (M6).
//!
//! Four marks at most, which is what the API accepts: after the tools, after the system text, and at the end of the
//! last two messages of the user's side. The last one is written in this turn and read in the next, where it is the one
//! before the last: so every turn finds what the turn before it left, however many blocks a reply and its results have.
//! All follow from the context and the history alone, so they are the same after a restart. The reminder comes after
//! the last mark.

use windlass_vocab::{Message, ModelName, PinnedContext, json_text};

use super::message::{WireRole, is_written, role};
use super::request::{AFTER_STATIC, BEFORE_SYSTEM, END_OF_LIST};
use crate::segments::Segments;

/// What a mark adds to a block.
pub(super) const CACHE_CONTROL: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// How many messages of the history are marked.
const IN_HISTORY: usize = 2;

/// Returns the places of the marks in the stable bytes, in order.
pub(super) fn marks(
    segments: &Segments,
    context: &PinnedContext,
    tools: usize,
    history: &[Message],
    reader: &ModelName,
) -> Vec<(usize, &'static str)> {
    let mut places = static_places(segments.prefix_end(), context, tools);
    places.extend(history_places(segments, history, reader));
    places.into_iter().map(|place| (place, CACHE_CONTROL)).collect()
}

/// Returns the places in the prefix: before the brace that ends the last tool, and the one that ends the system text.
fn static_places(prefix_end: usize, context: &PinnedContext, tools: usize) -> Vec<usize> {
    let end_of_lists = prefix_end - AFTER_STATIC.len();
    let mut places = Vec::new();
    let mut list_end = end_of_lists;
    if !context.prefix.is_empty() {
        places.push(list_end - END_OF_LIST.len());
        list_end -= BEFORE_SYSTEM.len() + written_length(&context.prefix) + END_OF_LIST.len();
    }
    if tools > 0 {
        places.insert(0, list_end - END_OF_LIST.len());
    }
    places
}

/// Returns the length of `text` as a JSON string.
fn written_length(text: &str) -> usize {
    let mut length = 0;
    json_text(text, |piece| length += piece.len());
    length
}

/// Returns the ends of the last messages of the user's side, before the brace that ends their last block.
fn history_places(segments: &Segments, history: &[Message], reader: &ModelName) -> Vec<usize> {
    let mut places = Vec::with_capacity(IN_HISTORY);
    let mut after = WireRole::Assistant;
    for (place, message) in history.iter().enumerate().rev() {
        if places.len() == IN_HISTORY {
            break;
        }
        if !is_written(message, reader) {
            continue;
        }
        let role = role(message);
        if role == WireRole::User && after == WireRole::Assistant {
            places.push(segments.end_of(place) - 1);
        }
        after = role;
    }
    places.reverse();
    places
}
