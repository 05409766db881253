//! A skill (C8): a folder with instructions for one kind of job, which the model reads when it needs them.

use std::path::PathBuf;

/// A skill, as far as it is in the prefix of a run; the rest is read with `read_skill`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name: lower-case letters, digits and hyphens.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its folder, an absolute path.
    pub folder: PathBuf,
    /// Who put it there.
    pub owner: SkillOwner,
}

/// Who put a skill where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkillOwner {
    /// The person who runs the agent.
    User,
    /// The project: its text may be anybody's.
    Project,
}
