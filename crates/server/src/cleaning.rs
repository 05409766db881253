//! Puts old sessions away while the server serves: archives those that nobody uses any more, and deletes those that have
//! been archived for long (`windlass_store::cleanup` decides which). A session that any process has open is left alone.

use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use windlass_store::{
    RemovedSession, SessionRetention, SessionRow, remove_family, sessions_to_archive, sessions_to_delete,
};
use windlass_vocab::{SessionEdit, SessionId};

use crate::error::{ApiError, ErrorKind};
use crate::state::{HttpServer, ServingPhase};

/// How often old sessions are looked for, from the start on.
const LOOK_EVERY: Duration = Duration::from_hours(1);

/// What a clean-up did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CleanedSessions {
    archived: u64,
    deleted: u64,
    /// Sessions that could not be put away; the next clean-up tries again.
    left: u64,
}

/// Cleans up as long as the server serves.
pub(crate) async fn keep_clean(state: &Arc<HttpServer>) -> Infallible {
    let Some(retention) = state.retention else { return std::future::pending().await };
    loop {
        match clean_up(state, retention).await {
            Ok(cleaned) => {
                state.metrics.sessions_cleaned(cleaned.archived, cleaned.deleted);
                let CleanedSessions { archived, deleted, left } = cleaned;
                if cleaned != CleanedSessions::default() {
                    tracing::info!(archived, deleted, left, "old sessions were put away");
                }
            }
            Err(error) => tracing::warn!(error = error.message, "old sessions can't be put away"),
        }
        tokio::time::sleep(state.clock.real(LOOK_EVERY)).await;
    }
}

async fn clean_up(state: &HttpServer, retention: SessionRetention) -> Result<CleanedSessions, ApiError> {
    let mut cleaned = CleanedSessions::default();
    for owner in state.access.users() {
        let (rows, now) = (state.store().sessions(&owner).await?, state.clock.now());
        for session in sessions_to_archive(&rows, now, retention) {
            match archive(state, session).await {
                Ok(()) => cleaned.archived += 1,
                Err(error) => left_alone(session, &error, &mut cleaned),
            }
        }
        let due: HashSet<SessionId> = sessions_to_delete(&rows, now, retention).into_iter().collect();
        // The sessions of a plan's steps go with their parent, or stay with it.
        let has_parent = |row: &&SessionRow| row.parent().is_some_and(|(parent, _)| due.contains(&parent));
        for row in rows.iter().filter(|row| due.contains(&row.session) && !has_parent(row)) {
            match remove_session(state, &rows, row).await {
                Ok(removed) => cleaned.deleted += removed,
                Err(error) => left_alone(row.session, &error, &mut cleaned),
            }
        }
    }
    Ok(cleaned)
}

fn left_alone(session: SessionId, error: &ApiError, cleaned: &mut CleanedSessions) {
    tracing::debug!(%session, error = error.message, "an old session is left alone");
    cleaned.left += 1;
}

async fn archive(state: &HttpServer, session: SessionId) -> Result<(), ApiError> {
    leave_open_ones(state, session).await?;
    state.edit(session, SessionEdit::Archive).await
}

/// Deletes a session that no process has open, with those of its plans' steps; the audit lines of their calls are kept
/// (T11). `rows` are the sessions of its owner. Returns how many are gone.
pub(crate) async fn remove_session(
    state: &HttpServer,
    rows: &[SessionRow],
    session: &SessionRow,
) -> Result<u64, ApiError> {
    leave_open_ones(state, session.session).await?;
    let data = &state.agents.place.data_dir.value;
    let removed = remove_family(state.store().as_ref(), data, rows, session).await?;
    for RemovedSession { row, unread } in &removed {
        if let Some(error) = unread {
            tracing::warn!(session = %row.session, %error, "what was called in a deleted session is not kept");
        }
    }
    Ok(removed.len() as u64)
}

/// Refuses what any process has open, and everything while the server is being shut down.
async fn leave_open_ones(state: &HttpServer, session: SessionId) -> Result<(), ApiError> {
    let is_open = state.phase() != ServingPhase::Serving
        || state.live().has(session)
        || state.store().is_claimed(session).await?;
    if is_open { Err(busy()) } else { Ok(()) }
}

fn busy() -> ApiError {
    ApiError::new(ErrorKind::Busy, "a process has this session open").hint("try again when it is done")
}
