//! Folders that git takes for a repository by their content, whatever their name (X5). Git obeys the `config` and the
//! hooks of such a folder for everyone who works in it, and no list of names can cover these, because `config` is an
//! ordinary name. Git's own rule (`is_git_directory`) is `HEAD` beside `objects` and `refs`, or beside a `commondir`
//! that names where those are.

use std::path::{Path, PathBuf};

use windlass_sandbox::{OBEYED_BY_GIT, is_repository};

use crate::Workspace;

/// Entries that make a folder a repository, and that ordinary work in a repository changes.
const CONTENT: &[&str] = &["objects", "refs"];

impl Workspace {
    /// Returns the folder that git will take for a repository once this path is written, if the path makes it one or is
    /// a file there that git obeys.
    pub(crate) fn repository_written_by(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors().skip(1).find(|folder| self.makes_repository(folder, path)).map(Path::to_owned)
    }

    fn makes_repository(&self, folder: &Path, path: &Path) -> bool {
        let Some(below) = path.strip_prefix(folder).ok().and_then(Path::to_str) else { return false };
        let below = below.to_lowercase();
        let is_in = |name: &str| {
            below.strip_prefix(&name.to_lowercase()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_there = |name: &str| self.dir().symlink_metadata(folder.join(name)).is_ok();
        let will_be = |name: &str| is_in(name) || is_there(name);
        let is_obeyed = is_in("HEAD") || OBEYED_BY_GIT.iter().any(|name| is_in(name));
        (is_obeyed || CONTENT.iter().any(|name| is_in(name)) && !is_repository(is_there)) && is_repository(will_be)
    }
}
