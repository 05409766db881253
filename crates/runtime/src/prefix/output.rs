//! The form of the final answer, where plain text is not enough (L10).

use windlass_vocab::OutputSpec;

const OUTPUT: &str = include_str!("../prompts/output.md");

/// Returns the schema that the answer must fit.
pub(super) fn section(output: &OutputSpec) -> String {
    format!("{}\n\n{}", OUTPUT.trim(), output.schema.as_str())
}
