//! Removes a session, and the blobs that no other session refers to.

use windlass_vocab::{Hash, SessionId};

use super::append;
use super::blobs::{self, BlobFiles};
use super::counter::count_other;
use super::db::Database;
use super::job::Work;
use crate::{Head, StoreError};

/// Removes a session; returns the hashes of the blobs that were removed with it.
pub(super) struct RemoveSession(pub(super) SessionId);

impl Work for RemoveSession {
    type Output = Vec<Hash>;

    fn write(&self, db: &Database) -> Result<Vec<Hash>, StoreError> {
        if append::head(&db.connection, self.0).map_err(db.fault())? == Head::default() {
            return Err(StoreError::Missing);
        }
        count_other(db, || self.remove(db))
    }

    fn finish(&self, orphans: &Vec<Hash>, db: &Database, files: &BlobFiles) {
        // A file that can't be removed only uses disk space.
        let _ = blobs::remove_files(db, files, orphans);
    }

    fn bytes(&self) -> usize {
        // The size is unknown; this estimate is large enough that a caller does not write it on its own thread.
        1024 * 1024
    }
}

impl RemoveSession {
    fn remove(&self, db: &Database) -> Result<Vec<Hash>, StoreError> {
        let session = [self.0.0.as_bytes()];
        let orphans = self.orphans(db).map_err(db.fault())?;
        for hash in &orphans {
            db.execute("DELETE FROM blobs WHERE hash = ?1", [hash.0])?;
        }
        db.execute("DELETE FROM blob_refs WHERE session = ?1", session)?;
        db.tails.forget();
        db.execute("DELETE FROM batches WHERE session = ?1", session)?;
        db.execute("DELETE FROM sessions WHERE session = ?1", session)?;
        db.execute("DELETE FROM inbox WHERE session = ?1", session)?;
        db.execute("DELETE FROM inbox_files WHERE session = ?1", session)?;
        db.execute("DELETE FROM accepted WHERE session = ?1", session)?;
        db.execute("DELETE FROM control WHERE session = ?1", session)?;
        Ok(orphans)
    }

    fn orphans(&self, db: &Database) -> rusqlite::Result<Vec<Hash>> {
        db.connection
            .prepare_cached(
                "SELECT DISTINCT mine.hash FROM blob_refs AS mine WHERE mine.session = ?1 AND NOT EXISTS
                 (SELECT 1 FROM blob_refs AS other WHERE other.hash = mine.hash AND other.session <> ?1)",
            )?
            .query_map([self.0.0.as_bytes()], |row| Ok(Hash(row.get(0)?)))?
            .collect()
    }
}
