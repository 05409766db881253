//! What files for the prefix are read with: the folders of the project, the rules about files, the secrets to replace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_tools::{FileRules, Secrets, Workspace};

use super::notice::{ContextNotice, ContextProblem};
use crate::permissions::permissions;
use crate::secrets::{KnownSecret, scrubber};
use crate::settings::Settings;

/// Reads files for the prefix, and collects notices about them.
pub(super) struct ContextReader<'a> {
    /// The folder the tools work in.
    pub(super) workspace: &'a Path,
    /// The project's folders, from the workspace up to the root of its repository.
    pub(super) folders: Vec<&'a Path>,
    pub(super) rules: FileRules,
    secrets: Secrets,
    pub(super) notices: Vec<ContextNotice>,
}

impl<'a> ContextReader<'a> {
    pub(super) fn new(settings: &'a Settings, secrets: &[KnownSecret]) -> Self {
        Self {
            workspace: &settings.place.workspace,
            folders: settings.instruction_folders.iter().map(PathBuf::as_path).collect(),
            rules: FileRules::of(Arc::new(permissions(&settings.permissions))),
            secrets: scrubber(secrets),
            notices: Vec::new(),
        }
    }

    /// The topmost folder of the project: no file of the project is read outside it.
    pub(super) fn root(&self) -> &'a Path {
        self.folders.last().copied().unwrap_or(self.workspace)
    }

    /// Opens a folder; what is read in it has its secrets replaced.
    pub(super) fn open(&self, folder: &Path) -> Option<Workspace> {
        Some(Workspace::open(folder).ok()?.hiding(self.secrets.clone()))
    }

    /// Whether a rule about the workspace forbids showing the model this path, an absolute one.
    pub(super) fn is_hidden(&self, workspace: &Workspace, path: &Path) -> bool {
        let inside = path.strip_prefix(self.workspace).ok().and_then(Path::to_str);
        inside.is_some_and(|inside| workspace.hides_from_model(inside, &self.rules))
    }

    pub(super) fn note(&mut self, path: &Path, problem: ContextProblem) {
        self.notices.push(ContextNotice { path: path.to_owned(), problem });
    }
}
