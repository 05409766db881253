//! What the last run of a session began with: the next one in that session goes on with its agent and models.

use windlass_store::{ReverseRecords, SessionRow, Store, StoreError};
use windlass_vocab::{Policy, Record};

use crate::models::{RunState, SessionModel};
use crate::settings::RepeatedFlags;

/// What the last run of a session began with.
#[derive(Debug)]
pub struct LastRun {
    /// Its policy.
    pub policy: Policy,
    /// Its models; `None` if it had none.
    pub model: Option<SessionModel>,
    /// Its agent; `None` if the session was imported since: its record chooses nothing here (X6).
    pub agent: Option<String>,
}

impl LastRun {
    /// Returns the flags that name its model and the model's server; `None` if the server is unknown, if its address may hold
    /// a password, or if the session was imported: its record must not say where words are sent (X6).
    #[must_use]
    pub fn model_flags(&self) -> Option<RepeatedFlags> {
        let SessionModel { model, server, .. } = self.model.as_ref().filter(|_| self.agent.is_some())?;
        let base_url = server.clone().filter(|server| !server.contains(['@', '?']))?;
        Some(RepeatedFlags { model: Some(model.0.clone()), base_url: Some(base_url), ..RepeatedFlags::default() })
    }
}

/// Returns what the session's last run began with, if it has one.
pub async fn last_run(store: &dyn Store, row: Option<&SessionRow>) -> Result<Option<LastRun>, StoreError> {
    let Some(row) = row else { return Ok(None) };
    let mut is_imported = false;
    let newest = ReverseRecords::new(store, row.session).find_map(|envelope| match envelope.record {
        Record::RunStarted(started) => Some(started),
        Record::SessionChanged(changed) => {
            is_imported |= changed.imported.is_some();
            None
        }
        _ => None,
    });
    let Some(started) = newest.await? else { return Ok(None) };
    let state = if row.status.is_open() { RunState::Open } else { RunState::Ended };
    let model = SessionModel::of(&started, state);
    let agent = Some(started.agent).filter(|_| !is_imported);
    Ok(Some(LastRun { policy: started.policy, model, agent }))
}
