//! What a call changed in files, as diffs: for calls whose request does not say it, as one that overwrites a file, or a
//! command.
//!
//! The journal keeps what was in a file before a call. What is in it after the call is known from the state before a later
//! one, or from the file itself, as long as nobody has changed it since.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use windlass_store::{SessionRow, hash_of};
use windlass_tools::diff::{DiffLimits, compare};
use windlass_tools::shown_path;
use windlass_vocab::{Change, FileState, Hash, Record, SessionId};

use super::Named;
use super::record_number::RecordNumber;
use crate::access::SignedIn;
use crate::document::shapes::{RecordInAddress, SessionInAddress};
use crate::error::{ApiError, ErrorKind};
use crate::state::HttpServer;

/// How many files of a call are compared; a command may change thousands.
const MOST_FILES: usize = 100;
/// The largest file that is read to compare it.
const LARGEST: u64 = 4 << 20;
const LIMITS: DiffLimits = DiffLimits { lines: 2_000, columns: 1_000 };

/// What a call changed in files.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileDiffs {
    /// At most a hundred, by path.
    files: Vec<FileDiff>,
}

/// What a call changed in a file.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FileDiff {
    path: String,
    /// A unified diff; `null` where a content is not known any more, or there is none to compare.
    #[schema(required)]
    diff: Option<String>,
}

/// What a call changed in files, as diffs
///
/// The record is the one of the kind `FilesChanged`.
#[utoipa::path(
    get,
    path = "/api/sessions/{session}/records/{record}/diffs",
    tag = "conversation",
    params(SessionInAddress, RecordInAddress),
    responses((status = 200, description = "The diffs", body = FileDiffs))
)]
pub(crate) async fn diffs(
    State(state): State<Arc<HttpServer>>,
    SignedIn(caller): SignedIn,
    Named((session, RecordNumber(record))): Named<(SessionId, RecordNumber)>,
) -> Result<Json<FileDiffs>, ApiError> {
    let row = state.session(&caller, session).await?;
    let read = state.store().read_some(row.session, record.saturating_sub(1), 1).await?;
    let found = read.into_iter().find(|envelope| envelope.seq == record);
    let Some(Record::FilesChanged(changed)) = found.map(|envelope| envelope.record) else {
        return Err(ApiError::new(ErrorKind::NotFound, "there is no record of changed files with this number"));
    };
    let mut files = Vec::new();
    for (path, change) in changed.changes.into_iter().take(MOST_FILES) {
        let diff = diff_of(&state, &row, &path, &change).await?;
        files.push(FileDiff { path, diff });
    }
    Ok(Json(FileDiffs { files }))
}

/// A content that is known; `None` where there was no file.
type Known = Option<Arc<[u8]>>;

async fn diff_of(
    state: &Arc<HttpServer>,
    row: &SessionRow,
    path: &str,
    change: &Change,
) -> Result<Option<String>, ApiError> {
    let Some(was) = content_of(state, row, path, &change.was).await? else { return Ok(None) };
    let Some(now) = content_of(state, row, path, &change.now).await? else { return Ok(None) };
    let (secrets, name) = (state.secrets.clone(), shown_path(path).into_owned());
    // Secrets are replaced before lines are compared and left out; a long comparison must not hold up other requests.
    let compared = tokio::task::spawn_blocking(move || {
        let [was, now] = [was, now].map(|content| content.map(|content| secrets.scrub_bytes(&content)));
        compare(was.as_deref(), now.as_deref(), &name, LIMITS)
    });
    compared.await.map(Some).map_err(|error| {
        tracing::error!(%error, "a diff can't be made");
        ApiError::new(ErrorKind::Internal, "the diff can't be made")
    })
}

/// Returns the content of a file in this state; `None` where it is not known, or the path leads to something else.
async fn content_of(
    state: &Arc<HttpServer>,
    row: &SessionRow,
    path: &str,
    file: &FileState,
) -> Result<Option<Known>, ApiError> {
    match file {
        FileState::Absent => Ok(Some(None)),
        FileState::File { blob, .. } => {
            if let Some(kept) = state.store().blob(*blob).await? {
                return Ok(Some(Some(kept)));
            }
            let home = row.workspace.as_ref().filter(|_| state.check_folder(row).is_ok());
            Ok(match home {
                Some(home) => present(Path::new(home).join(path), *blob).await.map(Some),
                None => None,
            })
        }
        FileState::Link { .. } | FileState::Folder { .. } | FileState::Unkept { .. } => Ok(None),
    }
}

/// Returns the content of a file, if it is still the one with this hash.
async fn present(path: PathBuf, hash: Hash) -> Option<Arc<[u8]>> {
    let read = tokio::task::spawn_blocking(move || {
        std::fs::symlink_metadata(&path).ok().filter(|about| about.is_file() && about.len() <= LARGEST)?;
        let content = std::fs::read(&path).ok()?;
        (hash_of(&content) == hash).then(|| Arc::from(content))
    });
    read.await.ok().flatten()
}
