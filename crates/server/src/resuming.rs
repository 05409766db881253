//! Resumes the runs that a dead process left open (J3, J5): at the start, and every minute, whoever's they were. A terminal
//! that is gone can't go on with its run, so this server does; its person finds the session here, and in a new terminal.
//!
//! Sessions are opened one by one, and only a few resumed runs work at once: the others wait for their turn. Runs that wait
//! for a person come last and take at most half of the room, because an answer opens their session anyway.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use windlass_runtime::OpenApprovals;
use windlass_setup::models::ModelFallback;
use windlass_setup::session_agent::{AgentPurpose, AgentRequest};
use windlass_store::{ReverseRecords, SessionRow, SessionStatus, Store, StoreError};
use windlass_vocab::{Attendance, Record};

use crate::error::ApiError;
use crate::state::{HttpServer, ServingPhase};

/// How often runs are looked for whose process is dead.
const LOOK_EVERY: Duration = Duration::from_mins(1);

/// What became of the runs that were open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumedRuns {
    /// Runs that go on now.
    pub resumed: usize,
    /// Runs of processes that are alive.
    pub elsewhere: usize,
    /// Runs that can't be resumed; the log says why.
    pub failed: usize,
    /// Runs that wait for their turn.
    pub later: usize,
}

/// Which sessions have work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WorkLook {
    /// Those with an open run, and those with messages that were accepted with a 202.
    RunsAndInbox,
    /// Those with an open run. Only the process that has a session puts messages into its inbox, so that one is read once.
    Runs,
}

/// Resumes the open runs whose process is dead, each as attended as it was, as many as may work at once. Steps of a plan
/// are resumed by their plan. The others follow while the server serves.
pub async fn resume_open_runs(state: &Arc<HttpServer>) -> Result<ResumedRuns, StoreError> {
    let mut done = ResumedRuns::default();
    for row in due(state, WorkLook::RunsAndInbox, &mut done).await? {
        match Arc::clone(&state.resumptions.places).try_acquire_owned() {
            Ok(place) if has_room(state, &row) => resume_in(state, &row, place, &mut done).await,
            Ok(_) | Err(_) => done.later += 1,
        }
    }
    Ok(done)
}

/// Looks for such runs as long as the server serves.
pub(crate) async fn keep_resuming(state: &Arc<HttpServer>) -> Infallible {
    let mut look = WorkLook::RunsAndInbox;
    loop {
        match look_again(state, look).await {
            Ok(done) if done.resumed + done.failed > 0 => {
                tracing::info!(resumed = done.resumed, failed = done.failed, "runs of dead processes");
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "open runs can't be looked for"),
        }
        look = WorkLook::Runs;
        tokio::time::sleep(state.clock.real(LOOK_EVERY)).await;
    }
}

async fn look_again(state: &Arc<HttpServer>, look: WorkLook) -> Result<ResumedRuns, StoreError> {
    let mut done = ResumedRuns::default();
    for row in due(state, look, &mut done).await? {
        let Ok(place) = Arc::clone(&state.resumptions.places).acquire_owned().await else { break };
        if state.phase() != ServingPhase::Serving {
            break;
        }
        // Somebody may have opened the session while this one waited for its turn.
        if !has_room(state, &row) || state.live().has(row.session) || state.store().is_claimed(row.session).await? {
            continue;
        }
        resume_in(state, &row, place, &mut done).await;
    }
    Ok(done)
}

/// Returns the sessions to resume: those that wait for a person last, else the longest unchanged first.
async fn due(state: &HttpServer, look: WorkLook, done: &mut ResumedRuns) -> Result<Vec<SessionRow>, StoreError> {
    let (mut rows, now) = (Vec::new(), state.clock.now());
    for owner in state.access.users() {
        for row in state.store().sessions(&owner).await? {
            let is_ours = row.parent().is_none() && !state.live().has(row.session);
            if !is_ours || !has_work(state.store().as_ref(), &row, look).await? {
                continue;
            }
            if state.store().is_claimed(row.session).await? {
                done.elsewhere += 1;
            } else if !state.resumptions.is_put_off(row.session, now) {
                rows.push(row);
            }
        }
    }
    rows.sort_by_key(|row| (row.status == SessionStatus::Waiting, row.updated));
    Ok(rows)
}

async fn has_work(store: &dyn Store, row: &SessionRow, look: WorkLook) -> Result<bool, StoreError> {
    Ok(row.status.is_open() || (look == WorkLook::RunsAndInbox && !store.waiting(row.session).await?.is_empty()))
}

/// Whether there is room to open this session only because its run is open.
fn has_room(state: &HttpServer, row: &SessionRow) -> bool {
    row.status != SessionStatus::Waiting || state.live().count() < state.limits.runs / 2
}

/// Resumes a run; it keeps its place until it first waits for a person or has ended.
async fn resume_in(state: &Arc<HttpServer>, row: &SessionRow, place: OwnedSemaphorePermit, done: &mut ResumedRuns) {
    match resume(state, row, place).await {
        Ok(()) => {
            state.resumptions.resumed(row.session);
            done.resumed += 1;
        }
        Err(error) => {
            tracing::warn!(session = %row.session, error = error.message, "a run can't be resumed");
            state.resumptions.put_off(row.session, state.clock.now());
            done.failed += 1;
        }
    }
}

async fn resume(state: &Arc<HttpServer>, row: &SessionRow, place: OwnedSemaphorePermit) -> Result<(), ApiError> {
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
    // The agent took a while to build.
    state.refuse_while_draining()?;
    // A pending approval is asked again under its id, because somebody may be looking at it.
    let (session, _) = agent.open_existing(row.session, OpenApprovals::Answered).await?;
    state.metrics.run_resumed();
    // It counts among its owner's runs for as long as it is kept open.
    let _run = state.runs.hold(row.session, Some(&row.owner));
    state.keeper.keep(session.clone());
    state.background.spawn(async move {
        session.settled().await;
        drop(place);
    });
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
