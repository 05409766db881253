//! Compares the files behind the command of a project's server once more right before the server is started (X2): a
//! script may be replaced while a person reads the question, or between their answer and the start.

use std::path::PathBuf;

use windlass_mcp::ServerConfig;

use super::programs::{CommandFiles, CommandFolders, command_files};

/// A server's command, and the files behind it when a person agreed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedCommand {
    config: ServerConfig,
    cwd: PathBuf,
    workspace: PathBuf,
    /// May include the files behind other servers too.
    command_files: CommandFiles,
}

impl ApprovedCommand {
    pub(super) fn new(config: &ServerConfig, folders: CommandFolders<'_>, command_files: &CommandFiles) -> Self {
        let CommandFolders { cwd, workspace } = folders;
        Self {
            config: config.clone(),
            cwd: cwd.to_owned(),
            workspace: workspace.to_owned(),
            command_files: command_files.clone(),
        }
    }

    /// Returns the first file behind the command that differs from the approved state, relative to the workspace.
    pub fn first_change(&self) -> Option<PathBuf> {
        let now = command_files(&self.config, CommandFolders { cwd: &self.cwd, workspace: &self.workspace });
        let mut files = now.files.into_iter();
        let file = files.find(|(path, hash)| self.command_files.files.get(path) != Some(hash)).map(|(path, _)| path);
        let path =
            file.or_else(|| now.unwatched.into_iter().find(|folder| !self.command_files.unwatched.contains(folder)))?;
        Some(path.strip_prefix(&self.workspace).map(PathBuf::from).unwrap_or(path))
    }
}
