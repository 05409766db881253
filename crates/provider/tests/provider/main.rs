//! Tests of the provider's public interface.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod any_bytes;
mod any_bytes_of_wires;
mod awkward;
mod faults;
mod image_requests;
mod messages_answers;
mod messages_requests;
mod network;
mod pulling;
mod recorded;
mod recorded_chat_requests;
mod recorded_requests;
mod recorded_responses_requests;
mod rejections;
mod repeated_call_ids;
mod requests;
mod responses_answers;
mod responses_requests;
mod reused;
mod server;
mod wires;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_provider::chat::ChatDraft;
use windlass_provider::{AnswerLimits, AnswerStream, Endpoint, Piece, WireDraft};
use windlass_vocab::{Failure, Reply, ReplyCall};

fn endpoint() -> Endpoint {
    Endpoint { base_url: "http://models.test/v1".into(), model: "m".into(), key: None }
}

/// The pieces that went to a sink, joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    text: String,
    thinking: String,
    /// Name and arguments by index.
    calls: BTreeMap<u32, (String, String)>,
}

impl Shown {
    fn add(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.text.push_str(text),
            Piece::Thinking(text) => self.thinking.push_str(text),
            Piece::Call { index, name, arguments } => {
                let call = self.calls.entry(index).or_default();
                call.0.push_str(name.unwrap_or_default());
                call.1.push_str(arguments);
            }
        }
    }

    /// Asserts that the pieces contain all of the reply.
    fn assert_covers(&self, reply: &Reply) {
        assert_eq!((&self.text, &self.thinking), (&reply.text(), &reply.thinking()));
        self.assert_covers_calls(reply);
    }

    /// The same of a stream whose items come in any order: they are shown as they come, and the reply has them by their
    /// places.
    fn assert_covers_in_any_order(&self, reply: &Reply) {
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        assert_eq!(letters(&self.text), letters(&reply.text()));
        assert_eq!(letters(&self.thinking), letters(&reply.thinking()));
        self.assert_covers_calls(reply);
    }

    fn assert_covers_calls(&self, reply: &Reply) {
        let arguments: Vec<&String> = self.calls.values().map(|(_, arguments)| arguments).collect();
        // A call of which nothing came but that it is one has nothing to show.
        let has_something = |call: &&ReplyCall| !(call.name.is_empty() && call.arguments.is_empty());
        let replied = reply.calls.iter().filter(has_something).map(|call| &call.arguments);
        assert_eq!(arguments, replied.collect::<Vec<_>>());
    }
}

/// Decodes `pushes` one after the other, as Chat Completions.
fn decode(pushes: &[&[u8]]) -> (Result<Reply, Failure>, Shown) {
    decode_as::<ChatDraft>(pushes)
}

/// Decodes `pushes` one after the other.
fn decode_as<D: WireDraft>(pushes: &[&[u8]]) -> (Result<Reply, Failure>, Shown) {
    let mut stream = AnswerStream::<D>::new(Arc::new(endpoint()), AnswerLimits::default());
    let mut shown = Shown::default();
    for bytes in pushes {
        if let Err(failure) = stream.push(bytes, &mut |piece| shown.add(piece)) {
            return (Err(failure), shown);
        }
    }
    (stream.finish(&mut |piece| shown.add(piece)), shown)
}
