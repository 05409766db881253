//! Files that come with a message.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use utoipa::ToSchema;
use windlass::door::read_attached;
use windlass_vocab::AttachedFile;

use crate::error::{ApiError, ErrorKind};

/// The most files of one message, and the longest name of one, in bytes.
const MOST: usize = 20;
const LONGEST_NAME: usize = 200;

/// A file in the body of a request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentFile {
    /// A plain name without a folder.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^./\\\u0000-\u001f\u007f-\u009f][^/\\\u0000-\u001f\u007f-\u009f]*$"
    )]
    name: String,
    /// What the sender takes it for. Its content decides.
    #[serde(default, rename = "media_type")]
    _media_type: String,
    /// Its content in Base64.
    #[schema(
        content_encoding = "base64",
        min_length = 4,
        pattern = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)$"
    )]
    data: String,
}

impl SentFile {
    /// Returns a file with this content in Base64.
    pub(crate) fn new(name: String, data: String) -> Self {
        Self { name, _media_type: String::new(), data }
    }

    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Reads the files as if they lay in a folder: what a file holds decides how it is sent to the model.
pub(crate) async fn attached(files: Vec<SentFile>) -> Result<Vec<AttachedFile>, ApiError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    if files.len() > MOST {
        return Err(ApiError::bad_request(format!("a message has at most {MOST} files")));
    }
    let reading = tokio::task::spawn_blocking(move || files.iter().map(read).collect());
    reading.await.map_err(|error| unread(&error))?
}

fn read(file: &SentFile) -> Result<AttachedFile, ApiError> {
    let name = checked_name(&file.name)?;
    let content = STANDARD.decode(&file.data);
    let content = content.map_err(|error| ApiError::bad_request(format!("{name}: its data is not Base64: {error}")))?;
    let folder = tempfile::tempdir().map_err(|error| unread(&error))?;
    let path = folder.path().join(name);
    fs::write(&path, content).map_err(|error| unread(&error))?;
    read_attached(&path).map_err(|error| ApiError::bad_request(format!("{name}: {error}")))
}

/// The server itself failed: what was sent is not at fault.
fn unread(error: &dyn std::error::Error) -> ApiError {
    tracing::error!(%error, "an attached file can't be read");
    ApiError::new(ErrorKind::Internal, "the server could not read the attached files").hint("its log says why")
}

/// Returns the name if it is one of a file, and of nothing else.
fn checked_name(name: &str) -> Result<&str, ApiError> {
    let is_odd = |c: char| c.is_control() || c == '/' || c == '\\';
    if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || name.contains(is_odd) {
        return Err(ApiError::bad_request("a file needs a plain name, without a folder"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::{SentFile, attached};

    fn sent(name: &str, data: &str) -> Vec<SentFile> {
        vec![SentFile { name: name.to_owned(), _media_type: "image/png".to_owned(), data: data.to_owned() }]
    }

    // proves C9, W3
    #[tokio::test]
    async fn a_file_is_what_its_content_says_and_its_name_leads_nowhere() {
        let files = attached(sent("notes.txt", "aGVsbG8=")).await.unwrap();
        assert!(format!("{files:?}").contains("hello"), "{files:?}");
        for name in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "a\nb", &"x".repeat(300)] {
            assert!(attached(sent(name, "aGVsbG8=")).await.is_err(), "{name:?}");
        }
        assert!(attached(sent("a.txt", "no base64!")).await.is_err());
    }
}
