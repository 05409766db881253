//! Checks who owns a project's files. A file in a folder that another user owns or can write to may have been put
//! there by anybody: `/tmp/windlass.toml` is found from `/tmp/mine/project` as well. So the search for a project ends
//! there, as git's does (safe.directory).

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::env::Env;
use super::notice::{OwnershipProblem, SettingsNotice};
use super::untrusted_folder::UntrustedFolder;

/// The user who runs this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct CurrentUser {
    uid: u32,
    gid: u32,
    /// The user who became root with `sudo`: their files still count as their own.
    sudo: Option<u32>,
}

impl CurrentUser {
    /// Returns the user who runs this process.
    pub(super) fn new(env: &Env) -> Self {
        let uid = rustix::process::geteuid().as_raw();
        let sudo = env.raw("SUDO_UID").and_then(|uid| uid.to_str()?.parse().ok()).filter(|_| uid == 0);
        Self { uid, gid: rustix::process::getegid().as_raw(), sudo }
    }
}

/// Owner, group and mode of a file or folder.
#[derive(Clone, Copy, Debug)]
struct FileOwnership {
    uid: u32,
    gid: u32,
    mode: u32,
}

impl CurrentUser {
    fn problem(self, writers: FileOwnership) -> Option<OwnershipProblem> {
        if writers.uid != self.uid && self.sudo != Some(writers.uid) {
            return Some(OwnershipProblem::Owns);
        }
        // A group with the owner's id is the owner's private group, on systems that create such groups.
        let own_group = writers.gid == writers.uid && (writers.uid != self.uid || writers.gid == self.gid);
        let others = if own_group { 0o002 } else { 0o022 };
        (writers.mode & others != 0).then_some(OwnershipProblem::Writes)
    }

    /// Why the file at `path`, or the symlink or its target, may be under another user's control. `None` if nothing
    /// is there.
    fn problem_at(self, path: &Path) -> Option<OwnershipProblem> {
        let own = path.symlink_metadata().ok()?;
        let link =
            FileOwnership { uid: own.uid(), gid: own.gid(), mode: if own.is_symlink() { 0 } else { own.mode() } };
        let real =
            path.metadata().ok().map(|real| FileOwnership { uid: real.uid(), gid: real.gid(), mode: real.mode() });
        std::iter::once(link).chain(real).find_map(|writers| self.problem(writers))
    }
}

/// A path found by the upward search that another user may control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UntrustedPath {
    path: PathBuf,
    why: OwnershipProblem,
}

impl UntrustedPath {
    /// Returns the notice about a file in `folder` that is ignored because of this path.
    pub(super) fn notice(self, file: PathBuf, folder: UntrustedFolder) -> SettingsNotice {
        SettingsNotice::NotUsed { file, path: self.path, problem: self.why, folder }
    }
}

/// The result of a search upward: a file to use, or one that is ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UpwardSearch {
    pub(super) found: Option<PathBuf>,
    pub(super) not_used: Option<(PathBuf, UntrustedPath)>,
}

/// Searches these folders for the first file of this name. The search ends at a folder or file that another user may
/// control, unless the person `trusts` that folder.
pub(super) fn search(
    folders: &[&Path],
    name: &str,
    current_user: CurrentUser,
    trusts: impl Fn(&Path) -> bool,
) -> UpwardSearch {
    let mut ended: Option<UntrustedPath> = None;
    for folder in folders {
        let file = folder.join(name);
        let is_there = file.symlink_metadata().is_ok();
        if trusts(folder) && is_there {
            return UpwardSearch { found: Some(file), not_used: None };
        }
        let at_folder = current_user.problem_at(folder).map(|why| UntrustedPath { path: (*folder).to_owned(), why });
        let at_file = || current_user.problem_at(&file).map(|why| UntrustedPath { path: file.clone(), why });
        ended = ended.or(at_folder);
        if is_there {
            return match ended.or_else(at_file) {
                Some(untrusted) => UpwardSearch { found: None, not_used: Some((file, untrusted)) },
                None => UpwardSearch { found: Some(file), not_used: None },
            };
        }
    }
    UpwardSearch::default()
}

