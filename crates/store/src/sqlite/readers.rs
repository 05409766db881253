//! Reads beside the writer, through a few separate connections; slow reads run off the async threads.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Params, Row};
use windlass_vocab::{CommandId, Envelope, Hash, MessageId, SessionId, Timestamp};

use super::blobs::{self, BlobFiles, BlobPlace};
use super::blocking_limit::BlockingLimit;
use super::claims::OwnedCount;
use super::database_file::DatabaseFile;
use super::fault::meaning;
use super::folder::DataFolder;
use super::read_only::Source;
use super::{append, check, control, inbox, list_page, rows, schema, user_rules};
use crate::error::place;
use crate::line::{self, BlobMap, hash_of};
use crate::verify::{BatchNote, Chain, blob_is_gone};
use crate::{
    AddressedCommand, BoxFuture, CommandState, Head, Inconsistency, KeptRule, SessionList, SessionQuery, SessionRow,
    StoreError, StoredBatch, WaitingMessage,
};

/// What to do with the write-ahead log when the last connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogOnClose {
    /// Move it into the database.
    Moved,
    /// Keep it: commits are missing, and someone may want to repair it.
    Kept,
}

/// The read connections.
#[derive(Clone, Debug)]
pub(super) struct ReadConnections {
    shared: Arc<ReaderPool>,
    limit: BlockingLimit,
    owned: OwnedCount,
}

#[derive(Debug)]
struct ReaderPool {
    source: Source,
    path: PathBuf,
    files: BlobFiles,
    log: LogOnClose,
    idle: Mutex<Vec<ReadConnection>>,
    /// Dropped after the connections. `None` if the database is gone; connecting reports that.
    _file: Option<DatabaseFile>,
}

/// A read connection.
#[derive(Debug)]
struct ReadConnection {
    connection: Connection,
    /// The `data_version` at which this connection found no command; `None` if it has not searched yet.
    without_commands: Cell<Option<i64>>,
}

impl ReadConnections {
    pub(super) fn new(folder: &DataFolder, source: Source, log: LogOnClose, owned: OwnedCount) -> Self {
        let (path, files) = (source.path(), BlobFiles::new(folder));
        let file = DatabaseFile::open(&path).ok();
        let shared = ReaderPool { source, path, files, log, idle: Mutex::default(), _file: file };
        Self { shared: Arc::new(shared), limit: BlockingLimit::default(), owned }
    }

    /// The large blobs.
    pub(super) fn files(&self) -> &BlobFiles {
        &self.shared.files
    }

    /// Runs `read` against a snapshot of the database, on a thread that may block.
    pub(super) fn with<'a, T: Send + 'static>(
        &self,
        read: impl FnOnce(&ReadSnapshot<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let (shared, limit) = (Arc::clone(&self.shared), self.limit.clone());
        Box::pin(async move { limit.run(move || shared.read(read)).await.unwrap_or(Err(StoreError::Closed)) })
    }

    /// Like `with`, for reads that take microseconds. In a process with one session such a read delays nobody, and
    /// costs less than a switch to another thread and back.
    pub(super) fn look_up<'a, T: Send + 'static>(
        &self,
        read: impl FnOnce(&ReadSnapshot<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        if self.owned.count() > 1 {
            return self.with(read);
        }
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.read(read) })
    }
}

impl ReaderPool {
    fn read<T>(&self, read: impl FnOnce(&ReadSnapshot<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let reader = match known {
            Some(reader) => reader,
            None => ReadConnection { connection: self.connect()?, without_commands: Cell::default() },
        };
        // One call reads a single snapshot, because a session may be removed in between.
        let snapshot = reader.connection.unchecked_transaction().map_err(|error| meaning(&self.path, &error))?;
        let ReadConnection { connection, without_commands } = &reader;
        let result = read(&ReadSnapshot { connection, without_commands, path: &self.path, files: &self.files });
        drop(snapshot);
        idle().push(reader);
        result
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let gone = |error| if self.path.exists() { error } else { StoreError::Gone { place: place(&self.path) } };
        let connection = self.source.connect().map_err(gone)?;
        let fault = |error: rusqlite::Error| meaning(&self.path, &error);
        match self.log {
            LogOnClose::Moved => {}
            LogOnClose::Kept => schema::keep_log(&connection).map_err(fault)?,
        }
        schema::add_missing_columns(&connection).map_err(fault)?;
        connection.pragma_update(None, "query_only", true).map_err(fault)?;
        Ok(connection)
    }
}

/// A connection in a read transaction.
pub(super) struct ReadSnapshot<'a> {
    connection: &'a Connection,
    without_commands: &'a Cell<Option<i64>>,
    path: &'a PathBuf,
    files: &'a BlobFiles,
}

