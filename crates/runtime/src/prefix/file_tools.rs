//! Which tools work with files.

use windlass_vocab::ToolSpec;

/// Built-in tools that change files; those that only read them are marked with `reads_files`.
const CHANGE_FILES: &[&str] = &[
    "local.append_file",
    "local.delete_file",
    "local.edit_file",
    "local.move_file",
    "local.run_command",
    "local.write_file",
];

/// Whether a tool works with the files of the workspace.
pub(super) fn works_with_files(tool: &ToolSpec) -> bool {
    tool.reads_files || CHANGE_FILES.contains(&tool.name.as_str())
}