/// Returns the first of these folders, which the person chose, and those after it up to the first that another user may
/// control, unless the person `trusts` that one.
pub(super) fn own_folders(
    folders: &[&Path],
    current_user: CurrentUser,
    trusts: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let is_own = |folder: &Path| trusts(folder) || current_user.problem_at(folder).is_none();
    let above = folders.iter().skip(1).take_while(|folder| is_own(folder));
    folders.iter().take(1).chain(above).map(|folder| (*folder).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    const ME: CurrentUser = CurrentUser { uid: 1000, gid: 1000, sudo: None };
    const ROOT: CurrentUser = CurrentUser { uid: 0, gid: 0, sudo: None };
    const SUDO: CurrentUser = CurrentUser { uid: 0, gid: 0, sudo: Some(1000) };

    // proves X2
    #[test]
    fn what_others_own_or_can_write_to_may_be_anybodys() {
        use OwnershipProblem::{Owns, Writes};
        for (current_user, uid, gid, mode, expected) in [
            (ME, 1000, 1000, 0o755, None),
            (ME, 1000, 1000, 0o700, None),
            (ME, 1000, 1000, 0o775, None),
            (ME, 1000, 100, 0o775, Some(Writes)),
            (ME, 1000, 100, 0o755, None),
            (ME, 1000, 1000, 0o777, Some(Writes)),
            (ME, 1000, 1000, 0o1777, Some(Writes)),
            (ME, 0, 0, 0o755, Some(Owns)),
            (ME, 1001, 1000, 0o755, Some(Owns)),
            (CurrentUser { gid: 100, ..ME }, 1000, 1000, 0o775, Some(Writes)),
            (ROOT, 0, 0, 0o755, None),
            (ROOT, 0, 0, 0o777, Some(Writes)),
            (ROOT, 1000, 1000, 0o755, Some(Owns)),
            (SUDO, 1000, 1000, 0o755, None),
            (SUDO, 1000, 1000, 0o775, None),
            (SUDO, 1000, 100, 0o775, Some(Writes)),
            (SUDO, 0, 0, 0o755, None),
            (SUDO, 1001, 1001, 0o755, Some(Owns)),
        ] {
            assert_eq!(
                current_user.problem(FileOwnership { uid, gid, mode }),
                expected,
                "{current_user:?} {uid} {gid} {mode:o}"
            );
        }
    }

    /// `SUDO_UID` counts for root alone: anybody can set a variable.
    #[test]
    fn a_variable_makes_nobody_root() {
        let current_user = CurrentUser::new(&[("SUDO_UID", "4242")].into_iter().collect());
        assert_eq!(current_user.sudo.is_some(), rustix::process::geteuid().is_root());
        assert_eq!(CurrentUser::new(&Env::default()).sudo, None);
    }

    // proves X2
    #[test]
    fn the_search_ends_where_anybody_may_have_put_a_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let (top, open, deep) = (dir.path().join("t"), dir.path().join("t/open"), dir.path().join("t/open/deep"));
        fs::create_dir_all(&deep).expect("folders");
        let folders = [deep.as_path(), &open, &top];
        let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
        [&top, &open, &deep].into_iter().for_each(|folder| mode(folder, 0o755));
        let me = CurrentUser::new(&Env::default());
        let look = || search(&folders, "f", me, |_| false);
        assert_eq!(look(), UpwardSearch::default());
        fs::write(top.join("f"), "").expect("a file");
        mode(&top.join("f"), 0o644);
        assert_eq!(look().found, Some(top.join("f")));
        mode(&open, 0o777);
        let past = look();
        let ended = UntrustedPath { path: open.clone(), why: OwnershipProblem::Writes };
        assert_eq!(past, UpwardSearch { found: None, not_used: Some((top.join("f"), ended)) }, "nor above it");
        let trusting = search(&folders, "f", me, |folder| folder == top);
        assert_eq!(trusting.found, Some(top.join("f")), "what is trusted is trusted for what it says");
        fs::write(deep.join("f"), "").expect("a file");
        mode(&deep.join("f"), 0o644);
        assert_eq!(look().found, Some(deep.join("f")), "below it all is well");
        mode(&deep.join("f"), 0o666);
        assert_eq!(look().not_used.expect("one").1.path, deep.join("f"));
        fs::remove_file(deep.join("f")).expect("removed");
        symlink(top.join("f"), deep.join("f")).expect("a link");
        assert_eq!(look().found, Some(deep.join("f")), "a link to one's own file");
        mode(&top.join("f"), 0o666);
        assert_eq!(look().found, None, "a link to a file that others write");
    }
}
