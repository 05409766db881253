//! `stop`: ends the run of a session, whether it goes on here or was left behind by another process.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use windlass::door::{AwaitedEnd, FollowError};
use windlass_runtime::OpenApprovals;
use windlass_runtime::StopOutcome;
use windlass_setup::session_agent::AgentPurpose;
use windlass_vocab::{Attendance, RunId, StopBy};

use super::arguments::CheckedName;
use super::awaited_run;
use super::open_sessions::OpenSessions;
use super::server_context::ServerContext;
use crate::error::CommandError;

/// Stops the session's run and drops its waiting messages.
pub(super) async fn stop(
    server_context: &ServerContext,
    open_sessions: &OpenSessions,
    CheckedName(key): &CheckedName,
) -> Result<CallToolResult, CommandError> {
    let row = server_context.named(key).await?;
    if let Some(session) = open_sessions.followed(row.session) {
        // The request that follows the run reports its end.
        let stopped = session.stop(StopBy::Person).await.map_err(FollowError::from)?;
        session.settled().await;
        return Ok(result(key, stopped));
    }
    let awaited_run = match open_sessions.take(row.session, key)? {
        Some(parked) => parked,
        None if !row.status.is_open() => return Ok(result(key, StopOutcome { runs: 0, dropped: 0 })),
        None => {
            let built_agent = server_context.agent(Some(&row), AgentPurpose::GoOn, Attendance::Attended).await?;
            // A call that waits for approval must not run before the stop.
            let (awaited, approvals) = (AwaitedEnd::Run(RunId(row.runs)), OpenApprovals::Answered);
            awaited_run::open(open_sessions, built_agent, row.session, row.key, awaited, approvals).await?
        }
    };
    let stopped = awaited_run.stop().await;
    awaited_run.end(open_sessions).await;
    Ok(result(key, stopped?))
}

fn result(key: &str, StopOutcome { runs, dropped }: StopOutcome) -> CallToolResult {
    let text = match (runs, dropped) {
        (0, 0) => format!("no run of session `{key}` was open"),
        (0, _) => format!("no run of session `{key}` was open; {dropped} unread messages were dropped"),
        (_, 0) => format!("the run of session `{key}` is stopped"),
        (_, _) => format!("the run of session `{key}` is stopped, and {dropped} unread messages were dropped"),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({"session": key, "stopped": runs, "dropped": dropped}));
    result
}
