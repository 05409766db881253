//! How to work with tools, and how a run ends.

use windlass_vocab::{EndsBy, Policy, ToolSpec};

use super::file_tools::works_with_files;

const RULES: &str = include_str!("../prompts/rules.md");
const RULES_WITHOUT_FILES: &str = include_str!("../prompts/rules_without_files.md");
const ENDING: &str = include_str!("../prompts/ending.md");

/// Returns the rules for work with tools; nothing where none is offered.
pub(super) fn section(policy: &Policy, offer: &[ToolSpec]) -> Option<String> {
    if offer.is_empty() {
        return None;
    }
    let rules = if offer.iter().any(works_with_files) { RULES } else { RULES_WITHOUT_FILES };
    Some(match policy.ends_by {
        EndsBy::EndingTool => format!("{}\n\n{}", rules.trim(), ENDING.trim()),
        EndsBy::Text | EndsBy::JudgedText => rules.trim().to_owned(),
    })
}
