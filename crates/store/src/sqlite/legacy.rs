//! Migrates folders of version 2. These have a file `spool` beside the database, with batches that are not in it yet.
//! On opening, once, the batches become rows, and the file is removed; no other module uses the file.
//!
//! ```text
//! "WLSPOOL1" | lap 8 | entries of this lap | what earlier laps left
//! entry: check 16 | kind 4 | length 4 | session 16 | first 8 | last 8 | epoch 8 | hash 32 | bytes
//! ```
//!
//! Numbers are little endian. A check is the beginning of a hash over the previous entry's check and the 80 bytes after
//! its own, so an entry is valid only behind the very entries it was written behind. The table `spool` holds the
//! position up to which they are already rows. Processes of version 2 write while they hold a lock on the file
//! `write.lock`; one that is still running finds the spool gone at its next write, and stops.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use rusqlite::{Connection, params};
use uuid::Uuid;
use windlass_vocab::{Envelope, Hash, SessionId};

use super::fault::meaning;
use super::folder::DataFolder;
use super::queue::{CommitPatience, WriteLock};
use super::{append, rows, schema};
use crate::error::place;
use crate::line::{BlobMap, hash_of};
use crate::projections::project;
use crate::verify::{BatchNote, Chain};
use crate::{Head, StoreError};

const MAGIC: &[u8; 8] = b"WLSPOOL1";

/// Length of the file's header, in bytes.
const HEADER: usize = 16;

const CHECK: usize = 16;
const FIELDS: usize = 80;

const SPOOL: &str = "spool";
const WRITE_LOCK: &str = "write.lock";

/// The files of a version 2 folder beside its database.
pub(super) const FILES: [&str; 2] = [SPOOL, WRITE_LOCK];

/// Path of the spool in a version 2 folder.
pub(super) fn spool(folder: &DataFolder) -> PathBuf {
    folder.0.join(SPOOL)
}

/// Migrates the database of a version 2 folder, and its spool, to this version.
pub(super) fn take_over(folder: &DataFolder, connection: &Connection) -> Result<(), StoreError> {
    let lock = folder.0.join(WRITE_LOCK);
    let mut others = lock.exists().then(|| WriteLock::open(&lock)).transpose()?;
    if let Some(others) = &mut others {
        others.enter(CommitPatience::Wait)?;
    }
    let result = in_transaction(folder, connection);
    if result.is_err() && !connection.is_autocommit() {
        // If this fails too, closing the connection rolls back.
        let _ = connection.execute_batch("ROLLBACK");
    }
    result?;
    remove_files(folder);
    Ok(())
}

/// Removes the version 2 files from a folder whose database is of this version: all their batches are in it.
pub(super) fn remove_files(folder: &DataFolder) {
    for name in FILES {
        // A file that can't be removed does no harm: nothing reads it any more.
        let _ = fs::remove_file(folder.0.join(name));
    }
}

fn in_transaction(folder: &DataFolder, connection: &Connection) -> Result<(), StoreError> {
    let path = folder.database();
    let fault = |error: rusqlite::Error| meaning(&path, &error);
    // The spool is removed afterwards, so this commit must be synced to disk whatever durability is configured.
    connection.execute_batch("PRAGMA synchronous = FULL; BEGIN IMMEDIATE").map_err(fault)?;
    let stored = connection
        .query_row("SELECT lap, stowed, mark FROM spool", [], |row| {
            Ok(SpoolExtent { lap: rows::natural(row, 0)?, offset: rows::natural(row, 1)?, check: row.get(2)? })
        })
        .map_err(fault)?;
    connection.execute_batch(schema::BEYOND_VERSION_2).map_err(fault)?;
    connection.execute_batch(schema::BEYOND_VERSION_3).map_err(fault)?;
    let spool = read(folder, &stored)?;
    let batches = entries(&spool, stored.check).map_err(|at| damaged(folder, stored.offset + at as u64))?;
    let mut ends: HashMap<SessionId, Head> = HashMap::new();
    for batch in &batches {
        let head = match ends.get(&batch.session) {
            Some(head) => *head,
            None => append::head(connection, batch.session).map_err(fault)?,
        };
        // With `synchronous = NORMAL`, a power loss could drop a transaction and leave later batches in the spool.
        if let Some(records) = batch.records_behind(head)? {
            insert(connection, batch, &records).map_err(fault)?;
            ends.insert(batch.session, batch.head);
        }
    }
    connection.execute_batch("DROP TABLE spool; COMMIT").map_err(fault)
}

fn insert(connection: &Connection, batch: &SpooledBatch<'_>, records: &[Envelope]) -> rusqlite::Result<()> {
    let SpooledBatch { session, first, head, bytes } = batch;
    let sql = "INSERT INTO batches (session, seq, last, epoch, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        session.0.as_bytes(),
        rows::integer(*first),
        rows::integer(head.seq),
        rows::integer(head.epoch),
        head.hash.0,
        bytes
    ])?;
    match project(rows::load(connection, *session)?, records) {
        Some(row) => rows::store(connection, &row),
        None => Ok(()),
    }
}

/// The part of the spool that the database already has.
struct SpoolExtent {
    lap: u64,
    offset: u64,
    check: [u8; CHECK],
}

