//! Runs whose model writes scripts (T4): what they are offered, how far a script may go, and what its result says.

use windlass_machine::{CallResult, FileNeed, Phase, State};
use windlass_tools::dialect::explained_error;
use windlass_tools::{Mode, Permissions, RUN_COMMAND, Selection, WorkspaceUse, end_of_exit_line};
use windlass_vocab::{Change, Dialect, FilesChanged, Json, Message, SnapshotKind, ToolSpec, UnaskedChange, shown_path};

/// The most files of a kind that a result names.
const NAMED: usize = 10;

/// Whether the calls of the open run are scripts: those of the reply that is being read, or of the last one.
pub(crate) fn writes_scripts(state: &State) -> bool {
    let model = state.control.run.as_ref().map(|run| match &run.phase {
        Phase::Pinning | Phase::Modelling(_) => run.current_model(),
        Phase::Calling(_) | Phase::Stepping(_) | Phase::Between => {
            let replied = state.transcript.history.iter().rev().find_map(|message| match message {
                Message::Assistant { model, .. } => Some(model.clone()),
                Message::User { .. } | Message::Tool { .. } => None,
            });
            replied.unwrap_or_else(|| run.current_model())
        }
    });
    model.and_then(|model| state.control.dialect_of(&model)) == Some(Dialect::Script)
}

/// Returns the tools of a run whose model writes scripts: the one that runs them, and none where the request is mere talk,
/// or a question that the files have nothing to do with.
/// It is offered even where it can only be refused: a script that was not allowed is refused visibly, and an answer that
/// only shows one would look like work.
pub(crate) fn script_selection(selection: Selection, need: FileNeed) -> Selection {
    let selection = selection.only(RUN_COMMAND);
    match need {
        FileNeed::None => selection.without(&[RUN_COMMAND]),
        FileNeed::Look | FileNeed::Change => selection,
    }
}

/// Returns the same for a run that another process pinned with this offer.
pub(crate) fn resumed_script_selection(selection: Selection, pinned: &[ToolSpec]) -> Selection {
    let selection = selection.only(RUN_COMMAND);
    let is_offered = pinned.iter().any(|spec| spec.name.is_local() && spec.name.bare() == RUN_COMMAND);
    if is_offered { selection } else { selection.without(&[RUN_COMMAND]) }
}

/// Returns what the commands of the open run may do in the workspace. What a script changes is not known before it ran, so
/// where the policy lets no question change files, the sandbox sees to that, unless nothing is to be asked.
pub(crate) fn workspace_use(state: &State, permissions: &Permissions) -> WorkspaceUse {
    match unasked_by_any_script(state).filter(|_| permissions.mode != Mode::Bypass) {
        Some(UnaskedChange::InAnswer {}) => WorkspaceUse::ReadOnly,
        Some(
            UnaskedChange::Unclear {}
            | UnaskedChange::Deletes { .. }
            | UnaskedChange::NotNamed { .. }
            | UnaskedChange::AfterDeniedDelete { .. },
        )
        | None => WorkspaceUse::Configured,
    }
}

/// Returns why no script of the open run may change files unasked, whichever they are.
pub(crate) fn unasked_by_any_script(state: &State) -> Option<UnaskedChange> {
    let run = state.control.run.as_ref().filter(|_| writes_scripts(state))?;
    run.unasked_change(&[".".to_owned()], &[])
}

/// Whether the result of a call is told as that of a script: with the files that it changed, and errors explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangeNote {
    Added,
    Omitted,
}

impl ChangeNote {
    /// Returns whether a call with this snapshot is a script.
    pub(crate) fn of(state: &State, snapshot: SnapshotKind) -> Self {
        match snapshot {
            SnapshotKind::Workspace if writes_scripts(state) => Self::Added,
            SnapshotKind::Workspace | SnapshotKind::Paths | SnapshotKind::None => Self::Omitted,
        }
    }

    /// Adds the note and the texts of the changed files to a result, before the lines about the sandbox, which stay at its end. An error is told as
    /// whoever wrote the script needs it.
    pub(crate) fn add_to(self, finished: &mut CallResult, arguments: &Json, texts: &str, near: &[String]) {
        if self == Self::Omitted {
            return;
        }
        if finished.exit.is_some_and(|exit| !exit.is_success()) {
            finished.text = explained_error(&finished.text, arguments, near);
        }
        if let Some(files) = &finished.files {
            let end = end_of_exit_line(&finished.text);
            finished.text.insert_str(end, &format!("\n[{}]{texts}", changes_note(files)));
        }
    }
}

fn changes_note(files: &FilesChanged) -> String {
    let is = |kind: fn(&Change) -> bool| {
        let paths = files.changes.iter().filter(|(_, change)| kind(change)).map(|(path, _)| shown_path(path));
        paths.collect::<Vec<_>>()
    };
    let kinds = [
        ("Created", is(|change| !change.was.exists() && change.now.exists())),
        ("Changed", is(|change| change.was.exists() && change.now.exists())),
        ("Deleted", is(|change| change.was.exists() && !change.now.exists())),
    ];
    let told: Vec<String> =
        kinds.iter().filter(|(_, paths)| !paths.is_empty()).map(|(kind, paths)| listed(kind, paths)).collect();
    match (&told[..], &files.unseen) {
        ([], Some(_)) => "Which files changed is not known".to_owned(),
        ([], None) => "No file was changed".to_owned(),
        ([..], _) => told.join(". "),
    }
}

fn listed(kind: &str, paths: &[std::borrow::Cow<'_, str>]) -> String {
    let more = match paths.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{kind}: {}{more}", paths[..paths.len().min(NAMED)].join(", "))
}
