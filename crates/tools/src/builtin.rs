//! The built-in tools, one file each, with its description beside it (T10).

mod answer;
mod append_file;
mod arguments;
mod change_excerpt;
#[cfg(feature = "commands")]
mod command_output;
#[cfg(feature = "commands")]
mod command_sandbox;
#[cfg(feature = "commands")]
mod commands;
mod delete_file;
mod edit_file;
mod edit_problem;
mod ending;
#[cfg(feature = "fetch")]
mod fetch_url;
pub(crate) mod file_kind;
mod file_preview;
mod file_work;
mod folder_names;
mod line_ends;
mod list_directory;
mod loose_match;
mod move_file;
mod near_paths;
mod path_likeness;
mod read_file;
mod read_skill;
mod readable_files;
pub(crate) mod recall;
#[cfg(feature = "commands")]
mod run_command;
mod sandbox_notes;
mod search_files;
mod spec;
mod todo;
pub(crate) mod tool_names;
pub(crate) mod walk;
mod write_file;

use std::sync::Arc;

#[cfg(feature = "commands")]
pub use commands::Commands;
pub use ending::ending_tools;
#[cfg(feature = "fetch")]
pub use fetch_url::{FetchSettings, fetch_url};
pub use near_paths::near_paths;
pub use read_skill::read_skill;
pub use readable_files::{ContentStamp, readable_files, reads_unasked};
pub use recall::RECALL;
pub use sandbox_notes::{end_of_exit_line, sandbox_notes};
pub use tool_names::{CHANGING_TOOLS, RUN_COMMAND, TOOL_NAMES};
pub use walk::WalkExtent;

use crate::{Tool, Workspace};

/// Returns the tools that work with the files of `workspace`, and the plan tool.
#[must_use]
pub fn file_tools(workspace: Arc<Workspace>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(list_directory::ListDirectory::new(Arc::clone(&workspace))),
        Arc::new(read_file::ReadFile::new(Arc::clone(&workspace))),
        Arc::new(write_file::WriteFile::new(Arc::clone(&workspace))),
        Arc::new(edit_file::EditFile::new(Arc::clone(&workspace))),
        Arc::new(append_file::AppendFile::new(Arc::clone(&workspace))),
        Arc::new(move_file::MoveFile::new(Arc::clone(&workspace))),
        Arc::new(delete_file::DeleteFile::new(Arc::clone(&workspace))),
        Arc::new(search_files::SearchFiles::new(workspace)),
        Arc::new(todo::Todo::new()),
    ]
}

/// Returns the file tools and the tool that runs commands in `workspace`.
#[cfg(feature = "commands")]
#[must_use]
pub fn builtins(workspace: Arc<Workspace>, commands: Commands) -> Vec<Arc<dyn Tool>> {
    let mut tools = file_tools(Arc::clone(&workspace));
    tools.push(Arc::new(run_command::RunCommand::new(workspace, commands)));
    tools
}
