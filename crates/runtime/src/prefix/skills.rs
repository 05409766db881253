//! The index of skills (C8): names, descriptions and folders. The model reads the rest when it needs it.

use std::path::Path;

use windlass_tools::Skill;
use windlass_vocab::ToolSpec;

const SKILLS: &str = include_str!("../prompts/skills.md");
/// The tool without which an index would be of no use.
const READ_SKILL: &str = "local.read_skill";

/// Returns the index; nothing where no skill can be read.
pub(super) fn section(skills: &[Skill], offer: &[ToolSpec], workspace: Option<&Path>) -> Option<String> {
    if skills.is_empty() || !offer.iter().any(|tool| tool.name.as_str() == READ_SKILL) {
        return None;
    }
    let folder = |skill: &Skill| {
        let inside = workspace.and_then(|workspace| skill.folder.strip_prefix(workspace).ok());
        inside.unwrap_or(&skill.folder).display().to_string()
    };
    let lines: Vec<String> =
        skills.iter().map(|skill| format!("- {}: {} ({})", skill.name, skill.description, folder(skill))).collect();
    Some(format!("{}\n{}", SKILLS.trim(), lines.join("\n")))
}