/// Returns the spool's bytes after the stored part: entries, followed by arbitrary leftovers.
fn read(folder: &DataFolder, stored: &SpoolExtent) -> Result<Vec<u8>, StoreError> {
    let path = spool(folder);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!(
                "{} is missing, and with it what was not in the database yet (an empty file in its place lets you go \
                 on without it)",
                path.display()
            );
            return Err(StoreError::Damaged { what });
        }
        Err(error) => return Err(StoreError::of_io(&path, &error)),
    };
    let header = &bytes[..bytes.len().min(HEADER)];
    if header.iter().all(|byte| *byte == 0) {
        // The header never reached the disk, or someone emptied the file.
        return Ok(Vec::new());
    }
    let lap = match (header.strip_prefix(MAGIC), header.last_chunk()) {
        (Some(_), Some(lap)) if header.len() == HEADER => u64::from_le_bytes(*lap),
        _ => return Err(StoreError::Foreign { place: place(&path) }),
    };
    let start = usize::try_from(stored.offset).unwrap_or(usize::MAX);
    match lap {
        // The process that ended the previous lap died before it could begin the next.
        lap if lap < stored.lap => Ok(Vec::new()),
        lap if lap == stored.lap => Ok(bytes.get(start..).unwrap_or_default().to_vec()),
        _ => Err(StoreError::Damaged { what: format!("{} is newer than the database beside it", path.display()) }),
    }
}

fn damaged(folder: &DataFolder, at: u64) -> StoreError {
    StoreError::Damaged {
        what: format!(
            "{} is damaged at byte {at}, and more was stored behind it (an empty file in its place lets you go on \
             without all that is in it)",
            spool(folder).display()
        ),
    }
}

/// A batch that was not in the database yet.
struct SpooledBatch<'a> {
    session: SessionId,
    first: u64,
    head: Head,
    bytes: &'a [u8],
}

impl SpooledBatch<'_> {
    /// Its records, if it was written behind `head`; else `None`.
    fn records_behind(&self, head: Head) -> Result<Option<Vec<Envelope>>, StoreError> {
        let (noted, mut records) = (BatchNote { seq: self.first, head: self.head }, Vec::new());
        match Chain::behind(self.session, head).read_stored(noted, self.bytes, &BlobMap::new(), &mut records) {
            Ok(()) => Ok(Some(records)),
            Err(StoreError::Broken { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The item at the start of some bytes.
enum SpoolItem<'a> {
    /// A batch, and the length of its entry.
    Batch(SpooledBatch<'a>, usize),
    /// An entry that only woke up other processes; its length.
    Notice(usize),
    /// The end, or an incomplete entry.
    Nothing,
}

const BATCH: u32 = 1;
const NOTICE: u32 = 2;
const BATCH_AND_ROW: u32 = 3;

/// The batches after the entry whose check is `check`. An error is the offset of an entry that was changed: entries
/// written after it exist.
fn entries(bytes: &[u8], mut check: [u8; CHECK]) -> Result<Vec<SpooledBatch<'_>>, usize> {
    let (mut batches, mut at) = (Vec::new(), 0);
    loop {
        let rest = &bytes[at..];
        let length = match next(rest, check) {
            SpoolItem::Batch(batch, length) => {
                batches.push(batch);
                length
            }
            SpoolItem::Notice(length) => length,
            SpoolItem::Nothing if is_followed(rest, check) => return Err(at),
            SpoolItem::Nothing => return Ok(batches),
        };
        (check, at) = (first_chunk(rest), at + length);
    }
}

fn next(bytes: &[u8], before: [u8; CHECK]) -> SpoolItem<'_> {
    let Some((fields, content)) = fields(bytes).filter(|(fields, _)| check_after(before, fields) == first_chunk(bytes))
    else {
        return SpoolItem::Nothing;
    };
    let word = |at: usize| u32::from_le_bytes(first_chunk(&fields[at..]));
    let number = |at: usize| u64::from_le_bytes(first_chunk(&fields[at..]));
    match word(0) {
        NOTICE => SpoolItem::Notice(CHECK + FIELDS),
        BATCH | BATCH_AND_ROW => {
            let hash = Hash(first_chunk(&fields[48..]));
            let Some(content) = content.get(..word(4) as usize).filter(|content| hash_of(content) == hash) else {
                return SpoolItem::Nothing;
            };
            let session = SessionId(Uuid::from_bytes(first_chunk(&fields[8..])));
            let head = Head { seq: number(32), epoch: number(40), hash };
            let batch = SpooledBatch { session, first: number(24), head, bytes: content };
            SpoolItem::Batch(batch, CHECK + FIELDS + content.len())
        }
        _ => SpoolItem::Nothing,
    }
}

/// Whether `bytes` began with an entry that is damaged now, shown by an entry written after it. That one's check
/// depends on the damaged entry's check; if one bit changed, either that check or the one computed from the fields
/// still fits.
fn is_followed(bytes: &[u8], before: [u8; CHECK]) -> bool {
    let Some((own, _)) = fields(bytes) else { return false };
    let checks = [first_chunk(bytes), check_after(before, own)];
    (1..bytes.len()).any(|at| {
        let Some((fields, _)) = fields(&bytes[at..]) else { return false };
        checks.iter().any(|check| check_after(*check, fields) == first_chunk(&bytes[at..]))
    })
}

/// The fields of an entry, and the bytes after them.
fn fields(bytes: &[u8]) -> Option<(&[u8; FIELDS], &[u8])> {
    bytes.get(CHECK..)?.split_first_chunk()
}

fn check_after(before: [u8; CHECK], fields: &[u8; FIELDS]) -> [u8; CHECK] {
    let mut both = [0; CHECK + FIELDS];
    both[..CHECK].copy_from_slice(&before);
    both[CHECK..].copy_from_slice(fields);
    first_chunk(&hash_of(&both).0)
}

/// The first bytes; zeros if there are too few, and zeros match no valid value.
fn first_chunk<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}
