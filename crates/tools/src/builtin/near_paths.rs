//! The refusal of a path that is not there, or is no file: it names what the model may have meant, and what is in the
//! folder, so that the next call is the right one. It names nothing that a rule forbids to read or asks about.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::folder_names::FolderNames;
use super::path_likeness::PathLikeness;
use super::walk::walk;
use crate::about_files::READ;
use crate::path_pattern::PathExtent;
use crate::refusal::Refusal;
use crate::{FileRules, Workspace, contains_placeholder, shown_path};

/// Most files that are looked at, and most paths that are named.
const SEARCHED: usize = 5_000;
const NAMED: usize = 3;

/// Returns `refusal`, with near paths and the names in the folder if there is nothing at `path`, and with the names in it
/// if it is a folder.
pub(super) fn with_near_paths(refusal: Refusal, workspace: &Workspace, path: &str, rules: &FileRules) -> Refusal {
    if refusal.is_not_found() && workspace.exists(path).is_ok_and(|there| !there) {
        return Refusal::not_found(absent(workspace, path, rules));
    }
    let relative = workspace.relative(path).ok().filter(|_| refusal.is_about_arguments());
    let is_folder = |path: &Path| workspace.dir().metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let names = relative.filter(|path| is_folder(path)).and_then(|path| {
        let path = if path == Path::new(".") { Path::new("") } else { &path };
        FolderNames::of(workspace, path, rules)
    });
    match names {
        Some(names) => refusal.with_sentence(&names.at_present()),
        None => refusal,
    }
}

/// Says that there is nothing at `path`, and what there is.
fn absent(workspace: &Workspace, path: &str, rules: &FileRules) -> String {
    let mut text = format!("There is no `{path}` in the workspace.");
    let near = near_paths(workspace, path, rules);
    if !near.is_empty() {
        text.push_str(&format!(" Similar: {}.", near.join(", ")));
    }
    let Ok(relative) = workspace.relative(path) else { return text };
    let mut folders = relative.ancestors().skip(1);
    if let Some(names) = folders.find_map(|folder| FolderNames::of(workspace, folder, rules)) {
        text.push_str(&format!(" {}", names.at_present()));
    }
    text
}

/// Returns the files and folders of the workspace whose paths are most like `path`, the best first.
#[must_use]
pub fn near_paths(workspace: &Workspace, path: &str, rules: &FileRules) -> Vec<String> {
    let rules = rules.beyond_the_call();
    // Nobody was asked about these files, so those that are asked about first are left out as well.
    let unread = rules.hidden_files(&workspace.files(&[], READ, PathExtent::Itself));
    let mut found = BTreeSet::new();
    let mut looked_at = 0;
    let consider = |candidate: &Path, shown: String, found: &mut BTreeSet<(PathLikeness, String)>| {
        let Some(likeness) = PathLikeness::of(path, &shown) else { return };
        if !unread.has(&[candidate]) {
            found.insert((likeness, shown));
        }
    };
    // A workspace that must not be read has no near paths.
    let _ = walk(workspace, ".", &rules, &mut |file| {
        looked_at += 1;
        if let Some(name) = file.path.to_str()
            && !workspace.secrets().is_in(name.as_bytes())
            && !contains_placeholder(name)
        {
            consider(&file.path, name.to_owned(), &mut found);
            let folders = file.path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
            for folder in folders {
                consider(folder, format!("{}/", folder.display()), &mut found);
            }
        }
        if looked_at < SEARCHED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found.into_iter().take(NAMED).map(|(_, path)| shown_path(&path).into_owned()).collect()
}
