//! How much thought a reply is worth, for models whose effort can't be set by a parameter, or not only by one.

use windlass_vocab::Reasoning;

const LOW: &str = include_str!("../prompts/reasoning_low.md");
const HIGH: &str = include_str!("../prompts/reasoning_high.md");

/// Returns the guidance for this effort; nothing where the model's own habit is wanted.
pub(super) fn section(reasoning: Reasoning) -> Option<String> {
    match reasoning {
        Reasoning::Low => Some(LOW.trim().to_owned()),
        Reasoning::High => Some(HIGH.trim().to_owned()),
        Reasoning::ModelOwn | Reasoning::Configured | Reasoning::Medium => None,
    }
}
