//! Finds instructions for single folders of the workspace. Only their paths are in the prefix: a large project has many,
//! and a run needs few of them.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;

use super::file_names::INSTRUCTIONS;

/// How many folders are looked into.
const MOST_FOLDERS: usize = 500;
/// How deep they may be.
const MOST_DEPTH: usize = 5;
/// How many paths are listed.
const MOST_PATHS: usize = 20;
/// Folders that programs fill.
const SKIPPED: &[&str] = &["node_modules", "target", "venv", "vendor", "dist", "build", "__pycache__"];

/// Returns the paths of such files below the workspace, relative to it, as far as `may_list` admits them. Links to
/// folders are not followed.
pub(super) fn nested(workspace: &Path, may_list: impl Fn(&str) -> bool) -> Vec<String> {
    let mut folders = VecDeque::from([(workspace.to_owned(), 0)]);
    let (mut looked_into, mut paths) = (0, Vec::new());
    while let Some((folder, depth)) = folders.pop_front() {
        looked_into += 1;
        if looked_into > MOST_FOLDERS || paths.len() >= MOST_PATHS {
            break;
        }
        if depth > 0
            && let Some(name) = INSTRUCTIONS.iter().find(|name| folder.join(name).is_file())
            && let Some(path) = folder.join(name).strip_prefix(workspace).ok().and_then(Path::to_str)
            && may_list(path)
        {
            paths.push(path.to_owned());
        }
        if depth < MOST_DEPTH {
            folders.extend(below(&folder).into_iter().map(|name| (folder.join(name), depth + 1)));
        }
    }
    paths.sort_unstable();
    paths
}

/// Returns the names of the folders in `folder` that may hold sources, in order.
fn below(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let names = entries.filter(is_folder).filter_map(|entry| entry.file_name().into_string().ok());
    let is_source = |name: &String| !name.starts_with('.') && !SKIPPED.contains(&name.as_str());
    let mut names: Vec<String> = names.filter(is_source).collect();
    names.sort_unstable();
    names
}
