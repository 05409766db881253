//! Sessions as resources: `windlass://session/KEY` reads as the transcript of the session.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use windlass_store::SessionRow;

use super::server_context::ServerContext;
use super::sessions::entries;
use super::transcript::TranscriptEntry;
use crate::error::CommandError;

const SCHEME: &str = "windlass://session/";

/// All but the characters that need no escape in a URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Sessions per page.
const PAGE: usize = 100;

/// Entries of the longest resource; `read_session` can read all.
const LONGEST: usize = 1_000;

pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{key}}"), "session")
        .with_title("A session")
        .with_description("What was said and done in a session")
        .with_mime_type("text/plain")
}

/// Lists a page of sessions, the last used first; the cursor is the number of sessions on the pages before.
pub(super) async fn list(
    server_context: &ServerContext,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let before = match cursor.map(str::parse::<usize>) {
        None => 0,
        Some(Ok(before)) => before,
        Some(Err(_)) => return Err(ErrorData::invalid_params("the cursor is not one this server gave", None)),
    };
    let rows = server_context.sessions().await.map_err(|error| failed(&error))?;
    let page: Vec<Resource> = rows.iter().skip(before).take(PAGE).map(resource).collect();
    let read = before.saturating_add(page.len());
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = (read < rows.len()).then(|| read.to_string());
    Ok(result)
}

fn resource(row: &SessionRow) -> Resource {
    let resource = Resource::new(uri(&row.key), &row.key).with_mime_type("text/plain");
    match row.title.as_ref().or(row.last_prompt.as_ref()) {
        Some(about) => resource.with_description(format!("{}: {about}", row.status.as_str())),
        None => resource.with_description(row.status.as_str()),
    }
}

pub(super) async fn read(server_context: &ServerContext, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || ErrorData::resource_not_found(format!("there is no resource `{uri}`"), None);
    let key = key(uri).ok_or_else(missing)?;
    let row = server_context.find(&key).await.map_err(|error| failed(&error))?.ok_or_else(missing)?;
    let entries = entries(server_context, &row, 0).await.map_err(|error| failed(&error))?;
    let text = entries[entries.len().saturating_sub(LONGEST)..].iter().map(TranscriptEntry::line).collect::<String>();
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]))
}

fn failed(error: &CommandError) -> ErrorData {
    ErrorData::internal_error(error.message.clone(), None)
}

fn uri(key: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(key, ESCAPED))
}

fn key(uri: &str) -> Option<String> {
    Some(percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?.into_owned())
}

#[cfg(test)]
mod tests {
    use super::{key, uri};

    // proves P5: a session with any key can be found by its address
    #[test]
    fn a_session_is_found_by_its_address() {
        for name in ["notes", "message:42", "a b/c%20d?e#f", "tägliche Löschung", "..", "run-0a1b"] {
            let address = uri(name);
            assert!(address.is_ascii(), "{address}");
            assert_eq!(key(&address).as_deref(), Some(name), "{address}");
        }
        assert_eq!(key("windlass://session/message:42").as_deref(), Some("message:42"), "escaped or not");
        assert_eq!(key("file:///etc/passwd"), None);
        assert_eq!(key("windlass://session/%ff"), None);
    }
}
