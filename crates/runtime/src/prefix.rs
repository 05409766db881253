//! The static prefix of a run (C1), in this order: identity and the person's instructions → the project's instructions →
//! loop rules and the schema of the output → capabilities → reasoning guidance → skills index → (memory: none yet) →
//! tool schemas and calling rules, where calls are text. Every section is a pure function in a file of its own that
//! returns nothing where it does not apply. The prefix is built once per run, recorded, and byte-stable from turn to
//! turn; what changes from turn to turn is in the tail (`tail.rs`).

mod calling;
mod capabilities;
mod file_tools;
mod identity;
mod instruction_files;
mod loop_rules;
mod output;
mod project;
mod reasoning;
mod skills;
mod texts;

use std::path::PathBuf;

use windlass_tools::Skill;
use windlass_tools::dialect::ScriptLanguages;
use windlass_vocab::{Dialect, RunStarted, ToolSpec};

pub(crate) use self::calling::section as calling_rules;
pub use self::instruction_files::{InstructionFile, ProjectInstructions};
use self::texts::PrefixTexts;

/// The instructions before every conversation of an agent.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    /// Who the agent is and what it is for, in place of Windlass's default identity.
    pub system: Option<String>,
    /// The same for sessions that run with these instructions: they keep it in later runs, whatever is configured then
    /// (C2).
    pub session_system: Option<String>,
    /// The person's own instructions for every project.
    pub user: Option<InstructionFile>,
    /// The project's instructions.
    pub project: ProjectInstructions,
    /// The skills that the model may read.
    pub skills: Vec<Skill>,
    /// The folder the tools work in.
    pub workspace: Option<PathBuf>,
    /// The languages of scripts, for models that write those.
    pub script_languages: ScriptLanguages,
}

impl Instructions {
    /// Returns the prefix for a run whose models write calls in this dialect. Where no tools are offered it has no rules
    /// about tools, and where no tool works with files none about files.
    pub(crate) fn prefix(&self, run: &RunStarted, offer: &[ToolSpec], dialect: Option<Dialect>) -> String {
        let workspace = self.workspace.as_deref();
        let texts = PrefixTexts::of(dialect, offer, self.script_languages);
        let sections = [
            Some(identity::section(texts, self.system.as_deref(), &run.agent, std::env::consts::OS)),
            self.user.as_ref().map(identity::user_section),
            project::section(&self.project, offer),
            loop_rules::section(texts, &run.policy, offer),
            run.output.as_deref().map(output::section),
            capabilities::section(texts, offer, workspace),
            reasoning::section(texts, run.policy.reasoning),
            skills::section(&self.skills, offer, workspace),
            calling::section(run, offer, dialect, self.script_languages),
        ];
        sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

#[cfg(test)]
mod tests;
