//! What several wires send in the same way.

use windlass_vocab::{OutputSpec, TurnMode};

use crate::ability::ResponseFormat;
use crate::model::ModelRequest;

/// Returns the choice of tools; none where no tool is offered. Withheld tools stay in the body, so that the cached
/// prefix stays valid.
pub(crate) fn tool_choice(request: &ModelRequest<'_>) -> Option<&'static str> {
    let choice = match request.mode {
        TurnMode::Tools => "auto",
        TurnMode::Talk | TurnMode::WrapUp | TurnMode::Summary | TurnMode::Title => "none",
    };
    (!request.context.offer.is_empty()).then_some(choice)
}

/// Returns the schema of the answer where it is sent: only that of an object, because servers refuse any other.
pub(crate) fn output_schema<'a>(when: ResponseFormat, request: &ModelRequest<'a>) -> Option<&'a OutputSpec> {
    let callable = request.mode == TurnMode::Tools && !request.context.offer.is_empty();
    let sent = match when {
        ResponseFormat::Always => true,
        ResponseFormat::WithoutTools => !callable,
        ResponseFormat::Never => false,
    };
    request.output.filter(|spec| sent && spec.schema.to_value()["type"] == "object")
}
