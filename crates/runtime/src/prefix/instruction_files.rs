//! Files that instruct the agent, as they were read.

/// A file that instructs the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    /// Its path, as the model is told it.
    pub path: String,
    /// Its text, as far as it is included.
    pub text: String,
}

/// What a project tells agents that work on it. It instructs the model; it permits nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectInstructions {
    /// The files that apply to the whole workspace, the most general first.
    pub files: Vec<InstructionFile>,
    /// The paths of files that apply only below their folders. The model reads them before it works there.
    pub nested: Vec<String>,
}

impl InstructionFile {
    /// Returns the file with this beginning of its text, and a note for the model that there is more.
    #[must_use]
    pub fn cut(path: &str, beginning: &str) -> Self {
        let text = format!(
            "{}\n[{path} is longer: only its beginning is here, and the rest is in the file]",
            beginning.trim_end()
        );
        Self { path: path.to_owned(), text }
    }
}
