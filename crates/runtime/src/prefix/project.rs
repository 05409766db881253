//! What the project says to those who work on it.

use windlass_vocab::ToolSpec;

use super::file_tools::works_with_files;
use super::instruction_files::{InstructionFile, ProjectInstructions};

const NESTED: &str = include_str!("../prompts/nested_instructions.md");

/// Returns the project's instructions, each with its path, and the list of those for single folders where a tool can
/// read them.
pub(super) fn section(project: &ProjectInstructions, offer: &[ToolSpec]) -> Option<String> {
    let file =
        |file: &InstructionFile| format!("Instructions of this project ({}):\n\n{}", file.path, file.text.trim());
    let mut parts: Vec<String> = project.files.iter().map(file).collect();
    if !project.nested.is_empty() && offer.iter().any(works_with_files) {
        let paths: Vec<String> = project.nested.iter().map(|path| format!("- {path}")).collect();
        parts.push(format!("{}\n{}", NESTED.trim(), paths.join("\n")));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
