//! The instructions of an agent, as far as they are known when it is built.

use std::sync::Arc;

use windlass_runtime::{InstructionFile, Instructions, ProjectInstructions};
use windlass_tools::dialect::ScriptLanguages;
use windlass_tools::{FileRules, Permissions, Workspace};

use crate::agent_parts::AgentParts;

/// The file in which a project instructs agents.
const FILE: &str = "AGENTS.md";
/// The most bytes of it that are included.
const MOST_BYTES: u64 = 32 * 1024;

impl AgentParts {
    /// Returns the instructions before every conversation. `folder` is the open workspace.
    pub(crate) fn take_instructions(
        &mut self,
        folder: Option<&Workspace>,
        permissions: &Arc<Permissions>,
    ) -> Instructions {
        let given = self.project_instructions.take();
        Instructions {
            system: self.system.take(),
            session_system: self.session_system.take(),
            user: self.user_instructions.take(),
            project: given.or_else(|| of_workspace(folder?, permissions)).unwrap_or_default(),
            skills: std::mem::take(&mut self.skills),
            workspace: self.workspace.take(),
            script_languages: ScriptLanguages::on_path(&std::env::var_os("PATH").unwrap_or_default()),
        }
    }
}

/// Reads the instructions in the workspace itself, unless a rule forbids it.
fn of_workspace(folder: &Workspace, permissions: &Arc<Permissions>) -> Option<ProjectInstructions> {
    let read = folder.beginning(FILE, MOST_BYTES, &FileRules::of(Arc::clone(permissions))).ok()?;
    if read.text.trim().is_empty() {
        return None;
    }
    let file = if read.is_cut {
        InstructionFile::cut(FILE, &read.text)
    } else {
        InstructionFile { path: FILE.to_owned(), text: read.text }
    };
    Some(ProjectInstructions { files: vec![file], nested: Vec::new() })
}
