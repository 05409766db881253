//! Blobs by hash: up to [`FILE_LIMIT`] in the database, larger ones in files that are complete and synced to disk
//! before the transaction that refers to them is committed. Files are written and removed only inside write
//! transactions, and SQLite runs one of those at a time, so nobody removes a file that another writer is about to refer
//! to. A crash can leave a file that nothing refers to; it is used again when the same content is stored.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use windlass_vocab::{Hash, SessionId};

use super::db::Database;
use super::folder::DataFolder;
use super::{private, rows};
use crate::StoreError;

/// The largest blob, in bytes, that is kept in the database.
const FILE_LIMIT: usize = 8 * 1024 * 1024;

/// The folder of large blobs: `blobs/ab/cdef…`.
#[derive(Clone, Debug)]
pub(super) struct BlobFiles {
    data: PathBuf,
    blobs: PathBuf,
}

impl BlobFiles {
    pub(super) fn new(folder: &DataFolder) -> Self {
        Self { data: folder.0.clone(), blobs: folder.blobs() }
    }

    /// The data folder.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    fn path(&self, hash: Hash) -> PathBuf {
        let digits = hash.to_string();
        self.blobs.join(&digits[..2]).join(&digits[2..])
    }

    /// Writes the large ones among `blobs` to files and syncs them.
    pub(super) fn keep(&self, blobs: &[(Hash, Arc<[u8]>)]) -> Result<(), StoreError> {
        for (hash, content) in blobs.iter().filter(|(_, content)| content.len() > FILE_LIMIT) {
            let path = self.path(*hash);
            // A file that was damaged since is written again.
            if !fs::read(&path).is_ok_and(|there| there == content[..]) {
                self.write(&path, content).map_err(|error| StoreError::of_io(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes to a temporary file and renames it, so that a file with the final name is complete.
    fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.blobs);
        private::make_folder(folder)?;
        let part = path.with_extension("part");
        let written = private::file().create(true).truncate(true).open(&part).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()?;
            fs::rename(&part, path)
        });
        if written.is_err() {
            // A partial file would only use disk space.
            let _ = fs::remove_file(&part);
        }
        written?;
        [folder, &self.blobs, &self.data].into_iter().try_for_each(|folder| File::open(folder)?.sync_all())
    }

    /// Whether the file of a large blob exists. One of [`FILE_LIMIT`] bytes or fewer was truncated: false.
    fn has(&self, hash: Hash) -> bool {
        fs::metadata(self.path(hash)).is_ok_and(|found| found.len() > FILE_LIMIT as u64)
    }

    /// Reads a large blob.
    pub(super) fn read(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        let path = self.path(hash);
        match fs::read(&path) {
            Ok(content) => Ok(Some(content.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::of_io(&path, &error)),
        }
    }
}

/// Removes the files of unreferenced blobs. Checks the references again: one of the blobs may have been stored since.
pub(super) fn remove_files(db: &Database, files: &BlobFiles, hashes: &[Hash]) -> Result<(), StoreError> {
    let hashes: Vec<Hash> = hashes.iter().copied().filter(|hash| files.path(*hash).exists()).collect();
    if hashes.is_empty() {
        return Ok(());
    }
    db.transaction(|| {
        for hash in hashes {
            if find(&db.connection, hash).map_err(db.fault())?.is_none() {
                let path = files.path(hash);
                fs::remove_file(&path).map_err(|error| StoreError::of_io(&path, &error))?;
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// Whether any blob was ever written to a file: then a database must have existed.
pub(super) fn were_made(folder: &DataFolder) -> bool {
    let Ok(folders) = fs::read_dir(folder.blobs()) else { return false };
    folders.flatten().any(|folder| fs::read_dir(folder.path()).is_ok_and(|mut files| files.next().is_some()))
}

/// Stores the blobs of the batch at `seq`, and its references to them.
pub(super) fn insert(
    db: &Database,
    session: SessionId,
    seq: i64,
    blobs: &[(Hash, Arc<[u8]>)],
) -> Result<(), StoreError> {
    for (place, (hash, content)) in (0i64..).zip(blobs) {
        let inline = (content.len() <= FILE_LIMIT).then_some(&content[..]);
        let sql = "INSERT INTO blobs (hash, bytes) VALUES (?1, ?2)
                   ON CONFLICT (hash) DO UPDATE SET bytes = excluded.bytes WHERE blobs.bytes IS NOT excluded.bytes";
        db.execute(sql, params![hash.0, inline])?;
        db.execute(
            "INSERT INTO blob_refs (session, seq, place, hash) VALUES (?1, ?2, ?3, ?4)",
            params![session.0.as_bytes(), seq, place, hash.0],
        )?;
    }
    Ok(())
}

/// The first missing blob among those stored with the session's batches behind `after_seq`, and its batch's first
/// record.
pub(super) fn missing(
    connection: &Connection,
    files: &BlobFiles,
    session: SessionId,
    after_seq: u64,
) -> rusqlite::Result<Option<(u64, Hash)>> {
    let sql = "SELECT blob_refs.seq, blob_refs.hash, blobs.hash IS NULL FROM blob_refs
               LEFT JOIN blobs ON blobs.hash = blob_refs.hash
               WHERE session = ?1 AND seq > ?2 AND blobs.bytes IS NULL ORDER BY seq, place";
    let mut statement = connection.prepare_cached(sql)?;
    let mut beside = statement.query(params![session.0.as_bytes(), rows::integer(after_seq)])?;
    while let Some(row) = beside.next()? {
        let (hash, is_unknown) = (Hash(row.get(1)?), row.get::<_, bool>(2)?);
        if is_unknown || !files.has(hash) {
            return Ok(Some((rows::natural(row, 0)?, hash)));
        }
    }
    Ok(None)
}

/// Where a blob is stored.
pub(super) enum BlobPlace {
    /// In the database, with this content.
    Inline(Arc<[u8]>),
    /// In its own file.
    File,
}

/// Looks up a blob.
pub(super) fn find(connection: &Connection, hash: Hash) -> rusqlite::Result<Option<BlobPlace>> {
    connection
        .prepare_cached("SELECT bytes FROM blobs WHERE hash = ?1")?
        .query_row([hash.0], |row| {
            Ok(match row.get_ref(0)?.as_blob_or_null()? {
                Some(bytes) => BlobPlace::Inline(bytes.into()),
                None => BlobPlace::File,
            })
        })
        .optional()
}
