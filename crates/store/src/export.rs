//! Exports a journal as JSON lines (J8): a header, then the batches byte for byte as stored, each preceded by the
//! blobs that were stored with it.
//!
//! ```text
//! {"windlass":"journal","v":1,"session":"…","key":"…","seq":9,"hash":"…"}
//! {"blob":"…","text":"…"}
//! {"v":1,"id":"…","session":"…","seq":1,…}
//! ```
//!
//! `seq` and `hash` are the journal's head, so that an import detects a truncated file. A blob that is not UTF-8
//! is written as `base64`; a blob that was already written is named again without either field.

use std::collections::HashSet;
use std::io::{self, Write};

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use windlass_vocab::{Hash, SessionId};

use crate::{Store, StoreError, verify};

/// Version of the export format.
pub(crate) const EXPORT_VERSION: u32 = 1;

/// The first line of an export.
#[derive(Serialize, Deserialize)]
pub(crate) struct ExportHeader {
    pub(crate) windlass: String,
    pub(crate) v: u32,
    pub(crate) session: SessionId,
    pub(crate) key: String,
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
}

/// The start of every blob line, and of no other line.
pub(crate) const BLOB_LINE_START: &[u8] = br#"{"blob":""#;

/// A blob that the next batch was stored with.
#[derive(Serialize, Deserialize)]
pub(crate) struct BlobLine {
    pub(crate) blob: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base64: Option<String>,
}

/// Why a journal was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It could not be written.
    #[error("the journal could not be written out: {0}")]
    Write(#[from] io::Error),
}

/// Writes a session's journal to `out`. A journal that fails verification is refused before anything is written.
pub async fn export(store: &dyn Store, session: SessionId, out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    let row = store.row(session).await?.ok_or(StoreError::Missing)?;
    verify(store, session).await.map_err(|error| error.of(session))?;
    let batches = store.batches(session).await?;
    let head = batches.last().map(|batch| batch.head).ok_or(StoreError::Missing)?;
    let header = ExportHeader {
        windlass: "journal".into(),
        v: EXPORT_VERSION,
        session,
        key: row.key,
        seq: head.seq,
        hash: head.hash,
    };
    write_line(out, &header)?;
    let mut written = HashSet::new();
    for batch in batches {
        for hash in batch.blobs {
            let content = if written.insert(hash) { Some(content(store, hash).await?) } else { None };
            write_line(out, &blob_line(hash, content.as_deref()))?;
        }
        out.write_all(&batch.bytes)?;
    }
    Ok(out.flush()?)
}

async fn content(store: &dyn Store, hash: Hash) -> Result<std::sync::Arc<[u8]>, StoreError> {
    let missing = || StoreError::Damaged { what: format!("blob {hash} is missing") };
    store.blob(hash).await?.ok_or_else(missing)
}

fn blob_line(blob: Hash, content: Option<&[u8]>) -> BlobLine {
    match content.map(std::str::from_utf8) {
        None => BlobLine { blob, text: None, base64: None },
        Some(Ok(text)) => BlobLine { blob, text: Some(text.to_owned()), base64: None },
        Some(Err(_)) => BlobLine { blob, text: None, base64: content.map(|bytes| BASE64.encode(bytes)) },
    }
}

fn write_line(out: &mut (dyn Write + Send), line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
