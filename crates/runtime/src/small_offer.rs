//! Which built-in tools a small model is not offered (T2): those that the request can't need, that could only be denied, or
//! whose answer the overview has. A small model uses what it is shown, needed or not: asked for the capital of Portugal,
//! with a tool that writes files, it writes a file; with one that reads what it was shown, it reads that for ever.

use std::collections::BTreeSet;

use windlass_machine::{FileNeed, Run};
use windlass_tools::{CHANGING_TOOLS, Mode, Permissions, RUN_COMMAND};
use windlass_vocab::{Attendance, RunId, ToolName, ToolSpec, UnaskedChanges, WorkspaceOverview};

/// Tools that look into files.
const LOOKING: &[&str] = &["read_file", "search_files"];
const LISTING: &str = "list_directory";
/// The tool for requests with an address.
const FETCHING: &str = "fetch_url";
/// A tool whose arguments are a list of objects, which small models can't write.
const PLAN: &str = "todo";

/// Returns the built-in tools that this run can't use, or need not.
pub(crate) fn unneeded_tools(
    run: &Run,
    overview: Option<&WorkspaceOverview>,
    request: &str,
    permissions: &Permissions,
) -> Vec<&'static str> {
    let mut unneeded = vec![PLAN];
    if run.attendance == Attendance::Unattended && asks_for_every_command(permissions) {
        unneeded.push(RUN_COMMAND);
    }
    if !request.contains("://") {
        unneeded.push(FETCHING);
    }
    // Later runs may go on with what was said before: "Yes, do it."
    let is_first = run.id == RunId(1) && run.started.retry_of.is_none();
    let Some(overview) = overview.filter(|overview| is_first && !overview.is_for_judge) else { return unneeded };
    let files: BTreeSet<String> = overview.files.iter().map(|file| file.path.clone()).collect();
    let need = match run.policy().unasked_changes {
        UnaskedChanges::Ask => run.file_need(&files),
        UnaskedChanges::Allow => FileNeed::Change,
    };
    if need != FileNeed::Change {
        unneeded.extend(CHANGING_TOOLS);
    }
    if shows_everything(overview, permissions) && unneeded.contains(&RUN_COMMAND) || need == FileNeed::None {
        unneeded.extend(LOOKING);
    }
    if !overview.is_cut || need == FileNeed::None {
        unneeded.push(LISTING);
    }
    unneeded
}

/// Returns the tools that were left out of an offer that another process pinned: those that may be and that it does not
/// have.
pub(crate) fn tools_left_out(offer: &[ToolSpec]) -> Vec<&'static str> {
    let may_be_left_out = CHANGING_TOOLS.iter().chain(LOOKING).chain(&[LISTING, FETCHING, PLAN]).copied();
    let is_offered = |tool: &&str| offer.iter().any(|spec| spec.name.is_local() && spec.name.bare() == *tool);
    may_be_left_out.filter(|tool| !is_offered(tool)).collect()
}

/// Whether the overview has the text of every file. Files that are ignored or that rules are about are not in it, so where
/// there may be some it does not.
fn shows_everything(overview: &WorkspaceOverview, permissions: &Permissions) -> bool {
    let all_shown = !overview.is_cut && overview.files.iter().all(|file| file.text.is_some());
    let ignores = overview.files.iter().any(|file| file.path.rsplit('/').next() == Some(".gitignore"));
    let has_rules = !permissions.deny.is_empty() || !permissions.ask.is_empty();
    all_shown && !overview.files.is_empty() && !ignores && !has_rules
}

/// Whether no command runs without a person's yes.
fn asks_for_every_command(permissions: &Permissions) -> bool {
    let tool = ToolName(format!("{}.{RUN_COMMAND}", ToolName::LOCAL));
    permissions.mode != Mode::Bypass && !permissions.allow.iter().any(|rule| rule.means(&tool))
}
