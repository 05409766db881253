//! Folders that git takes for a repository by what is in them, whatever they are called (X5). It obeys the `config` and
//! the hooks of such a folder for whoever works in it, and no list of names can say which those are: `config` is an
//! ordinary name. Git's own rule (`is_git_directory`) is `HEAD` beside `objects` and `refs`, or beside a `commondir` that
//! says where those are.

use std::path::{Path, PathBuf};

use windlass_sandbox::is_repository;

use crate::Workspace;

/// What makes git obey something else, in a folder that is a repository.
const OBEYED: &[&str] = &["HEAD", "commondir", "config", "config.worktree", "hooks"];
/// What makes a folder one, and is changed by ordinary work in one.
const CONTENT: &[&str] = &["objects", "refs"];

impl Workspace {
    /// The folder that git will take for a repository once this path is written, if that is what makes it one or what
    /// git obeys in it.
    pub(crate) fn repository_written_by(&self, path: &Path) -> Option<PathBuf> {
        path.ancestors().skip(1).find(|folder| self.makes_repository(folder, path)).map(Path::to_owned)
    }

    fn makes_repository(&self, folder: &Path, path: &Path) -> bool {
        let part = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
        let Some(part) = part.and_then(|part| part.as_os_str().to_str()) else { return false };
        let is_one_of = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(part));
        let is_there = |name: &str| self.dir().symlink_metadata(folder.join(name)).is_ok();
        let will_be = |name: &str| name.eq_ignore_ascii_case(part) || is_there(name);
        (is_one_of(OBEYED) || is_one_of(CONTENT) && !is_repository(is_there)) && is_repository(will_be)
    }
}
