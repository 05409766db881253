//! The usage of a model call of which the provider reports none.

use windlass_machine::{Run, State};
use windlass_vocab::Usage;

use crate::retrieval::turn_passages::TurnPassages;
use crate::streamed::Streamed;

/// Estimates the usage where the provider reports none: the request as the context budget counts it, and four bytes of
/// the reply per token.
pub(crate) fn estimated(state: &State, passages: &TurnPassages, streamed: &Streamed) -> Usage {
    let model = state.control.run.as_ref().map(Run::current_model).unwrap_or_default();
    let reasoning = (streamed.thinking / 4) as u64;
    Usage {
        input: state.request_tokens(&model) + passages.tokens,
        output: ((streamed.text.len() + streamed.arguments) / 4) as u64 + reasoning,
        reasoning,
        calls: 1,
        estimated: true,
        ..Usage::default()
    }
}
