//! Resumes the runs that a dead process left open (J3, J5).

use std::sync::Arc;

use windlass_runtime::OpenApprovals;
use windlass_setup::models::ModelFallback;
use windlass_setup::session_agent::{AgentPurpose, AgentRequest};
use windlass_store::{ReverseRecords, SessionRow, Store, StoreError};
use windlass_vocab::{Attendance, Record};

use crate::error::ApiError;
use crate::state::HttpServer;

/// What became of the runs that were open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumedRuns {
    /// Runs that go on now.
    pub resumed: usize,
    /// Runs of processes that are alive.
    pub elsewhere: usize,
    /// Runs that can't be resumed; the log says why.
    pub failed: usize,
}

/// Resumes every open run whose process is dead, each as attended as it was. Steps of a plan are resumed by their plan.
pub async fn resume_open_runs(state: &Arc<HttpServer>, owners: &[String]) -> Result<ResumedRuns, StoreError> {
    let mut done = ResumedRuns::default();
    for owner in owners {
        for row in state.store().sessions(owner).await? {
            if !has_work(state.store().as_ref(), &row).await? || row.parent().is_some() || state.live().has(row.session)
            {
                continue;
            }
            if state.store().is_claimed(row.session).await? {
                done.elsewhere += 1;
                continue;
            }
            match resume(state, &row).await {
                Ok(()) => done.resumed += 1,
                Err(error) => {
                    tracing::warn!(session = %row.session, error = error.message, "a run can't be resumed");
                    done.failed += 1;
                }
            }
        }
    }
    Ok(done)
}

/// Whether a run is open, or messages wait that were accepted with a 202.
async fn has_work(store: &dyn Store, row: &SessionRow) -> Result<bool, StoreError> {
    Ok(row.status.is_open() || !store.waiting(row.session).await?.is_empty())
}

async fn resume(state: &Arc<HttpServer>, row: &SessionRow) -> Result<(), ApiError> {
    state.check_folder(row)?;
    let request = AgentRequest {
        session: Some(row),
        owner: &row.owner,
        folder: None,
        purpose: AgentPurpose::GoOn,
        attendance: attendance(state.store().as_ref(), row).await?,
        fallback: ModelFallback::Demo,
    };
    let agent = state.agents.agent(request).await?.agent;
    // A pending approval is asked again under its id, because somebody may be looking at it.
    let (session, _) = agent.open_existing(row.session, OpenApprovals::Answered).await?;
    state.keep_open(session);
    Ok(())
}

/// Returns whether a person attended the session's last run.
async fn attendance(store: &dyn Store, row: &SessionRow) -> Result<Attendance, StoreError> {
    let newest = ReverseRecords::new(store, row.session).find_map(|envelope| match envelope.record {
        Record::RunStarted(started) => Some(started.attendance),
        _ => None,
    });
    Ok(newest.await?.unwrap_or(Attendance::Attended))
}
