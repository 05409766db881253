//! Imports a session from elsewhere (J8, X6). Its conversation is copied unchanged; its authority is not: after its
//! last record come a record of the import, with the new folder, and the end of everything that was open in it.

use std::io::BufRead;

use windlass_machine::{Fact, Input, State, decide};
use windlass_store::{Batch, Import, ImportError, Store};
use windlass_vocab::{CallFinished, CallId, Grant, ImportDetails, Record, RunId, SessionChanged, SessionId, Timestamp};

use crate::opening::nonce;
use crate::place::placed;

/// How to import a session.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The user it belongs to from now on, whoever it belonged to elsewhere.
    pub owner: String,
    /// A new key; absent means its own.
    pub key: Option<String>,
    /// The folder its tools work in from now on.
    pub workspace: Option<String>,
}

/// An imported session, and what was not carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// The session.
    pub session: SessionId,
    /// The folder it worked in before.
    pub came_from: Option<String>,
    /// Rules that a person had allowed there.
    pub grants: Vec<Grant>,
    /// The run that was open there.
    pub run: Option<RunId>,
    /// Its calls that had no result.
    pub calls: Vec<CallId>,
}

/// Imports a journal that `export` wrote.
pub async fn import(
    store: &dyn Store,
    input: &mut (dyn BufRead + Send),
    arrival: ImportOptions,
    now: Timestamp,
) -> Result<ImportedSession, ImportError> {
    let mut import = Import::read(input, nonce())?;
    let state = State::fold(import.session(), import.records());
    let ImportOptions { owner, key, workspace } = arrival;
    let imported = Some(ImportDetails { workspace, owner: Some(owner) });
    let changed = SessionChanged { key, imported, ..SessionChanged::default() };
    let records = decide(&state, Input { at: now, fact: Fact::Changed(changed) });
    let calls = records.iter().filter_map(|record| match record {
        Record::CallFinished(CallFinished { call, .. }) => Some(*call),
        _ => None,
    });
    let arrived = ImportedSession {
        session: import.session(),
        came_from: workspace_of(import.records()),
        grants: state.transcript.grants.clone(),
        run: state.control.run.as_ref().map(|run| run.id),
        calls: calls.collect(),
    };
    import.add(Batch { at: now, entries: placed(&state, records), ..Batch::default() })?;
    import.finish(store).await?;
    Ok(arrived)
}

/// Returns the folder that the tools work in, according to a journal.
fn workspace_of<'a>(records: impl Iterator<Item = &'a Record>) -> Option<String> {
    let said = records.filter_map(|record| match record {
        Record::SessionOpened(opened) => Some(opened.workspace.as_ref()),
        Record::SessionChanged(changed) => changed.imported.as_ref().map(|imported| imported.workspace.as_ref()),
        _ => None,
    });
    said.last().flatten().cloned()
}