impl ReadSnapshot<'_> {
    pub(super) fn connection(&self) -> &Connection {
        self.connection
    }

    /// All sessions and their keys, of all owners.
    pub(super) fn all_sessions(&self) -> Result<Vec<(SessionId, String)>, StoreError> {
        rows::all(self.connection).map_err(self.fault())
    }

    /// Inconsistencies within the database. A database that can't be read to its end counts as one.
    pub(super) fn inconsistencies(&self) -> Result<Vec<Inconsistency>, StoreError> {
        match check::inconsistencies(self.connection).map_err(self.fault()) {
            Err(StoreError::Damaged { what }) => Ok(vec![Inconsistency { session: None, what }]),
            found => found,
        }
    }

    fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(self.path, &error)
    }

    pub(super) fn head(&self, session: SessionId) -> Result<Head, StoreError> {
        append::head(self.connection, session).map_err(self.fault())
    }

    pub(super) fn find(&self, owner: &str, key: &str) -> Result<Option<SessionId>, StoreError> {
        rows::find(self.connection, owner, key).map_err(self.fault())
    }

    pub(super) fn row(&self, session: SessionId) -> Result<Option<SessionRow>, StoreError> {
        Ok(rows::load(self.connection, session).map_err(self.fault())?.map(|fold| fold.row))
    }

    pub(super) fn rows(&self, owner: &str) -> Result<Vec<SessionRow>, StoreError> {
        rows::list(self.connection, owner).map_err(self.fault())
    }

    pub(super) fn list(&self, owner: &str, query: &SessionQuery) -> Result<SessionList, StoreError> {
        list_page::read(self.connection, owner, query).map_err(self.fault())
    }

    pub(super) fn records(&self, session: SessionId, after_seq: u64) -> Result<Vec<Envelope>, StoreError> {
        let records = self.some_records(session, after_seq, usize::MAX)?;
        self.look_for_contents(session, after_seq)?;
        Ok(records)
    }

    /// The records of whole batches, until they are more than `most_bytes`. Their contents are looked for when they are
    /// read.
    pub(super) fn some_records(
        &self,
        session: SessionId,
        after_seq: u64,
        most_bytes: usize,
    ) -> Result<Vec<Envelope>, StoreError> {
        // The first batch is the one with the next record, or the last of all: it is found through the index, so that the
        // batches before it are not read.
        let sql = "SELECT seq, last, hash, epoch, bytes FROM batches WHERE session = ?1 AND seq >= COALESCE(
                       (SELECT seq FROM batches WHERE session = ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT 1), 0
                   ) AND last >= ?2 ORDER BY seq";
        let next = rows::integer(after_seq.saturating_add(1));
        let mut records = self.decoded(session, sql, (session.0.as_bytes(), next), most_bytes)?;
        records.retain(|envelope| envelope.seq > after_seq);
        Ok(records)
    }

    pub(super) fn session_count(&self, owner: &str) -> Result<u64, StoreError> {
        rows::count(self.connection, owner).map_err(self.fault())
    }

    pub(super) fn rules_of(&self, user: &str) -> Result<Vec<KeptRule>, StoreError> {
        user_rules::of_user(self.connection, user).map_err(self.fault())
    }

    pub(super) fn records_before(
        &self,
        session: SessionId,
        before_seq: u64,
        most: u32,
    ) -> Result<Vec<Envelope>, StoreError> {
        let sql = "SELECT seq, last, hash, epoch, bytes FROM (
                       SELECT seq, last, hash, epoch, bytes FROM batches WHERE session = ?1 AND seq < ?2 AND last < ?2
                       ORDER BY seq DESC LIMIT ?3
                   ) ORDER BY seq";
        self.decoded(session, sql, (session.0.as_bytes(), rows::integer(before_seq), most), usize::MAX)
    }

    /// Decodes the records of the batches that `sql` selects (number, head and bytes), which must be consecutive. They
    /// are decoded in SQLite's buffers, so that a long session is not copied first; no more are once they have more than
    /// `most_bytes`. Returns an error if a batch is not as it was stored, or does not follow the previous one.
    fn decoded(
        &self,
        session: SessionId,
        sql: &str,
        which: impl Params,
        most_bytes: usize,
    ) -> Result<Vec<Envelope>, StoreError> {
        let mut statement = self.connection.prepare_cached(sql).map_err(self.fault())?;
        let mut batches = statement.query(which).map_err(self.fault())?;
        let (mut records, mut chain, mut bytes_read) = (Vec::new(), None, 0_usize);
        while let Some(row) = batches.next().map_err(self.fault())? {
            let (noted, bytes) = batch(row).map_err(self.fault())?;
            let mut bodies = BlobMap::new();
            for hash in line::bodies_elsewhere(bytes) {
                bodies.extend(self.content(hash)?.map(|content| (hash, content)));
            }
            bytes_read += bytes.len() + bodies.values().map(|body| body.len()).sum::<usize>();
            let chain = match &mut chain {
                Some(chain) => chain,
                None => chain.insert(self.chain_before(session, noted.seq)?),
            };
            chain.read_stored(noted, bytes, &bodies, &mut records)?;
            if bytes_read > most_bytes {
                break;
            }
        }
        Ok(records)
    }

    /// Checks that all blobs of the batches behind `after_seq` exist. Their hashes are checked when they are read.
    fn look_for_contents(&self, session: SessionId, after_seq: u64) -> Result<(), StoreError> {
        let missing = blobs::missing(self.connection, self.files, session, after_seq).map_err(self.fault())?;
        missing.map_or(Ok(()), |(seq, hash)| Err(blob_is_gone(seq, hash).of(session)))
    }

    /// A chain positioned after the last batch before the one that begins with the record `seq`.
    fn chain_before(&self, session: SessionId, seq: u64) -> Result<Chain, StoreError> {
        if seq == 1 {
            return Ok(Chain::new(session));
        }
        let before = append::head_before(self.connection, session, seq).map_err(self.fault())?;
        Ok(Chain::behind(session, before))
    }

    pub(super) fn batches(&self, session: SessionId) -> Result<Vec<StoredBatch>, StoreError> {
        let mut batches = self.bare_batches(session).map_err(self.fault())?;
        for (seq, hash) in self.references(session).map_err(self.fault())? {
            if let Ok(index) = batches.binary_search_by_key(&seq, |batch| batch.seq) {
                batches[index].blobs.push(hash);
            }
        }
        Ok(batches)
    }

    fn bare_batches(&self, session: SessionId) -> rusqlite::Result<Vec<StoredBatch>> {
        self.connection
            .prepare_cached("SELECT seq, last, hash, epoch, bytes FROM batches WHERE session = ?1 ORDER BY seq")?
            .query_map([session.0.as_bytes()], |row| {
                let (BatchNote { seq, head }, bytes) = batch(row)?;
                Ok(StoredBatch { seq, head, bytes: bytes.to_vec(), blobs: Vec::new() })
            })?
            .collect()
    }

    fn references(&self, session: SessionId) -> rusqlite::Result<Vec<(u64, Hash)>> {
        self.connection
            .prepare_cached("SELECT seq, hash FROM blob_refs WHERE session = ?1 ORDER BY seq, place")?
            .query_map([session.0.as_bytes()], |row| Ok((rows::natural(row, 0)?, Hash(row.get(1)?))))?
            .collect()
    }

    pub(super) fn waiting(&self, session: SessionId) -> Result<Vec<WaitingMessage>, StoreError> {
        let read = || -> rusqlite::Result<Vec<WaitingMessage>> {
            self.connection
                .prepare_cached("SELECT message_id, text, at FROM inbox WHERE session = ?1 ORDER BY place")?
                .query_map([session.0.as_bytes()], |row| {
                    let message_id = MessageId(row.get(0)?);
                    let files = inbox::files(self.connection, session, &message_id)?;
                    Ok(WaitingMessage { message_id, text: row.get(1)?, at: Timestamp(row.get(2)?), files })
                })?
                .collect()
        };
        read().map_err(self.fault())
    }

    /// The commands nobody has taken. Every process with an open session asks four times a second, so the table is not
    /// read while nobody has written anything: SQLite counts writes for each connection, in shared memory.
    pub(super) fn commands(&self, now: Timestamp) -> Result<Vec<AddressedCommand>, StoreError> {
        let read = || -> rusqlite::Result<Vec<AddressedCommand>> {
            let state = self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
            if self.without_commands.get() == Some(state) {
                return Ok(Vec::new());
            }
            let commands = control::commands(self.connection, now)?;
            self.without_commands.set(commands.is_empty().then_some(state));
            Ok(commands)
        };
        read().map_err(self.fault())
    }

    pub(super) fn command_state(&self, id: &CommandId) -> Result<CommandState, StoreError> {
        control::state(self.connection, id).map_err(self.fault())
    }

    /// The blob as stored, not verified.
    fn content(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        match blobs::find(self.connection, hash).map_err(self.fault())? {
            Some(BlobPlace::Inline(content)) => Ok(Some(content)),
            Some(BlobPlace::File) => self.files.read(hash),
            None => Ok(None),
        }
    }

    /// The blob, verified against its hash.
    pub(super) fn blob(&self, hash: Hash) -> Result<Option<Arc<[u8]>>, StoreError> {
        match self.content(hash)? {
            Some(content) if hash_of(&content) != hash => {
                Err(StoreError::Damaged { what: format!("blob {hash} is not what was stored") })
            }
            content => Ok(content),
        }
    }
}

/// Reads a row of `seq, last, hash, epoch, bytes`.
fn batch<'r>(row: &'r Row<'_>) -> rusqlite::Result<(BatchNote, &'r [u8])> {
    let head = Head { seq: rows::natural(row, 1)?, hash: Hash(row.get(2)?), epoch: rows::natural(row, 3)? };
    Ok((BatchNote { seq: rows::natural(row, 0)?, head }, rows::bytes(row, 4)?))
}
