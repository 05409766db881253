//! Who the agent is, and what the person who runs it wants of it everywhere (C2).

use super::instruction_files::InstructionFile;
use super::texts::PrefixTexts;

/// Returns the configured text, or else Windlass's own with the agent's name and platform.
pub(super) fn section(texts: &PrefixTexts, system: Option<&str>, agent: &str, platform: &str) -> String {
    match system {
        Some(system) => system.to_owned(),
        None => texts.identity.trim().replace("{agent}", agent).replace("{platform}", platform),
    }
}

/// Returns the person's own instructions.
pub(super) fn user_section(file: &InstructionFile) -> String {
    format!("Instructions of the person you work for ({}):\n\n{}", file.path, file.text.trim())
}
