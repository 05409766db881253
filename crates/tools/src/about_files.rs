//! The accesses of a call to the files of a workspace, as rules see them: each path as written and, where a symlink
//! leads elsewhere, its target.

use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;

use crate::access::{AccessKind, FileAccess};
use crate::file_accesses::FileAccesses;
use crate::flat_path::flatten;
use crate::path_pattern::PathExtent;
use crate::refusal::Refusal;
use crate::shorten::shorten;
use crate::{About, FileRules, Workspace, no_follow};

/// Accesses to a file that is read, or a folder that is listed or searched.
pub(crate) const READ: &[AccessKind] = &[AccessKind::Read];
/// Accesses to a file whose whole content is replaced.
pub(crate) const WRITE: &[AccessKind] = &[AccessKind::Write];
/// Accesses to a file that is changed in part or moved: its content or metadata may reach the model.
pub(crate) const CHANGE: &[AccessKind] = &[AccessKind::Read, AccessKind::Write];

/// How many names of a moved folder are checked. A larger folder is assumed to contain anything.
const MOST: usize = 5_000;

/// A path with its symlinks unresolved and resolved.
#[derive(Clone, Debug)]
pub(crate) struct PathNames {
    /// The path as written.
    written: PathBuf,
    /// With the symlinks of its parent folders resolved: a move acts on this path.
    pub(crate) entry: PathBuf,
    /// With a symlink as its last name resolved as well: reads and writes act on this path.
    pub(crate) real: PathBuf,
}

impl PathNames {
    /// Returns the names that differ.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut names = vec![&self.written, &self.entry, &self.real];
        names.dedup();
        names.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

impl Workspace {
    /// Returns the subject of a call with these accesses to a path.
    pub(crate) fn about(&self, path: &str, accesses: &[AccessKind]) -> About {
        let names = self.names(path).texts();
        let files = self.named_files(&names, accesses, PathExtent::Itself);
        About::files(names, files)
    }

    /// Returns the subject of a call that moves a file, or a folder with all its content.
    pub(crate) fn about_move(&self, from: &str, to: &str) -> About {
        let named = [self.names(from).texts(), self.names(to).texts()].concat();
        let (held, extent) = match self.entries_below(from) {
            Some(held) => (held, PathExtent::Itself),
            None => (Vec::new(), PathExtent::WithAllBelow),
        };
        let mut files = self.named_files(&named, CHANGE, extent);
        for below in &held {
            let names: Vec<String> = named.iter().map(|name| format!("{name}/{below}")).collect();
            files.accesses.extend(self.files(&names, CHANGE, PathExtent::Itself).accesses);
        }
        About::files(named, files)
    }

    /// Refuses, right before the access, a path that a rule forbids or that no longer leads where it led when the
    /// call's permission was checked. The caller must open the returned names.
    pub(crate) fn admit(&self, path: &str, accesses: &[AccessKind], rules: &FileRules) -> Result<PathNames, Refusal> {
        let names = self.names(path);
        if self.is_in_closed(&names.entry) || self.is_in_closed(&names.real) {
            return Err(closed_refusal(path));
        }
        let files = self.named_files(&names.texts(), accesses, PathExtent::Itself);
        if !rules.have_checked(&files) {
            return Err(format!(
                "`{}` leads elsewhere than when it was judged, or git would obey it by now, and was left alone: \
                 something changed meanwhile. Try again.",
                shorten(path, 200)
            )
            .into());
        }
        check_rules(path, &files, rules)?;
        Ok(names)
    }

    /// The same for a move, with all that a folder contains.
    pub(crate) fn admit_move(&self, from: &str, to: &str, rules: &FileRules) -> Result<(), Refusal> {
        if rules.is_empty() {
            return Ok(());
        }
        self.about_move(from, to).files.map_or(Ok(()), |files| check_rules(from, &files, rules))
    }

    /// Returns the rule that forbids changing this path or anything below it.
    #[must_use]
    pub fn denying_change(&self, path: &str, rules: &FileRules) -> Option<String> {
        if rules.is_empty() {
            return None;
        }
        let named = self.names(path).texts();
        // A folder with too many names is assumed to contain anything that a rule names.
        let (held, extent) = match self.entries_below(path) {
            Some(held) => (held, PathExtent::Itself),
            None => (Vec::new(), PathExtent::WithAllBelow),
        };
        let below = held.iter().flat_map(|below| named.iter().map(move |name| format!("{name}/{below}")));
        let names: Vec<String> = named.iter().cloned().chain(below).collect();
        rules.denying(&self.files(&names, WRITE, extent)).map(ToString::to_string)
    }

