//! Walks a folder by file descriptors: follows no symlink, and skips what `.gitignore` excludes.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::FileRules;
use crate::about_files::READ;
use crate::file_rules::HiddenFiles;
use crate::path_pattern::PathExtent;
use crate::refusal::Refusal;
use crate::{Workspace, no_follow};

/// Deeper than any source tree, and a bound on the number of open file descriptors.
const DEEPEST: usize = 64;
const LONGEST_IGNORE_FILE: u64 = 1 << 20;

/// A regular file found by the walk.
pub(crate) struct FoundFile<'a> {
    pub(crate) folder: &'a Dir,
    pub(crate) name: &'a OsStr,
    /// Relative to the workspace.
    pub(crate) path: PathBuf,
}

/// Whether a walk came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkExtent {
    /// It did: there are no more files.
    Whole,
    /// It stopped before: there may be more.
    Cut,
}

/// What a walk left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkReport {
    /// How many files and folders were skipped because of a rule.
    pub(crate) skipped: usize,
    pub(crate) extent: WalkExtent,
}

/// Visits every regular file under `path` in name order until `visit` breaks. Returns how many files and folders were
/// skipped because of a rule.
pub(crate) fn walk(
    workspace: &Workspace,
    path: &str,
    rules: &FileRules,
    visit: &mut dyn FnMut(&FoundFile<'_>) -> ControlFlow<()>,
) -> Result<usize, Refusal> {
    walk_at_most(usize::MAX, workspace, path, rules, visit).map(|report| report.skipped)
}

/// Like [`walk`], but looks at no more than `most` entries of folders, whether they are files or not, ignored or not.
pub(crate) fn walk_at_most(
    most: usize,
    workspace: &Workspace,
    path: &str,
    rules: &FileRules,
    visit: &mut dyn FnMut(&FoundFile<'_>) -> ControlFlow<()>,
) -> Result<WalkReport, Refusal> {
    let (start, names) = workspace.folder(path, rules)?;
    let base = workspace.relative(path)?;
    let base = if base == Path::new(".") { PathBuf::new() } else { base };
    let unread = rules.hidden_files(&workspace.files(&names.texts(), READ, PathExtent::Itself));
    // The `.gitignore` files of the parent folders apply as well.
    let mut ignores = Vec::new();
    let mut above: Vec<&Path> = base.ancestors().skip(1).collect();
    above.reverse();
    for folder in above {
        let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Ok((dir, _)) = workspace.folder(&shown.to_string_lossy(), &rules.beyond_the_call()) {
            ignores.extend(ignore_file(&dir, folder));
        }
    }
    let real = if names.real == Path::new(".") { PathBuf::new() } else { names.real };
    let mut walk = FolderWalk { workspace, unread, skipped: 0, ignores, entries_left: most, cut: false, visit };
    // A break ends the walk; it is not a failure.
    let broke = walk.descend(&start, &base, &real).is_break();
    let extent = if broke || walk.cut { WalkExtent::Cut } else { WalkExtent::Whole };
    Ok(WalkReport { skipped: walk.skipped, extent })
}

/// A walk in progress.
struct FolderWalk<'w> {
    workspace: &'w Workspace,
    unread: HiddenFiles<'w>,
    skipped: usize,
    ignores: Vec<Gitignore>,
    /// How many more entries may be looked at.
    entries_left: usize,
    /// Set when a folder had more entries than that.
    cut: bool,
    visit: &'w mut dyn FnMut(&FoundFile<'_>) -> ControlFlow<()>,
}

impl FolderWalk<'_> {
    /// Walks a folder; `path` is its path as given, `real` its path without symlinks.
    fn descend(&mut self, folder: &Dir, path: &Path, real: &Path) -> ControlFlow<()> {
        if path.components().count() > DEEPEST || self.workspace.is_in_closed(real) {
            return ControlFlow::Continue(());
        }
        let depth = self.ignores.len();
        self.ignores.extend(ignore_file(folder, path));
        for (name, kind) in self.entries(folder) {
            let (below, real) = (path.join(&name), real.join(&name));
            if is_ignored(&self.ignores, &below, kind) || self.workspace.is_in_closed(&real) {
                continue;
            }
            if self.unread.has(&[&below, &real]) {
                self.skipped += 1;
                continue;
            }
            self.workspace.about_to_open();
            match kind {
                EntryKind::File => (self.visit)(&FoundFile { folder, name: &name, path: below })?,
                EntryKind::Folder => {
                    if let Ok(inner) = no_follow::open_subfolder(folder, &name) {
                        self.descend(&inner, &below, &real)?;
                    }
                }
            }
        }
        self.ignores.truncate(depth);
        ControlFlow::Continue(())
    }

    /// Returns files and folders, by name. Skips unreadable entries. Of a folder with more entries than may be looked at,
    /// those that the system lists first.
    fn entries(&mut self, folder: &Dir) -> Vec<(OsString, EntryKind)> {
        let mut found = Vec::new();
        for entry in folder.entries().into_iter().flatten() {
            if self.entries_left == 0 {
                self.cut = true;
                break;
            }
            self.entries_left -= 1;
            let Ok(entry) = entry else { continue };
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_file() => found.push((name, EntryKind::File)),
                Ok(kind) if kind.is_dir() && name != ".git" => found.push((name, EntryKind::Folder)),
                Ok(_) | Err(_) => {}
            }
        }
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
}

pub(crate) fn is_ignored(ignores: &[Gitignore], path: &Path, kind: EntryKind) -> bool {
    let said =
        ignores.iter().rev().map(|ignore| ignore.matched(path, kind == EntryKind::Folder)).find(|said| !said.is_none());
    said.is_some_and(|said| said.is_ignore())
}

/// Returns the folder's `.gitignore`, if it is valid.
pub(crate) fn ignore_file(folder: &Dir, path: &Path) -> Option<Gitignore> {
    let name = ".gitignore";
    let is_file = folder.symlink_metadata(name).is_ok_and(|metadata| metadata.is_file());
    let file = is_file.then(|| no_follow::open_file(folder, name.as_ref()).ok()).flatten()?;
    let mut text = String::new();
    file.take(LONGEST_IGNORE_FILE).read_to_string(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(path);
    for line in text.lines() {
        // A line that is not a pattern excludes nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
