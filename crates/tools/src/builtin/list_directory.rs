//! `list_directory`: one level of a folder, with sizes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, DirEntry};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{Outcome, ToolSpec};

use super::answer::{invalid_arguments, run_file_work};
use super::arguments::parse_arguments;
use super::near_paths::with_near_paths;
use super::spec::file_read_spec;
use crate::about_files::READ;
use crate::cut::thousands;
use crate::file_rules::left_out_note;
use crate::flat_path::flatten;
use crate::path_pattern::PathExtent;
use crate::{About, BoxFuture, CallContext, CertainFailure, FileRules, Tool, Workspace, shown_path};

const LIMIT: usize = 500;

#[derive(Deserialize)]
struct ListDirectoryArguments {
    #[serde(default = "here")]
    path: String,
    limit: Option<usize>,
}

fn here() -> String {
    ".".into()
}

pub(super) struct ListDirectory {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
}

impl ListDirectory {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The directory; the workspace itself if left out."},
                "limit": {"type": "integer", "minimum": 0, "maximum": 5000, "description": "At most so many entries; 500 if left out."}
            },
            "additionalProperties": false
        });
        let description = include_str!("list_directory.md");
        Self { spec: file_read_spec("list_directory", description, &schema), workspace }
    }
}

impl Tool for ListDirectory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        Some(self.workspace.about(arguments.get("path").and_then(Value::as_str).unwrap_or("."), READ))
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
        self.workspace.unusable(path).map(CertainFailure::by_arguments)
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match parse_arguments::<ListDirectoryArguments>(arguments) {
            Ok(ListDirectoryArguments { path, limit }) => run_file_work(move || {
                let opened = workspace.folder(&path, &context.files);
                let (folder, names) =
                    opened.map_err(|refusal| with_near_paths(refusal, &workspace, &path, &context.files))?;
                let listed = list(&workspace, &names.texts(), &folder, &context.files);
                listed
                    .map(|listed| listed.rendered(&folder, limit.filter(|limit| *limit > 0).unwrap_or(LIMIT)))
                    .map_err(|error| workspace.explain(&path, &error))
            }),
            Err(problem) => invalid_arguments(problem),
        }
    }
}

/// The order of the listing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EntryRank {
    Folder,
    File,
    Other,
}

/// The entries of a folder that may be displayed.
struct DirectoryListing {
    entries: Vec<(EntryRank, OsString, DirEntry)>,
    left_out: usize,
}

fn list(workspace: &Workspace, names: &[String], folder: &Dir, rules: &FileRules) -> std::io::Result<DirectoryListing> {
    let unread = rules.hidden_files(&workspace.files(names, READ, PathExtent::Itself));
    let mut listed = DirectoryListing { entries: Vec::new(), left_out: 0 };
    for entry in folder.entries()? {
        let entry = entry?;
        let rank = match entry.file_type() {
            Ok(kind) if kind.is_dir() => EntryRank::Folder,
            Ok(kind) if kind.is_file() => EntryRank::File,
            Ok(_) | Err(_) => EntryRank::Other,
        };
        let mut paths: Vec<PathBuf> =
            names.iter().map(|name| flatten(&Path::new(name).join(entry.file_name()))).collect();
        // A symlink is displayed with its target.
        let behind = paths.last().filter(|_| rank == EntryRank::Other).map(|path| workspace.resolved(path));
        paths.extend(behind);
        if unread.has(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>()) {
            listed.left_out += 1;
        } else {
            listed.entries.push((rank, entry.file_name(), entry));
        }
    }
    listed.entries.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    Ok(listed)
}

impl DirectoryListing {
    fn rendered(&self, folder: &Dir, limit: usize) -> String {
        let Self { entries, left_out } = self;
        let mut lines: Vec<String> =
            entries.iter().take(limit).map(|(rank, name, entry)| line(folder, *rank, name, entry)).collect();
        if entries.is_empty() && *left_out == 0 {
            lines.push("[the directory is empty]".into());
        }
        if entries.len() > limit {
            let (shown, all) = (thousands(limit), thousands(entries.len()));
            lines.push(format!(
                "[{shown} of {all} entries shown; give a larger limit, or use search_files with \"in\": \"names\"]"
            ));
        }
        lines.extend(left_out_note(*left_out).map(|note| format!("[{note}]")));
        lines.join("\n")
    }
}

fn line(folder: &Dir, rank: EntryRank, name: &OsString, entry: &DirEntry) -> String {
    let name_text = name.to_string_lossy();
    let shown = shown_path(&name_text);
    match rank {
        EntryRank::Folder => format!("{shown}/"),
        EntryRank::File => match entry.metadata() {
            Ok(metadata) => format!("{shown}  {}", thousands(usize::try_from(metadata.len()).unwrap_or(usize::MAX))),
            Err(_) => format!("{shown}  ?"),
        },
        EntryRank::Other => match folder.read_link_contents(name) {
            Ok(target) => format!("{shown} -> {}", shown_path(&target.to_string_lossy())),
            Err(_) => format!("{shown}  [pipe, socket or device]"),
        },
    }
}