    /// Returns a path with its symlinks unresolved and resolved.
    pub(crate) fn names(&self, path: &str) -> PathNames {
        let Ok(relative) = self.relative(path) else {
            let path = PathBuf::from(path);
            return PathNames { written: path.clone(), entry: path.clone(), real: path };
        };
        let (entry, real) = match (relative.parent(), relative.components().next_back()) {
            (Some(parent), Some(Component::Normal(name))) => {
                let entry = flatten(&self.resolved(parent).join(name));
                (entry.clone(), flatten(&self.behind_link(entry)))
            }
            _ => {
                let real = self.resolved(&relative);
                (real.clone(), real)
            }
        };
        PathNames { written: flatten(&relative), entry, real }
    }

    /// Returns the accesses to the paths that a call names, and which git repositories its writes make. Content of a
    /// moved folder is not examined for that, because it was checked when it was written.
    fn named_files(&self, names: &[String], accesses: &[AccessKind], extent: PathExtent) -> FileAccesses {
        let mut files = self.files(names, accesses, extent);
        for access in
            files.accesses.iter_mut().filter(|access| access.access == AccessKind::Write && access.because.is_none())
        {
            access.repository = self.repository_written_by(Path::new(access.path.as_str()));
        }
        files
    }

    /// Returns the accesses to these paths, by all their names.
    pub(crate) fn files(&self, names: &[String], accesses: &[AccessKind], extent: PathExtent) -> FileAccesses {
        let other_names = self.other_names();
        let mut done = Vec::new();
        for name in names {
            let mut others = other_names.of(name);
            if extent == PathExtent::WithAllBelow {
                others.extend(other_names.below(name));
            }
            for access in accesses {
                let own = FileAccess::new(*access, name, extent);
                done.extend(others.iter().map(|other| own.by_other_name(other)));
                done.push(own);
            }
        }
        // The path's own name describes the call best, so it goes first.
        done.sort_by_key(|access| access.because.is_some());
        FileAccesses { accesses: done, roots: self.roots(), other_names }
    }

    /// Returns everything in a folder, relative to it; empty for a file, `None` if there are too many entries.
    fn entries_below(&self, path: &str) -> Option<Vec<String>> {
        let Ok(relative) = self.relative(path) else { return Some(Vec::new()) };
        let is_folder = self.dir().symlink_metadata(&relative).is_ok_and(|metadata| metadata.is_dir());
        let mut held = Vec::new();
        let folder = if is_folder { self.dir().open_dir(&relative).ok() } else { None };
        let Some(folder) = folder else { return (!is_folder).then_some(held) };
        collect_entries(&folder, Path::new(""), &mut held).then_some(held)
    }
}

/// The refusal of a path in a folder that is closed to tools.
pub(crate) fn closed_refusal(path: &str) -> Refusal {
    format!("`{path}` is where Windlass keeps its own data or settings, which is not for tools.").into()
}

fn check_rules(path: &str, files: &FileAccesses, rules: &FileRules) -> Result<(), Refusal> {
    let Some(rule) = rules.denying(files) else { return Ok(()) };
    let (path, rule) = (shorten(path, 200), shorten(&rule.to_string(), 200));
    Err(Refusal::denied(format!(
        "`{path}` was left alone: the rule `{rule}` forbids it. Do without it, and say in your answer what was left out."
    )))
}

/// Adds the entries of a folder; returns whether it could add all.
fn collect_entries(folder: &Dir, path: &Path, held: &mut Vec<String>) -> bool {
    let Ok(entries) = folder.entries() else { return false };
    for entry in entries {
        let Ok(entry) = entry else { return false };
        let below = path.join(entry.file_name());
        held.push(below.to_string_lossy().into_owned());
        if held.len() > MOST {
            return false;
        }
        let is_folder = entry.file_type().map(|kind| kind.is_dir());
        let all = match is_folder {
            Ok(true) => no_follow::open_subfolder(folder, &entry.file_name())
                .is_ok_and(|inner| collect_entries(&inner, &below, held)),
            Ok(false) => true,
            Err(_) => false,
        };
        if !all {
            return false;
        }
    }
    true
}
