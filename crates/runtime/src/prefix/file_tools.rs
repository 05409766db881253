//! Which tools work with files.

use windlass_tools::CHANGING_TOOLS;
use windlass_vocab::ToolSpec;

/// Whether a tool works with the files of the workspace.
pub(super) fn works_with_files(tool: &ToolSpec) -> bool {
    tool.reads_files || (tool.name.is_local() && CHANGING_TOOLS.contains(&tool.name.bare()))
}
