//! Contents by hash: up to [`FILE_LIMIT`] in the database, above it in files that are whole and on the
//! disk before the transaction that refers to them is committed. Files are written and removed only inside write
//! transactions, of which SQLite lets one go on at a time, so nobody removes what another is about to refer to. A
//! crash can leave a file that nobody refers to; it takes its place again when the same content comes.

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

/// The largest content, in bytes, that is kept in the database.
const FILE_LIMIT: usize = 8 * 1024 * 1024;

/// The folder of large contents: `blobs/ab/cdef…`.
#[derive(Clone, Debug)]
pub(super) struct BlobFiles {
    data: PathBuf,
    blobs: PathBuf,
}

impl BlobFiles {
    pub(super) fn new(folder: &DataFolder) -> Self {
        Self { data: folder.0.clone(), blobs: folder.blobs() }
    }

    /// The folder they are in.
    pub(super) fn data(&self) -> &Path {
        &self.data
    }

    fn path(&self, hash: Hash) -> PathBuf {
        let digits = hash.to_string();
        self.blobs.join(&digits[..2]).join(&digits[2..])
    }

    /// Puts the large ones among `blobs` on the disk.
    pub(super) fn keep(&self, blobs: &[(Hash, Arc<[u8]>)]) -> Result<(), StoreError> {
        for (hash, content) in blobs.iter().filter(|(_, content)| content.len() > FILE_LIMIT) {
            let path = self.path(*hash);
            // One that was damaged since is made anew.
            if !fs::read(&path).is_ok_and(|there| there == content[..]) {
                self.write(&path, content).map_err(|error| StoreError::of_io(&path, &error))?;
            }
        }
        Ok(())
    }

    /// Writes beside the place and moves into it, so that a file in its place is whole.
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
            // What is left of it would only take room.
            let _ = fs::remove_file(&part);
        }
        written?;
        [folder, &self.blobs, &self.data].into_iter().try_for_each(|folder| File::open(folder)?.sync_all())
    }

    /// Whether a large content is there. A smaller file is none.
    fn has(&self, hash: Hash) -> bool {
        fs::metadata(self.path(hash)).is_ok_and(|found| found.len() > FILE_LIMIT as u64)
    }

    /// Reads a large content.
    pub(super) fn read(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        let path = self.path(hash);
        match fs::read(&path) {
            Ok(content) => Ok(Some(content.into())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::of_io(&path, &error)),
        }
    }
}

/// Removes the files of contents that nobody refers to any more. Somebody may have stored one of them again since.
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

/// Whether a content was ever put into a file: then there must have been a database.
pub(super) fn were_made(folder: &DataFolder) -> bool {
    let Ok(folders) = fs::read_dir(folder.blobs()) else { return false };
    folders.flatten().any(|folder| fs::read_dir(folder.path()).is_ok_and(|mut files| files.next().is_some()))
}

/// Stores the contents of the batch at `seq`, and that it refers to them.
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

/// The first content that is not in its place among those stored with the session's batches behind `after_seq`, with
/// the first record of its batch.
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

/// Where a content is kept.
pub(super) enum BlobPlace {
    /// In the database: this is it.
    Inline(Arc<[u8]>),
    /// In a file of its own.
    File,
}

/// Looks a content up.
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
