//! Reading beside the writer: a few connections of their own, used off the async threads where it takes long.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OpenFlags, Params};
use windlass_vocab::{At, Envelope, Hash, MessageId, SessionId};

use super::blobs::{self, BlobFiles, Place};
use super::claims::Owned;
use super::crew::Crew;
use super::fault::meaning;
use super::slip::{Check, Reach, Slip, Slips, Spooled};
use super::spool::{self, View};
use super::stow::stowed;
use super::{Folder, append, rows, schema};
use crate::line::{self, BlobMap, hash_of};
use crate::projections::{SessionFold, project};
use crate::verify::decode_stored;
use crate::{BoxFuture, Head, SessionRow, StoreError, StoredBatch, Waiting};

/// How often a later moment is taken. The spool laps once in megabytes: more than twice in a row does not happen.
const MOMENTS: usize = 100;

/// What a reader looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// The database, for what is never on the spool.
    Database,
    /// The database, and what the spool has beyond it.
    Spool,
}

/// The connections that read.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    shared: Arc<Shared>,
    crew: Arc<Crew>,
    owned: Owned,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    spool: PathBuf,
    files: BlobFiles,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(folder: &Folder, owned: Owned) -> Self {
        let shared = Shared {
            path: folder.database(),
            spool: folder.spool(),
            files: BlobFiles::new(folder),
            idle: Mutex::default(),
        };
        Self { shared: Arc::new(shared), crew: Arc::default(), owned }
    }

    /// Runs `read` against one moment of what it sees, where blocking is allowed.
    pub(super) fn with<'a, T: Send + 'static>(
        &self,
        sight: Sight,
        read: impl FnOnce(&Reading<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let (shared, crew) = (Arc::clone(&self.shared), Arc::clone(&self.crew));
        Box::pin(async move { crew.run(move || shared.read(sight, read)).await.unwrap_or(Err(StoreError::Closed)) })
    }

    /// The same, for what takes microseconds. In a process with one session that keeps nobody waiting, and costs less
    /// than handing it to a thread and being woken by it.
    pub(super) fn look_up<'a, T: Send + 'static>(
        &self,
        sight: Sight,
        read: impl FnOnce(&Reading<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        if self.owned.count() > 1 {
            return self.with(sight, read);
        }
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.read(sight, read) })
    }
}

impl Shared {
    /// The spool is looked at after the database. Where it has gone on to a lap that this moment of the database
    /// does not know, a later moment is taken.
    fn read<T>(&self, sight: Sight, read: impl FnOnce(&Reading<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut read = Some(read);
        for _ in 0..MOMENTS {
            let result = self.at_one_moment(|connection| {
                let beyond = match sight {
                    Sight::Database => Some(Beyond::nothing()),
                    Sight::Spool => self.beyond(connection)?,
                };
                let Some(beyond) = beyond else { return Ok(None) };
                let reading = Reading { connection, path: &self.path, files: &self.files, beyond };
                read.take().map(|read| read(&reading)).transpose()
            })?;
            if let Some(result) = result {
                return Ok(result);
            }
        }
        Err(StoreError::Damaged { what: format!("{} is newer than the database beside it", self.spool.display()) })
    }

    /// What the spool has beyond this moment; `None` where it has gone on too far.
    fn beyond(&self, connection: &Connection) -> Result<Option<Beyond>, StoreError> {
        let stowed = stowed(connection).map_err(|error| meaning(&self.path, &error))?;
        let fault = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => StoreError::Gone { path: self.spool.clone() },
            _ => StoreError::of_io(&self.spool, &error),
        };
        match spool::view(&self.spool, stowed).map_err(fault)? {
            View::Behind(bytes) => Ok(Some(Beyond { bytes, check: stowed.check })),
            View::Later => Ok(None),
        }
    }

    /// All that one call reads is read at one moment: a session may go away in between.
    fn at_one_moment<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let connection = match known {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let snapshot = connection.unchecked_transaction().map_err(|error| meaning(&self.path, &error))?;
        let result = read(&connection);
        drop(snapshot);
        idle().push(connection);
        result
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let gone = |error| if self.path.exists() { error } else { StoreError::Gone { path: self.path.clone() } };
        let connection = schema::connect(&self.path, OpenFlags::empty()).map_err(gone)?;
        connection.pragma_update(None, "query_only", true).map_err(|error| meaning(&self.path, &error))?;
        Ok(connection)
    }
}

/// The slips that are not stowed at a moment of the database.
struct Beyond {
    bytes: Vec<u8>,
    check: Check,
}

