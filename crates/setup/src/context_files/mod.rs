//! The files that instruct the agent: the person's and the project's AGENTS.md, and skills (C1, C8). They are read once,
//! when a run is prepared, and handed to the agent as plain data; a rule that forbids reading one leaves it out (X5).
//!
//! They are text for the model. They permit nothing, and nothing in them runs without the usual permission (X2).

pub(crate) mod file_names;
mod front_matter;
mod instructions;
mod nested;
mod notice;
mod reader;
mod skills;

use std::path::Path;

use windlass::{InstructionFile, ProjectInstructions, Skill};

pub use self::front_matter::FrontMatterError;
pub use self::notice::{ContextNotice, ContextProblem};
use self::reader::ContextReader;
use crate::secrets::KnownSecret;
use crate::settings::{Env, Settings, user_file};

/// What was found for the prefix of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextFiles {
    /// The person's own instructions.
    pub user: Option<InstructionFile>,
    /// The project's instructions.
    pub project: ProjectInstructions,
    /// The skills, in the order of their names.
    pub skills: Vec<Skill>,
    /// What was left out, or not taken whole.
    pub notices: Vec<ContextNotice>,
}

/// Finds and reads the files that instruct an agent with these settings.
#[must_use]
pub fn find(settings: &Settings, env: &Env, secrets: &[KnownSecret]) -> ContextFiles {
    let mut reader = ContextReader::new(settings, secrets);
    let config_dir = user_file(env).and_then(|file| file.parent().map(Path::to_owned));
    let user = config_dir.as_deref().and_then(|folder| instructions::of_user(&mut reader, folder));
    let takes_project = settings.project_instructions.value;
    let project = if takes_project { instructions::of_project(&mut reader) } else { ProjectInstructions::default() };
    let home = env.home();
    let user_folders = skills::user_folders(config_dir.as_deref(), home.as_deref());
    let project_folders = if takes_project { skills::project_folders(&reader) } else { Vec::new() };
    let skills = skills::find(&mut reader, &user_folders, &project_folders);
    ContextFiles { user, project, skills, notices: reader.notices }
}

#[cfg(test)]
mod tests;
