//! Notices about files that instruct the agent, for the person.

use std::fmt;
use std::path::PathBuf;

use windlass_tools::FileBeginningError;

use super::front_matter::FrontMatterError;

/// A file that is left out or not taken whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextNotice {
    /// The file or folder.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: ContextProblem,
}

/// What is wrong with a file that instructs the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextProblem {
    /// It can't be read.
    Unreadable(FileBeginningError),
    /// It is longer than what is included.
    Cut {
        /// How much is included.
        kibibytes: u64,
    },
    /// Some of its bytes are not UTF-8.
    NotUtf8,
    /// There are more files than are included.
    TooManyFiles {
        /// How many are.
        most: usize,
    },
    /// The skill's description of itself can't be used.
    FrontMatter(FrontMatterError),
    /// The skill's folder is a symlink that leads out of the project.
    SkillOutside,
    /// Another skill has the same name.
    DuplicateSkill {
        /// The name.
        name: String,
        /// The folder of the other one, which is used.
        used: PathBuf,
    },
    /// There are more skills than are listed.
    TooManySkills {
        /// How many are.
        most: usize,
    },
}

impl fmt::Display for ContextNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.problem {
            ContextProblem::Unreadable(error) => write!(f, "{path} is not used: {error}"),
            ContextProblem::Cut { kibibytes } => {
                write!(f, "{path} is longer than {kibibytes} KiB: the model is given only its beginning")
            }
            ContextProblem::NotUtf8 => write!(f, "{path} is not UTF-8: what is not is replaced by \u{fffd}"),
            ContextProblem::TooManyFiles { most } => {
                write!(f, "{path} is not used: only the nearest {most} files of instructions are")
            }
            ContextProblem::FrontMatter(error) => write!(f, "the skill {path} is left out: {error}"),
            ContextProblem::SkillOutside => {
                write!(f, "the skill {path} is left out: it is a link that leads out of the project")
            }
            ContextProblem::DuplicateSkill { name, used } => {
                write!(f, "the skill {path} is left out: {} has the same name, {name:?}", used.display())
            }
            ContextProblem::TooManySkills { most } => {
                write!(f, "the skill {path} and those after it are left out: at most {most} are listed")
            }
        }
    }
}
