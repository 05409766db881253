//! How to work with tools, and how a run ends.

use windlass_vocab::{EndsBy, Policy, ToolSpec};

use super::file_tools::works_with_files;
use super::texts::PrefixTexts;

const ENDING: &str = include_str!("../prompts/ending.md");

/// Returns the rules for work with tools; nothing where none is offered.
pub(super) fn section(texts: &PrefixTexts, policy: &Policy, offer: &[ToolSpec]) -> Option<String> {
    if offer.is_empty() {
        return None;
    }
    let rules = if offer.iter().any(works_with_files) { texts.rules } else { texts.rules_without_files };
    Some(match policy.ends_by {
        EndsBy::EndingTool => format!("{}\n\n{}", rules.trim(), ENDING.trim()),
        EndsBy::Text | EndsBy::JudgedText => rules.trim().to_owned(),
    })
}