impl Beyond {
    fn nothing() -> Self {
        Self { bytes: Vec::new(), check: Check::of_lap(0) }
    }

    fn batches(&self) -> impl Iterator<Item = Spooled<'_>> {
        Slips::new(&self.bytes, self.check).filter_map(|slip| match slip {
            Slip::Batch(batch) => Some(batch),
            Slip::Bell => None,
        })
    }
}

/// A connection at one moment of the database.
pub(super) struct Reading<'a> {
    connection: &'a Connection,
    path: &'a PathBuf,
    files: &'a BlobFiles,
    beyond: Beyond,
}

impl Reading<'_> {
    fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(self.path, &error)
    }

    pub(super) fn head(&self, session: SessionId) -> Result<Head, StoreError> {
        match self.beyond(session)?.last() {
            Some(batch) => Ok(batch.head),
            None => self.stowed_head(session),
        }
    }

    fn stowed_head(&self, session: SessionId) -> Result<Head, StoreError> {
        append::head(self.connection, session).map_err(self.fault())
    }

    /// The batches of a session that are on the spool and go on where the database ends.
    fn beyond(&self, session: SessionId) -> Result<Vec<Spooled<'_>>, StoreError> {
        self.following(session, self.beyond.batches())
    }

    fn following<'b>(
        &self,
        session: SessionId,
        batches: impl Iterator<Item = Spooled<'b>>,
    ) -> Result<Vec<Spooled<'b>>, StoreError> {
        let mut batches: Vec<_> = batches.filter(|batch| batch.session == session).collect();
        if !batches.is_empty() {
            let mut end = self.stowed_head(session)?.seq;
            batches.retain(|batch| {
                let follows = batch.first == end + 1;
                end = if follows { batch.head.seq } else { end };
                follows
            });
        }
        Ok(batches)
    }

    pub(super) fn find(&self, owner: &str, key: &str) -> Result<Option<SessionId>, StoreError> {
        rows::find(self.connection, owner, key).map_err(self.fault())
    }

    pub(super) fn row(&self, session: SessionId) -> Result<Option<SessionRow>, StoreError> {
        let stowed = rows::load(self.connection, session).map_err(self.fault())?;
        stowed.map(|fold| self.carried_on(fold, self.beyond.batches())).transpose()
    }

    /// The one that changed last first.
    pub(super) fn rows(&self, owner: &str) -> Result<Vec<SessionRow>, StoreError> {
        let stowed = rows::list(self.connection, owner).map_err(self.fault())?;
        let mut beyond: HashMap<_, Vec<_>> = HashMap::new();
        for batch in self.beyond.batches() {
            beyond.entry(batch.session).or_default().push(batch);
        }
        let carry_on = |fold: SessionFold| match beyond.remove(&fold.row.session) {
            Some(batches) => self.carried_on(fold, batches.into_iter()),
            None => Ok(fold.row),
        };
        let mut rows = stowed.into_iter().map(carry_on).collect::<Result<Vec<_>, _>>()?;
        rows.sort_by_key(|row| Reverse((row.updated, row.session)));
        Ok(rows)
    }

    /// A session's row after what is on the spool.
    fn carried_on<'b>(
        &self,
        mut fold: SessionFold,
        beyond: impl Iterator<Item = Spooled<'b>>,
    ) -> Result<SessionRow, StoreError> {
        let batches = self.following(fold.row.session, beyond)?;
        for batch in batches.iter().filter(|batch| batch.reach == Reach::Row) {
            let mut records = Vec::new();
            self.decode(batch.session, batch.first, batch.bytes, &mut records)?;
            fold = project(Some(fold.clone()), records.iter()).unwrap_or(fold);
        }
        Ok(fold.row)
    }

    pub(super) fn records(&self, session: SessionId, after_seq: u64) -> Result<Vec<Envelope>, StoreError> {
        let sql = "SELECT seq, bytes FROM batches WHERE session = ?1 AND last > ?2 ORDER BY seq";
        let mut records = self.decoded(session, sql, (session.0.as_bytes(), rows::integer(after_seq)))?;
        for batch in self.beyond(session)?.iter().filter(|batch| batch.head.seq > after_seq) {
            self.decode(session, batch.first, batch.bytes, &mut records)?;
        }
        records.retain(|envelope| envelope.seq > after_seq);
        Ok(records)
    }

    pub(super) fn records_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> Result<Vec<Envelope>, StoreError> {
        let sql = "SELECT seq, bytes FROM (
                       SELECT seq, bytes FROM batches WHERE session = ?1 AND seq < ?2 AND last < ?2
                       ORDER BY seq DESC LIMIT ?3
                   ) ORDER BY seq";
        let mut batches = self.beyond(session)?;
        batches.retain(|batch| batch.head.seq < before_seq);
        let beyond = batches.len().min(most as usize);
        let stowed = most - u32::try_from(beyond).unwrap_or(most);
        let mut records = self.decoded(session, sql, (session.0.as_bytes(), rows::integer(before_seq), stowed))?;
        for batch in &batches[batches.len() - beyond..] {
            self.decode(session, batch.first, batch.bytes, &mut records)?;
        }
        Ok(records)
    }

    /// The records of the batches that `sql` finds, by number and bytes. They are decoded where the
    /// database has them: a long session is not copied first.
    fn decoded(&self, session: SessionId, sql: &str, which: impl Params) -> Result<Vec<Envelope>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(self.fault())?;
        let mut batches = statement.query(which).map_err(self.fault())?;
        let mut records = Vec::new();
        while let Some(row) = batches.next().map_err(self.fault())? {
            let first_seq = rows::natural(row, 0).map_err(self.fault())?;
            let bytes = rows::bytes(row, 1).map_err(self.fault())?;
            self.decode(session, first_seq, bytes, &mut records)?;
        }
        Ok(records)
    }

    fn decode(
        &self,
        session: SessionId,
        first_seq: u64,
        bytes: &[u8],
        records: &mut Vec<Envelope>,
    ) -> Result<(), StoreError> {
        let mut bodies = BlobMap::new();
        for hash in line::bodies_elsewhere(bytes) {
            bodies.extend(self.content(hash)?.map(|content| (hash, content)));
        }
        decode_stored(session, first_seq, bytes, &bodies, records)
    }

    pub(super) fn batches(&self, session: SessionId) -> Result<Vec<StoredBatch>, StoreError> {
        let mut batches = self.bare_batches(session).map_err(self.fault())?;
        for (seq, hash) in self.references(session).map_err(self.fault())? {
            if let Ok(index) = batches.binary_search_by_key(&seq, |batch| batch.seq) {
                batches[index].blobs.push(hash);
            }
        }
        // What is on the spool has no contents beside it.
        batches.extend(self.beyond(session)?.iter().map(|batch| StoredBatch {
            seq: batch.first,
            head: batch.head,
            bytes: batch.bytes.to_vec(),
            blobs: Vec::new(),
        }));
        Ok(batches)
    }

    fn bare_batches(&self, session: SessionId) -> rusqlite::Result<Vec<StoredBatch>> {
        self.connection
            .prepare_cached("SELECT seq, last, hash, epoch, bytes FROM batches WHERE session = ?1 ORDER BY seq")?
            .query_map([session.0.as_bytes()], |row| {
                let head = Head { seq: rows::natural(row, 1)?, hash: Hash(row.get(2)?), epoch: rows::natural(row, 3)? };
                Ok(StoredBatch { seq: rows::natural(row, 0)?, head, bytes: row.get(4)?, blobs: Vec::new() })
            })?
            .collect()
    }

    fn references(&self, session: SessionId) -> rusqlite::Result<Vec<(u64, Hash)>> {
        self.connection
            .prepare_cached("SELECT seq, hash FROM blob_refs WHERE session = ?1 ORDER BY seq, place")?
            .query_map([session.0.as_bytes()], |row| Ok((rows::natural(row, 0)?, Hash(row.get(1)?))))?
            .collect()
    }

    pub(super) fn waiting(&self, session: SessionId) -> Result<Vec<Waiting>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Waiting>> {
            self.connection
                .prepare_cached("SELECT message_id, text, at FROM inbox WHERE session = ?1 ORDER BY place")?
                .query_map([session.0.as_bytes()], |row| {
                    Ok(Waiting { message_id: MessageId(row.get(0)?), text: row.get(1)?, at: At(row.get(2)?) })
                })?
                .collect()
        };
        read().map_err(self.fault())
    }

    /// The content as it lies there.
    fn content(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        match blobs::find(self.connection, hash).map_err(self.fault())? {
            Some(Place::Inline(content)) => Ok(Some(content)),
            Some(Place::File) => self.files.read(hash),
            None => Ok(None),
        }
    }

    /// The content, if it is what was stored.
    pub(super) fn blob(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        match self.content(hash)? {
            Some(content) if hash_of(&content) != hash => {
                Err(StoreError::Damaged { what: format!("blob {hash} is not what was stored") })
            }
            content => Ok(content),
        }
    }
}
