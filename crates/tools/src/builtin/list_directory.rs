//! `list_directory`: one level of a folder, with sizes.

use std::ffi::OsString;
use std::sync::Arc;

use cap_std::fs::{Dir, DirEntry};
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_vocab::{Outcome, ToolSpec};

use super::{file_read, invalid, on_disk, read};
use crate::cut::thousands;
use crate::{BoxFuture, CallContext, Subject, Tool, Workspace};

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
        Some(self.workspace.subject(&[arguments.get("path").and_then(Value::as_str).unwrap_or(".")]))
    }

    fn run(&self, _: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let workspace = Arc::clone(&self.workspace);
        match read::<Arguments>(arguments) {
            Ok(Arguments { path, limit }) => on_disk(move || {
                let folder = workspace.folder(&path)?;
                list(&folder, limit.unwrap_or(LIMIT)).map_err(|error| workspace.explain(&path, &error))
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

fn list(folder: &Dir, limit: usize) -> std::io::Result<String> {
    let mut entries: Vec<(Rank, OsString, DirEntry)> = Vec::new();
    for entry in folder.entries()? {
        let entry = entry?;
        let rank = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Rank::Folder,
            Ok(kind) if kind.is_file() => Rank::File,
            Ok(_) | Err(_) => Rank::Other,
        };
        entries.push((rank, entry.file_name(), entry));
    }
    if entries.is_empty() {
        return Ok("[the directory is empty]".into());
    }
    entries.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let lines = entries.iter().take(limit).map(|(rank, name, entry)| line(folder, *rank, name, entry));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if entries.len() > limit {
        let (shown, all) = (thousands(limit), thousands(entries.len()));
        text += &format!(
            "\n[{shown} of {all} entries shown; give a larger limit, or use search_files with \"in\": \"names\"]"
        );
    }
    Ok(text)
}

fn line(folder: &Dir, rank: Rank, name: &OsString, entry: &DirEntry) -> String {
    let shown = name.to_string_lossy();
    match rank {
        Rank::Folder => format!("{shown}/"),
        Rank::File => match entry.metadata() {
            Ok(metadata) => format!("{shown}  {}", thousands(usize::try_from(metadata.len()).unwrap_or(usize::MAX))),
            Err(_) => format!("{shown}  ?"),
        },
        Rank::Other => match folder.read_link_contents(name) {
            Ok(target) => format!("{shown} -> {}", target.to_string_lossy()),
            Err(_) => format!("{shown}  [pipe, socket or device]"),
        },
    }
}
