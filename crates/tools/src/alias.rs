//! Names that other agents give to the tools we have. Models have learnt those names; each row maps them
//! to the equivalent tool here. The first name of a row is ours.

/// Returns our names for the tool that other agents call `name`, the best match first.
pub(crate) fn aliases(name: &str) -> impl Iterator<Item = &'static str> {
    let folded = folded(name);
    ALIASES.iter().filter(move |row| row[1..].iter().any(|alias| self::folded(alias) == folded)).map(|row| row[0])
}

/// Returns a name without case and word separators, which differ between writers.
pub(crate) fn folded(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

const ALIASES: &[&[&str]] = &[
    &[
        "run_command",
        "bash",
        "sh",
        "shell",
        "terminal",
        "exec",
        "execute",
        "execute_command",
        "execute_bash",
        "exec_command",
        "run_shell_command",
        "run_terminal_cmd",
        "run_terminal_command",
        "run_in_terminal",
        "run_bash",
        "run_shell",
        "shell_command",
        "local_shell",
        "command",
    ],
    &[
        "read_file",
        "cat",
        "view",
        "view_file",
        "open",
        "open_file",
        "read",
        "get_file",
        "get_file_contents",
        "show_file",
    ],
    &["write_file", "create_file", "save_file", "write", "write_to_file", "new_file", "put_file"],
    &[
        "edit_file",
        "str_replace",
        "str_replace_editor",
        "str_replace_based_edit_tool",
        "replace_in_file",
        "search_replace",
        "edit",
        "replace",
        "modify_file",
        "update_file",
    ],
    &[
        "list_directory",
        "ls",
        "dir",
        "list",
        "list_dir",
        "list_files",
        "list_folder",
        "view_directory",
        "read_directory",
    ],
    &[
        "search_files",
        "grep",
        "rg",
        "ripgrep",
        "grep_search",
        "search",
        "search_code",
        "code_search",
        "search_file_content",
        "find",
        "find_files",
        "glob",
        "file_search",
    ],
    &["append_file", "append", "append_to_file", "append_text", "append_line", "add_line", "add_lines", "add_to_file"],
    &["delete_file", "rm", "remove", "remove_file", "delete", "unlink", "erase_file"],
    &["move_file", "mv", "rename", "rename_file", "move"],
    &["fetch_url", "fetch", "web_fetch", "curl", "wget", "http_get", "get_url", "open_url", "read_url"],
    &["todo", "todo_write", "update_plan", "write_todos", "plan", "set_plan"],
    &["task_completion", "attempt_completion", "complete_task", "task_complete", "finish", "final_answer", "submit"],
    &["ask_question", "ask_followup_question", "ask_user", "ask_human", "request_user_input"],
    &["converse", "respond", "reply", "message_user", "send_message_to_user"],
];

#[cfg(test)]
mod tests {
    use super::{ALIASES, folded};

    // proves T3
    #[test]
    fn no_name_leads_to_two_tools() {
        let mut all: Vec<String> = ALIASES.iter().flat_map(|row| row[1..].iter().map(|alias| folded(alias))).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
