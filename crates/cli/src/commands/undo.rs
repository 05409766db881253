//! `windlass undo`: restores files to their state before a call. Needs no model and no approval: a person asks for it.

use std::path::PathBuf;
use std::sync::Arc;

use windlass_machine::Force;
use windlass_runtime::{UndoError, UndoFiles, UndoMode, UndoRequest};
use windlass_setup::permissions::permissions;
use windlass_setup::settings::{Env, Flags, PlaceSettings};
use windlass_setup::store;
use windlass_setup::{secrets, test_hooks};
use windlass_store::{SessionRow, Store};
use windlass_tools::{FileRules, Workspace};

use super::block_on::block_on;
use super::undo_target::step_with_last_change;
use super::{prepared_run, session};
use crate::args::UndoArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::advice::with_workspace;
use crate::output::{quoted, same_folders, undone};
use crate::streams::{print, print_notice};

pub(super) fn run(data_dir: Option<PathBuf>, args: &UndoArgs, env: &Env) -> CommandResult {
    let data = same_folders(data_dir.as_deref(), None);
    let folders = same_folders(data_dir.as_deref(), args.workspace.as_deref());
    let flags = Flags { data_dir, workspace: args.workspace.clone(), ..Flags::default() };
    let sources = prepared_run::gather(flags, env.clone())?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        refuse_open(store.as_ref(), &row, &data).await?;
        let step = match args.call {
            None => step_with_last_change(store.as_ref(), &row).await?,
            Some(_) => None,
        };
        let row = step.unwrap_or(row);
        refuse_open(store.as_ref(), &row, &data).await?;
        let key = quoted(&row.key);
        let place = session::in_named_session_folder(place, &row, args.workspace.as_deref())?;
        // Unreadable settings must not keep a person from restoring their files.
        let settings = sources.for_folder(&place.workspace).ok().and_then(|sources| sources.resolve().ok());
        let rules = settings.as_ref().map(|settings| Arc::new(permissions(&settings.permissions)));
        let files = UndoFiles {
            store,
            workspace: Arc::new(workspace(&place)?),
            secrets: Arc::new(secrets::scrubber(&secrets::known_secrets(env, settings.as_ref()))),
            rules: rules.map(FileRules::of).unwrap_or_default(),
        };
        let request = UndoRequest {
            of: args.call,
            force: if args.force { Force::Yes } else { Force::No },
            mode: if args.dry_run { UndoMode::DryRun } else { UndoMode::Apply },
        };
        let clock = test_hooks::clock();
        let report = match windlass_runtime::undo(&files, row.session, request, clock.as_ref()).await {
            Ok(report) => report,
            Err(UndoError::Store(error)) => return Err(CommandError::of_store(error, Some(&row.key))),
            Err(UndoError::RunOpen) => return Err(run_open(&key, &data)),
            Err(refused) => return Err(CommandError::new(exit(&refused), undone::refusal_text(&refused, "--force"))),
        };
        print(&undone::restored(&report))?;
        print_notice(undone::summary(&report, |undo| format!("windlass undo {key} --call {undo}{folders}")).trim_end());
        // Don't report success when some files were not restored.
        Ok(if report.left_alone.is_empty() { Exit::Done } else { Exit::Failed })
    })
}

/// Returns an error if a run of the session is open.
async fn refuse_open(store: &dyn Store, row: &SessionRow, data: &str) -> Result<(), CommandError> {
    if !row.status.is_open() {
        return Ok(());
    }
    let key = quoted(&row.key);
    Err(if store.is_claimed(row.session).await? { run_elsewhere(&key, data) } else { run_open(&key, data) })
}

fn run_open(key: &str, data: &str) -> CommandError {
    let text = format!(
        "a run of session `{key}` is not over and may still change files: finish it with `windlass resume {key}{data}`, or \
         give it up with `windlass stop {key}{data}`, then undo"
    );
    CommandError::new(Exit::Usage, text)
}

fn run_elsewhere(key: &str, data: &str) -> CommandError {
    let text = format!(
        "a run of session `{key}` is open in another process and may still change files: wait until it is done, or \
         stop it with `windlass stop {key}{data}`, then undo"
    );
    CommandError::new(Exit::Store, text)
}

fn exit(error: &UndoError) -> Exit {
    match error {
        UndoError::Conflicts(_) => Exit::Failed,
        UndoError::Newer | UndoError::Store(_) | UndoError::Closed(_) => Exit::Store,
        UndoError::RunOpen
        | UndoError::NoWorkspace
        | UndoError::Nothing
        | UndoError::NoSuch(_)
        | UndoError::Unchanged(_)
        | UndoError::Forbidden { .. }
        | UndoError::TakenBack { .. } => Exit::Usage,
    }
}

/// Opens the session's folder, without the paths that tools may not access.
fn workspace(place: &PlaceSettings) -> Result<Workspace, CommandError> {
    let closed = std::iter::once(&place.data_dir.value).chain(&place.closed);
    let opened = Workspace::open(&place.workspace)
        .and_then(|folder| closed.into_iter().try_fold(folder, |folder, closed| folder.without(closed)));
    let workspace = opened.map_err(|error| CommandError::new(Exit::Usage, with_workspace(&error)))?;
    Ok(test_hooks::with_restore_failpoint(workspace))
}
