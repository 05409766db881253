//! `list_directory`: one level of a folder, with sizes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, DirEntry};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{Outcome, ToolSpec};

use super::answer::{invalid, on_disk};
use super::arguments::read;
use super::spec::file_read;
use crate::cut::thousands;
use crate::file_rules::left_out_note;
use crate::file_subject::READ;
use crate::flat_path::flatten;
use crate::path_pattern::Extent;
use crate::{BoxFuture, CallContext, FileRules, Subject, Tool, Workspace, shown_path};

const LIMIT: usize = 500;

#[derive(Deserialize)]
struct Arguments {
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
                "limit": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "At most so many entries; 500 if left out."}
            },
            "additionalProperties": false
        });
        let description = include_str!("list_directory.md");
        Self { spec: file_read("list_directory", description, &schema), workspace }
    }
}

impl Tool for ListDirectory {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn subject(&self, arguments: &Value) -> Option<Subject> {
        Some(self.workspace.subject(arguments.get("path").and_then(Value::as_str).unwrap_or("."), READ))
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match read::<Arguments>(arguments) {
            Ok(Arguments { path, limit }) => on_disk(move || {
                let (folder, names) = workspace.folder(&path, &context.files)?;
                let listed = list(&workspace, &names.texts(), &folder, &context.files);
                listed
                    .map(|listed| listed.told(&folder, limit.unwrap_or(LIMIT)))
                    .map_err(|error| workspace.explain(&path, &error))
            }),
            Err(problem) => invalid(problem),
        }
    }
}

/// What is listed first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Folder,
    File,
    Other,
}

/// What is in a folder and may be shown.
struct Listed {
    entries: Vec<(Rank, OsString, DirEntry)>,
    left_out: usize,
}

fn list(workspace: &Workspace, names: &[String], folder: &Dir, rules: &FileRules) -> std::io::Result<Listed> {
    let unread = rules.left_out(&workspace.files(names, READ, Extent::Itself));
    let mut listed = Listed { entries: Vec::new(), left_out: 0 };
    for entry in folder.entries()? {
        let entry = entry?;
        let rank = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Rank::Folder,
            Ok(kind) if kind.is_file() => Rank::File,
            Ok(_) | Err(_) => Rank::Other,
        };
        let mut paths: Vec<PathBuf> =
            names.iter().map(|name| flatten(&Path::new(name).join(entry.file_name()))).collect();
        // A link is shown with what it leads to.
        let behind = paths.last().filter(|_| rank == Rank::Other).map(|path| workspace.resolved(path));
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

impl Listed {
    fn told(&self, folder: &Dir, limit: usize) -> String {
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

fn line(folder: &Dir, rank: Rank, name: &OsString, entry: &DirEntry) -> String {
    let name_text = name.to_string_lossy();
    let shown = shown_path(&name_text);
    match rank {
        Rank::Folder => format!("{shown}/"),
        Rank::File => match entry.metadata() {
            Ok(metadata) => format!("{shown}  {}", thousands(usize::try_from(metadata.len()).unwrap_or(usize::MAX))),
            Err(_) => format!("{shown}  ?"),
        },
        Rank::Other => match folder.read_link_contents(name) {
            Ok(target) => format!("{shown} -> {}", shown_path(&target.to_string_lossy())),
            Err(_) => format!("{shown}  [pipe, socket or device]"),
        },
    }
}
