//! What a call does to the files of a workspace, as rules see it: every path as it is written and, where a link
//! leads elsewhere, where it leads.

use std::path::{Component, Path, PathBuf};

use cap_std::fs::Dir;

use crate::access::{AccessKind, FileAccess};
use crate::file_accesses::FileAccesses;
use crate::flat_path::flatten;
use crate::path_pattern::PathExtent;
use crate::refusal::Refusal;
use crate::shorten::shorten;
use crate::{About, FileRules, Workspace, no_follow};

/// What a file that is looked at, a folder that is listed or searched gets.
pub(crate) const READ: &[AccessKind] = &[AccessKind::Read];
/// What a file that gets another content does.
pub(crate) const WRITE: &[AccessKind] = &[AccessKind::Write];
/// What a file does that is changed in part or moved: what it held, or what is said of it, may reach the model.
pub(crate) const CHANGE: &[AccessKind] = &[AccessKind::Read, AccessKind::Write];

/// So many names are looked at in a folder that is moved. Of a larger one everything is taken to be in it.
const MOST: usize = 5_000;

/// A path by its names.
#[derive(Clone, Debug)]
pub(crate) struct PathNames {
    /// As it is written.
    written: PathBuf,
    /// Without the links on its way: what is here is moved.
    pub(crate) entry: PathBuf,
    /// Without a link at its end either: what is here is read and written.
    pub(crate) real: PathBuf,
}

impl PathNames {
    /// Those that differ.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut names = vec![&self.written, &self.entry, &self.real];
        names.dedup();
        names.into_iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

impl Workspace {
    /// A call that does this to a path.
    pub(crate) fn about(&self, path: &str, accesses: &[AccessKind]) -> About {
        let names = self.names(path).texts();
        let files = self.named_files(&names, accesses, PathExtent::Itself);
        About::files(names, files)
    }

    /// A call that moves a file, or a folder with all it holds.
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

    /// Refuses what a rule forbids, right before it is done, and what leads elsewhere than when the call was judged.
    /// What is opened afterwards is at the names that this gives.
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

    /// The same for a move, with all that a folder holds.
    pub(crate) fn admit_move(&self, from: &str, to: &str, rules: &FileRules) -> Result<(), Refusal> {
        if rules.is_empty() {
            return Ok(());
        }
        self.about_move(from, to).files.map_or(Ok(()), |files| check_rules(from, &files, rules))
    }

    /// The rule that forbids changing what is at a path, with all it holds.
    #[must_use]
    pub fn denying_change(&self, path: &str, rules: &FileRules) -> Option<String> {
        if rules.is_empty() {
            return None;
        }
        let named = self.names(path).texts();
        // A folder of too many names is taken to hold whatever a rule could mean in it.
        let (held, extent) = match self.entries_below(path) {
            Some(held) => (held, PathExtent::Itself),
            None => (Vec::new(), PathExtent::WithAllBelow),
        };
        let below = held.iter().flat_map(|below| named.iter().map(move |name| format!("{name}/{below}")));
        let names: Vec<String> = named.iter().cloned().chain(below).collect();
        rules.denying(&self.files(&names, WRITE, extent)).map(ToString::to_string)
    }

    /// A path by its names.
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

    /// What is done to the paths a call names. What a folder holds that is moved was judged when it was written.
    fn named_files(&self, names: &[String], accesses: &[AccessKind], extent: PathExtent) -> FileAccesses {
        let mut files = self.files(names, accesses, extent);
        for access in
            files.accesses.iter_mut().filter(|access| access.access == AccessKind::Write && access.because.is_none())
        {
            access.repository = self.repository_written_by(Path::new(access.path.as_str()));
        }
        files
    }

    /// What is done to these paths, by all their names.
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
        // A call that is judged by its own name says what it is about best.
        done.sort_by_key(|access| access.because.is_some());
        FileAccesses { accesses: done, roots: self.roots(), other_names }
    }

    /// Everything in a folder, relative to it; nothing of a file. `None` where that is too much to look at.
    fn entries_below(&self, path: &str) -> Option<Vec<String>> {
        let Ok(relative) = self.relative(path) else { return Some(Vec::new()) };
        let is_folder = self.dir().symlink_metadata(&relative).is_ok_and(|metadata| metadata.is_dir());
        let mut held = Vec::new();
        let folder = if is_folder { self.dir().open_dir(&relative).ok() } else { None };
        let Some(folder) = folder else { return (!is_folder).then_some(held) };
        collect_entries(&folder, Path::new(""), &mut held).then_some(held)
    }
}

/// What leads into a folder that is closed to tools is refused.
pub(crate) fn closed_refusal(path: &str) -> Refusal {
    format!("`{path}` is where Windlass keeps its own data or settings, which is not for tools.").into()
}

fn check_rules(path: &str, files: &FileAccesses, rules: &FileRules) -> Result<(), Refusal> {
    let Some(rule) = rules.denying(files) else { return Ok(()) };
    let (path, rule) = (shorten(path, 200), shorten(&rule.to_string(), 200));
    Err(Refusal::denied(format!(
        "`{path}` was left alone: the rule `{rule}` forbids it. Do without it; only a person can take that rule away."
    )))
}

/// Adds what is in a folder; says whether that is all.
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
