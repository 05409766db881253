//! How much thought a reply is worth, for models whose effort can't be set by a parameter, or not only by one.

use windlass_vocab::Reasoning;

use super::texts::PrefixTexts;

/// Returns the guidance for this effort; nothing where the model's own habit is wanted.
pub(super) fn section(texts: &PrefixTexts, reasoning: Reasoning) -> Option<String> {
    let text = match reasoning {
        Reasoning::Low => texts.reasoning_low,
        Reasoning::High => texts.reasoning_high,
        Reasoning::ModelOwn | Reasoning::Configured | Reasoning::Medium => None,
    };
    text.map(|text| text.trim().to_owned())
}
