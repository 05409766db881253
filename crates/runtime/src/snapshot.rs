//! Saves files before a call (T9), so that it can be undone, and compares them after it, to record its changes. The
//! saved states are in memory while the call runs; after a crash they are read from the journal.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_machine::{Fact, files_before};
use windlass_tools::{BoxFuture, Checkpoint, Checkpoints, Offer, SnapshotBounds, UnkeptFiles, Workspace};
use windlass_vocab::{
    CallId, CallRequested, Change, Changes, Coverage, FileState, FilesChanged, Json, Record, SessionId, SnapshotKind,
    SnapshotTaken,
};

use crate::call::EndedCall;
use crate::services::Services;

/// The state of each path.
type FileStates = BTreeMap<String, FileState>;

/// The snapshots of one driver.
#[derive(Clone, Default)]
pub(crate) struct SnapshotKeeper {
    checkpoints: Arc<Mutex<Checkpoints>>,
    before: Arc<Mutex<HashMap<CallId, FileStates>>>,
}

impl SnapshotKeeper {
    fn checkpoints(&self) -> MutexGuard<'_, Checkpoints> {
        self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn before(&self) -> MutexGuard<'_, HashMap<CallId, FileStates>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves the files that a call may change.
    pub(crate) fn take(
        &self,
        services: &Arc<Services>,
        offer: &Offer,
        request: &CallRequested,
        edited: Option<&Json>,
    ) -> BoxFuture<'static, EndedCall> {
        let (keeper, services, call, kind) = (self.clone(), Arc::clone(services), request.call, request.snapshot);
        let arguments = edited.unwrap_or(&request.arguments);
        let planned_changes =
            request.tool.as_ref().map(|tool| offer.planned_changes(tool, arguments)).unwrap_or_default();
        Box::pin(async move {
            let Some(workspace) = services.workspace.clone() else {
                return not_kept(call, "there is no workspace");
            };
            let taken = tokio::task::spawn_blocking(move || match kind {
                SnapshotKind::None | SnapshotKind::Paths => {
                    let looked = workspace.keep(&planned_changes, &services.secrets);
                    keeper.checkpoints().others(&looked.files);
                    keeper.before().insert(call, looked.files.clone());
                    let (coverage, files) = (looked.coverage, looked.files);
                    Checkpoint {
                        taken: SnapshotTaken { call, coverage, since: None, files },
                        contents: looked.contents,
                    }
                }
                SnapshotKind::Workspace => {
                    keeper.checkpoints().before(&workspace, call, SnapshotBounds::WORKSPACE, &services.secrets)
                }
            });
            match taken.await {
                Ok(Checkpoint { taken, contents }) => EndedCall { fact: Fact::Snapshot(taken), blobs: contents },
                Err(error) => not_kept(call, &error.to_string()),
            }
        })
    }

    /// Returns the changes of a call whose files were saved.
    pub(crate) async fn changed(
        &self,
        services: &Arc<Services>,
        session: SessionId,
        call: CallId,
        kind: SnapshotKind,
    ) -> Option<FilesChanged> {
        let workspace = services.workspace.clone().filter(|_| !kind.is_none())?;
        if let Err(why) = self.load_saved(services, session, call, kind).await {
            return Some(FilesChanged { call, unseen: Some(why), ..FilesChanged::default() });
        }
        let (keeper, secrets) = (self.clone(), Arc::clone(&services.secrets));
        let looked = tokio::task::spawn_blocking(move || match kind {
            SnapshotKind::None | SnapshotKind::Paths => {
                let before = keeper.before().remove(&call).unwrap_or_default();
                keeper.checkpoints().others(&before);
                FilesChanged { call, changes: changes(&workspace, before, &secrets), ..FilesChanged::default() }
            }
            SnapshotKind::Workspace => {
                keeper.checkpoints().after(&workspace, call, SnapshotBounds::WORKSPACE, &secrets)
            }
        });
        let lost = |error: tokio::task::JoinError| FilesChanged {
            call,
            unseen: Some(error.to_string()),
            ..FilesChanged::default()
        };
        Some(looked.await.unwrap_or_else(lost))
    }

    /// Loads the saved states from the journal, if they are not in memory.
    async fn load_saved(
        &self,
        services: &Services,
        session: SessionId,
        call: CallId,
        kind: SnapshotKind,
    ) -> Result<(), String> {
        let at_hand = match kind {
            SnapshotKind::None => true,
            SnapshotKind::Paths => self.before().contains_key(&call),
            SnapshotKind::Workspace => self.checkpoints().is_open(call),
        };
        if at_hand {
            return Ok(());
        }
        let journal = services.store.read(session, 0).await.map_err(|error| error.to_string())?;
        let files = files_before(journal.iter().map(|envelope| &envelope.record), call);
        let coverage = journal.iter().find_map(|envelope| match &envelope.record {
            Record::SnapshotTaken(taken) if taken.call == call => Some(&taken.coverage),
            _ => None,
        });
        match kind {
            SnapshotKind::Workspace => self.checkpoints().adopt(call, files, coverage),
            SnapshotKind::None | SnapshotKind::Paths => drop(self.before().insert(call, files)),
        }
        Ok(())
    }
}

/// Records that no file could be saved before a call. It runs all the same, and can't be undone.
fn not_kept(call: CallId, why: &str) -> EndedCall {
    let coverage = Coverage::None { why: why.to_owned() };
    let taken = SnapshotTaken { call, coverage, since: None, files: FileStates::new() };
    EndedCall { fact: Fact::Snapshot(taken), blobs: Vec::new() }
}

fn changes(workspace: &Workspace, before: FileStates, secrets: &windlass_tools::Secrets) -> Changes {
    let (paths, recorded) = (before.keys().map(String::as_str), UnkeptFiles::of(before.values()));
    let after = workspace.snapshot_recorded(paths, recorded, SnapshotBounds::PATHS, secrets).files;
    let change = |(path, was): (String, FileState)| {
        let now = after.get(&path).cloned().unwrap_or(FileState::Absent);
        (!was.is_like(&now)).then_some((path, Change { was, now }))
    };
    before.into_iter().filter_map(change).collect()
}
