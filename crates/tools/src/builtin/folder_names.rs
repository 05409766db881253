//! The names in a folder, for results and refusals that say how things are: no sizes, few names, and none that a rule
//! forbids to read or asks about.

use std::path::{Path, PathBuf};

use crate::about_files::READ;
use crate::cut::thousands;
use crate::flat_path::flatten;
use crate::path_pattern::PathExtent;
use crate::{FileRules, Workspace, contains_placeholder, shown_path};

/// Most names and characters that are shown, and most entries of a folder that are looked at.
const SHOWN: usize = 20;
const CHARS: usize = 600;
const MOST: usize = 5_000;

/// The names in a folder that may be shown, in order; a folder's name ends with `/`.
pub(super) struct FolderNames {
    /// The folder, relative to the workspace; empty for the workspace itself.
    folder: PathBuf,
    names: Vec<String>,
}

impl FolderNames {
    /// Returns the names in the folder that contains `path`; `None` if it can't be listed or must not be read.
    pub(super) fn beside(workspace: &Workspace, path: &str, rules: &FileRules) -> Option<Self> {
        let entry = workspace.relative(path).ok()?;
        Self::of(workspace, entry.parent()?, rules)
    }

    /// Returns the names in `folder`, which is relative to the workspace.
    pub(super) fn of(workspace: &Workspace, folder: &Path, rules: &FileRules) -> Option<Self> {
        let given = if folder.as_os_str().is_empty() { "." } else { folder.to_str()? };
        let (dir, found) = workspace.folder(given, &rules.beyond_the_call()).ok()?;
        // Nobody was asked about this folder, so files that are asked about first are left out as well.
        let unread = rules.hidden_files(&workspace.files(&[], READ, PathExtent::Itself));
        let mut names = Vec::new();
        for entry in dir.entries().ok()?.take(MOST).flatten() {
            let file_name = entry.file_name();
            let Some(name) = file_name.to_str() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let mut paths: Vec<PathBuf> =
                found.texts().iter().map(|folder| flatten(&Path::new(folder).join(name))).collect();
            paths.extend(paths.last().map(|path| workspace.resolved(path)));
            let is_closed = paths.iter().any(|path| workspace.is_in_closed(path));
            let is_unnamed = workspace.secrets().is_in(name.as_bytes()) || contains_placeholder(name);
            if name == ".git"
                || is_closed
                || is_unnamed
                || unread.has(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>())
            {
                continue;
            }
            names.push(format!("{}{}", shown_path(name), if is_folder { "/" } else { "" }));
        }
        names.sort();
        Some(Self { folder: folder.to_owned(), names })
    }

    /// `In docs/ there are now: a.txt, b.txt.`, after a change.
    pub(super) fn now(&self) -> String {
        self.sentence(" now")
    }

    /// `In docs/ there are: a.txt, b.txt.`
    pub(super) fn at_present(&self) -> String {
        self.sentence("")
    }

    fn sentence(&self, now: &str) -> String {
        let place = match self.folder.to_str() {
            Some("") | None => "the workspace".to_owned(),
            Some(folder) => format!("{}/", shown_path(folder)),
        };
        match self.names.as_slice() {
            [] => format!("In {place} there is nothing{now}."),
            [only] => format!("In {place} there is{now}: {only}."),
            _ => format!("In {place} there are{now}: {}.", self.listed()),
        }
    }

    /// Returns the names as one line, with how many more there are.
    fn listed(&self) -> String {
        let mut room = CHARS;
        let fits = |name: &&String| {
            let fits = name.chars().count() <= room;
            room = room.saturating_sub(name.chars().count());
            fits
        };
        let shown: Vec<&str> = self.names.iter().take(SHOWN).take_while(fits).map(String::as_str).collect();
        let (count, shown) = (shown.len(), shown.join(", "));
        match self.names.len().saturating_sub(count) {
            0 => shown,
            more => format!("{shown} and {} more", thousands(more)),
        }
    }
}
