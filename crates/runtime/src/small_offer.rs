//! What a request needs of the files, and which built-in tools a small model is not offered (T2): those that the request can't need, that could only be denied, or
//! whose answer the overview has. A small model uses what it is shown, needed or not: asked for the capital of Portugal,
//! with a tool that writes files, it writes a file; with one that reads what it was shown, it reads that for ever. Some
//! call `read_file` without having been told of it, again and again if it is refused: then it is run.

use std::collections::BTreeSet;

use windlass_machine::{FileChangeKind, FileNeed, Run};
use windlass_tools::{CHANGING_TOOLS, Mode, Permissions, RUN_COMMAND, Selection};
use windlass_vocab::{Attendance, ToolName, ToolSpec, UnaskedChanges, WorkspaceOverview};

/// Tools that look into files.
const LOOKING: &[&str] = &["read_file", "search_files"];
const LISTING: &str = "list_directory";
const MOVING: &str = "move_file";
const DELETING: &str = "delete_file";
/// The tool for requests with an address.
const FETCHING: &str = "fetch_url";
/// A tool whose arguments are a list of objects, which small models can't write.
const PLAN: &str = "todo";

/// The built-in tools that a run is not offered.
#[derive(Debug, Default)]
pub(crate) struct UnofferedTools {
    /// Those of which a call is refused.
    refused: Vec<&'static str>,
    /// Those that are run if they are called all the same.
    unshown: Vec<&'static str>,
}

impl UnofferedTools {
    /// Returns the selection without these tools.
    pub(crate) fn left_out_of(&self, selection: Selection) -> Selection {
        selection.without(&self.refused).not_showing(&self.unshown)
    }
}

/// Returns the built-in tools that this run can't use, or need not.
pub(crate) fn unneeded_tools(
    run: &Run,
    overview: Option<&WorkspaceOverview>,
    need: FileNeed,
    request: &str,
    permissions: &Permissions,
) -> UnofferedTools {
    let mut unneeded = UnofferedTools { refused: vec![PLAN], unshown: Vec::new() };
    if run.attendance == Attendance::Unattended && asks_for_every_command(permissions) {
        unneeded.refused.push(RUN_COMMAND);
    }
    if !request.contains("://") {
        unneeded.refused.push(FETCHING);
    }
    let is_shown = |overview: &&WorkspaceOverview| run.is_first_request() && !overview.is_for_judge;
    let Some(overview) = overview.filter(is_shown) else { return unneeded };
    if need != FileNeed::Change {
        unneeded.refused.extend(CHANGING_TOOLS);
    }
    let asks = run.policy().unasked_changes == UnaskedChanges::Ask;
    for kind in run.unmentioned_changes(&paths(overview)).into_iter().filter(|_| asks) {
        unneeded.refused.push(match kind {
            FileChangeKind::Move => MOVING,
            FileChangeKind::Delete => DELETING,
        });
    }
    let has_all = shows_everything(overview, permissions) && unneeded.refused.contains(&RUN_COMMAND);
    let looking: Vec<&str> = LOOKING.iter().copied().filter(|_| has_all || need == FileNeed::None).collect();
    let listing = (!overview.is_cut || need == FileNeed::None).then_some(LISTING);
    match need {
        FileNeed::None => unneeded.refused.extend(looking.into_iter().chain(listing)),
        FileNeed::Look | FileNeed::Change => unneeded.unshown.extend(looking.into_iter().chain(listing)),
    }
    unneeded
}

/// Returns the tools that were left out of an offer that another process pinned: those that may be and that it does not
/// have.
pub(crate) fn tools_left_out(offer: &[ToolSpec]) -> UnofferedTools {
    let is_left_out = |tool: &&str| !offer.iter().any(|spec| spec.name.is_local() && spec.name.bare() == *tool);
    UnofferedTools {
        refused: CHANGING_TOOLS.iter().chain(&[FETCHING, PLAN]).copied().filter(is_left_out).collect(),
        unshown: LOOKING.iter().chain(&[LISTING]).copied().filter(is_left_out).collect(),
    }
}

/// Returns what the request needs of the files, by its words and theirs.
pub(crate) fn file_need(run: &Run, overview: &WorkspaceOverview, permissions: &Permissions) -> FileNeed {
    if !run.is_first_request() || run.policy().unasked_changes == UnaskedChanges::Allow {
        return FileNeed::Change;
    }
    let has_none = overview.files.is_empty() && !overview.is_cut;
    let knows_all = has_none || shows_everything(overview, permissions);
    if knows_all && run.is_general_question(overview) {
        return FileNeed::None;
    }
    run.file_need_by_words(&paths(overview))
}

fn paths(overview: &WorkspaceOverview) -> BTreeSet<String> {
    overview.files.iter().map(|file| file.path.clone()).collect()
}

/// Whether the overview has the text of every file. Files that are ignored or that rules are about are not in it, so where
/// there may be some it does not.
fn shows_everything(overview: &WorkspaceOverview, permissions: &Permissions) -> bool {
    let has_rules = !permissions.deny.is_empty() || !permissions.ask.is_empty();
    overview.has_every_text() && !overview.files.is_empty() && !has_rules
}

/// Whether no command runs without a person's yes.
fn asks_for_every_command(permissions: &Permissions) -> bool {
    let tool = ToolName(format!("{}.{RUN_COMMAND}", ToolName::LOCAL));
    permissions.mode != Mode::Bypass && !permissions.allow.iter().any(|rule| rule.means(&tool))
}
