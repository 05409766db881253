//! The usage of a model call of which the provider reports none.

use windlass_machine::{Run, State};
use windlass_vocab::{Message, Part, Usage};

use crate::retrieval::turn_passages::TurnPassages;

/// Returns the estimated usage of an aborted call; nothing if nothing was received.
pub(crate) fn charged(state: &State, passages: &TurnPassages, streamed: &str) -> Usage {
    if streamed.is_empty() { Usage::default() } else { estimated(state, passages, "", streamed) }
}

/// Estimates the usage where the provider reports none: four bytes per token.
pub(crate) fn estimated(state: &State, passages: &TurnPassages, thinking: &str, text: &str) -> Usage {
    let model = state.control.run.as_ref().map(Run::current_model).unwrap_or_default();
    let context = state.transcript.context.as_ref().map_or(0, |context| context.prefix_of(&model).len());
    let sent: usize = state.transcript.history.iter().map(bytes_of).sum::<usize>() + context;
    let reasoning = (thinking.len() / 4) as u64;
    Usage {
        input: (sent / 4) as u64 + passages.tokens,
        output: (text.len() / 4) as u64 + reasoning,
        reasoning,
        calls: 1,
        estimated: true,
        ..Usage::default()
    }
}

fn bytes_of(message: &Message) -> usize {
    match message {
        Message::User { text, .. } | Message::Tool { text, .. } => text.len(),
        Message::Assistant { parts, calls, model: _ } => {
            let said = parts.iter().map(|part| match part {
                Part::Text { text } => text.len(),
                Part::Thinking { .. } | Part::Opaque { .. } | Part::Call { .. } => 0,
            });
            said.sum::<usize>() + calls.iter().map(|call| call.arguments.as_str().len()).sum::<usize>()
        }
    }
}
