//! The names of the built-in tools, including those that this build or run lacks, so that rules mean the same in each.

/// The names of all tools that are part of the program, for a check whether a name is one of them.
pub const TOOL_NAMES: &[&str] = &[
    "append_file",
    "ask_question",
    "converse",
    "delete_file",
    "edit_file",
    "fetch_url",
    "find_tools",
    "list_directory",
    "move_file",
    "read_file",
    "read_skill",
    "recall",
    RUN_COMMAND,
    "search_files",
    "task_completion",
    "todo",
    "wait_for_servers",
    "write_file",
];

/// The tool that runs commands.
pub const RUN_COMMAND: &str = "run_command";

/// The tools that change files; those that only read them are marked with `reads_files`.
pub const CHANGING_TOOLS: &[&str] =
    &["append_file", "delete_file", "edit_file", "move_file", RUN_COMMAND, "write_file"];
