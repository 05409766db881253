//! The list of a server's sessions, for `windlass attach --list`.

use super::replies::session_lines;
use super::requests::sessions;
use crate::error::CommandError;
use crate::output::harmless_json;
use crate::remote_server::RemoteClient;

/// How the list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListFormat {
    /// A line for a person.
    Lines,
    /// A line of JSON, as the server has it.
    Json,
}

/// Returns the sessions, one per line.
pub(crate) async fn list(client: &RemoteClient, format: ListFormat) -> Result<String, CommandError> {
    let found = sessions(client, None).await?;
    Ok(match format {
        ListFormat::Lines => session_lines(found.iter().map(|(session, _)| session), None),
        ListFormat::Json => found.iter().map(|(_, raw)| harmless_json(raw.get().to_owned()) + "\n").collect(),
    })
}
