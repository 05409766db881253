//! The static prefix of a run (C1): identity → the user's instructions → the project's (AGENTS.md) →
//! loop rules. Gathered once per run, recorded, and byte-stable from turn to turn.

use std::path::{Path, PathBuf};

use windlass_vocab::{EndsBy, Policy};

const IDENTITY: &str = include_str!("prompts/identity.md");
const RULES: &str = include_str!("prompts/rules.md");
const ENDING: &str = include_str!("prompts/ending.md");
/// More of a project's instructions than this is left out.
const PROJECT_LIMIT: usize = 64 * 1024;

/// What stands before every conversation of an agent.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    /// The user's own, in place of the identity Windlass gives.
    pub system: Option<String>,
    /// The folder the tools work in; its AGENTS.md is read.
    pub workspace: Option<PathBuf>,
}

impl Instructions {
    /// The prefix for a run. `has_tools`-free agents get no rules about tools.
    pub(crate) fn prefix(&self, agent: &str, policy: &Policy, offered: usize) -> String {
        let mut sections = vec![self.identity(agent)];
        if let Some(project) = self.workspace.as_deref().and_then(project_instructions) {
            sections.push(format!("Instructions of this project (AGENTS.md):\n\n{project}"));
        }
        if offered > 0 {
            sections.push(RULES.trim().to_owned());
            if policy.ends_by == EndsBy::EndingTool {
                sections.push(ENDING.trim().to_owned());
            }
        }
        sections.join("\n\n")
    }

    fn identity(&self, agent: &str) -> String {
        if let Some(system) = &self.system {
            return system.clone();
        }
        let workspace = self.workspace.as_ref().map_or_else(|| "none".to_owned(), |dir| dir.display().to_string());
        IDENTITY
            .trim()
            .replace("{agent}", agent)
            .replace("{platform}", std::env::consts::OS)
            .replace("{workspace}", &workspace)
    }
}

fn project_instructions(workspace: &Path) -> Option<String> {
    let mut text =
        std::fs::read(workspace.join("AGENTS.md")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())?;
    if text.len() > PROJECT_LIMIT {
        text.truncate(text.floor_char_boundary(PROJECT_LIMIT));
        text.push_str("\n[AGENTS.md is longer; the rest is left out]");
    }
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
