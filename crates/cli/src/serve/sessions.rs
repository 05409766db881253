//! `list_sessions` and `read_session`: read the store without opening a session, so that a session can be read while
//! its run goes on, here or in another process.

use std::num::NonZeroUsize;

use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use windlass_narrate::{Detail, Narrator};
use windlass_store::SessionRow;

use super::arguments::{CheckedName, ListSessionsArguments, ReadSessionArguments};
use super::server_context::ServerContext;
use super::transcript::{self, TranscriptEntry};
use crate::commands::sessions;
use crate::error::CommandError;
use crate::exit::Exit;

/// Default and largest number of entries per page.
const PAGE: usize = 100;
const LONGEST_PAGE: usize = 1_000;

/// Default number of listed sessions.
const LISTED: usize = 50;

#[derive(Serialize)]
struct ListedSession<'a> {
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    status: &'static str,
    updated: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_prompt: Option<&'a str>,
    runs: u32,
}

impl<'a> From<&'a SessionRow> for ListedSession<'a> {
    fn from(row: &'a SessionRow) -> Self {
        Self {
            session: &row.key,
            title: row.title.as_deref(),
            status: row.status.as_str(),
            updated: row.updated.to_string(),
            folder: row.workspace.as_deref(),
            last_prompt: row.last_prompt.as_deref(),
            runs: row.runs,
        }
    }
}

#[derive(Serialize)]
struct SessionListing<'a> {
    sessions: Vec<ListedSession<'a>>,
}

pub(super) async fn list(
    server_context: &ServerContext,
    list: &ListSessionsArguments,
) -> Result<CallToolResult, CommandError> {
    let mut rows = server_context.sessions().await?;
    let all = rows.len();
    rows.truncate(list.limit.map_or(LISTED, NonZeroUsize::get));
    let width = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or(0).min(40);
    let mut text: String = rows.iter().map(|row| sessions::line(row, width) + "\n").collect();
    if rows.is_empty() {
        text.push_str("there is no session yet; `ask` begins one");
    } else if rows.len() < all {
        text.push_str(&format!("({} more; give a larger limit)", all - rows.len()));
    }
    structured(text, &SessionListing { sessions: rows.iter().map(ListedSession::from).collect() })
}

#[derive(Serialize)]
struct SessionPage<'a> {
    session: &'a str,
    status: &'static str,
    entries: Vec<TranscriptEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<u64>,
}

pub(super) async fn read(
    server_context: &ServerContext,
    read: &ReadSessionArguments,
) -> Result<CallToolResult, CommandError> {
    let CheckedName(key) = &read.session;
    let row = server_context.named(key).await?;
    let limit = read.limit.map_or(PAGE, NonZeroUsize::get).min(LONGEST_PAGE);
    let mut entries = entries(server_context, &row, read.after.unwrap_or(0)).await?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next = entries.last().filter(|_| more).map(|last| last.seq);
    let mut text: String = entries.iter().map(TranscriptEntry::line).collect();
    match next {
        Some(next) => text.push_str(&format!("(there is more; read on with after={next})")),
        None if entries.is_empty() => text.push_str("(nothing)"),
        None => {}
    }
    structured(text, &SessionPage { session: key, status: row.status.as_str(), entries, next })
}

/// Returns the transcript entries after a record.
pub(super) async fn entries(
    server_context: &ServerContext,
    row: &SessionRow,
    after: u64,
) -> Result<Vec<TranscriptEntry>, CommandError> {
    // From the beginning: entries are worded by what earlier records say.
    let records = server_context.store().read(row.session, 0).await?;
    let mut narrator = Narrator::new(Detail::Full);
    let entries = records.iter().filter_map(|record| transcript::entry(&mut narrator, record));
    Ok(entries.filter(|entry| entry.seq > after).collect())
}

fn structured(text: String, value: &impl Serialize) -> Result<CallToolResult, CommandError> {
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    let value = serde_json::to_value(value).map_err(|error| CommandError::new(Exit::Failed, error.to_string()))?;
    result.structured_content = Some(value);
    Ok(result)
}
