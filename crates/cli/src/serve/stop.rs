//! `stop`: ends what goes on in a session, here or left behind by another process.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use windlass::door::{Awaited, FollowError};
use windlass_runtime::OpenApprovals;
use windlass_runtime::Stopped;
use windlass_vocab::{Attendance, RunId, StopBy};

use super::arguments::Name;
use super::errand;
use super::live::Live;
use super::premises::{Premises, Purpose};
use crate::commands::session::is_open;
use crate::error::CommandError;

/// Stops the session's run and drops what waits.
pub(super) async fn stop(premises: &Premises, live: &Live, Name(key): &Name) -> Result<CallToolResult, CommandError> {
    let row = premises.named(key).await?;
    if let Some(session) = live.followed(row.session) {
        // Whoever follows it sees it end.
        let stopped = session.stop(StopBy::Person).await.map_err(FollowError::from)?;
        session.settled().await;
        return Ok(result(key, stopped));
    }
    let errand = match live.take(row.session, key)? {
        Some(parked) => parked,
        None if !is_open(&row) => return Ok(result(key, Stopped { runs: 0, dropped: 0 })),
        None => {
            let hired = premises.agent(Some(&row), Purpose::GoOn, Attendance::Attended).await?;
            // What waits for approval must not run before it is stopped.
            let (awaited, approvals) = (Awaited::Run(RunId(row.runs)), OpenApprovals::Answered);
            errand::open(live, hired, row.session, row.key, awaited, approvals).await?
        }
    };
    let stopped = errand.stop().await;
    errand.end(live).await;
    Ok(result(key, stopped?))
}

fn result(key: &str, Stopped { runs, dropped }: Stopped) -> CallToolResult {
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
