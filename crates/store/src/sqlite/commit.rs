//! One transaction for many jobs: lock the file, `BEGIN IMMEDIATE`, write all, commit once, unlock.
//!
//! A job that is refused (a conflict, a taken key) has written nothing and leaves the others alone.
//! When the transaction itself fails, each job is tried once more alone: then only the guilty one
//! fails, and a commit whose outcome was unclear is settled by looking, because an append that is
//! already stored answers `Ok`. Last it is looked whether the file that was written is still there.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::blobs::BlobFiles;
use super::fault::meaning;
use super::presence::Presence;
use super::tails::Tails;
#[cfg(debug_assertions)]
use super::{AppendPoint, OnAppend};
use super::{Folder, SqliteOptions};
use crate::StoreError;

/// Something to be written.
pub(super) trait Work: Send + 'static {
    /// What the caller is told.
    type Output: Send;

    /// Before the transaction: files it refers to.
    fn prepare(&self, _files: &BlobFiles) -> Result<(), StoreError> {
        Ok(())
    }

    /// Within the transaction. A refusal must come before the first change.
    fn write(&self, db: &Db) -> Result<Self::Output, StoreError>;

    /// After the commit, with the file lock still held.
    fn finish(&self, _output: &Self::Output, _files: &BlobFiles) {}

    /// Whether `write` is a single statement, which is a transaction by itself.
    fn is_one_statement(&self, _db: &Db) -> bool {
        false
    }

    /// About how many bytes it writes.
    fn bytes(&self) -> usize;

    /// How many appends it makes, for those who count them.
    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        0
    }
}

/// The connection that writes.
pub(super) struct Db {
    pub(super) connection: Connection,
    pub(super) tails: Tails,
    path: PathBuf,
}

impl Db {
    /// Runs a statement.
    pub(super) fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<usize, StoreError> {
        self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).map_err(self.fault())
    }

    /// What an error of this database means.
    pub(super) fn fault(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| meaning(&self.path, &error)
    }
}

/// Work and the caller who waits for it, with the kind of work forgotten.
pub(super) trait Job: Send {
    fn prepare(&mut self, files: &BlobFiles);
    fn write(&mut self, db: &Db) -> Result<(), StoreError>;
    fn is_one_statement(&self, db: &Db) -> bool;
    fn fail(&mut self, error: StoreError);
    fn finish(&self, files: &BlobFiles);
    fn answer(self: Box<Self>);
    fn bytes(&self) -> usize;
    #[cfg(debug_assertions)]
    fn appends(&self) -> u64;
}

/// A job and what became of it.
pub(super) struct Pending<W: Work> {
    work: W,
    result: Option<Result<W::Output, StoreError>>,
    caller: oneshot::Sender<Result<W::Output, StoreError>>,
}

impl<W: Work> Pending<W> {
    pub(super) fn new(work: W, caller: oneshot::Sender<Result<W::Output, StoreError>>) -> Self {
        Self { work, result: None, caller }
    }
}

impl<W: Work> Job for Pending<W> {
    fn prepare(&mut self, files: &BlobFiles) {
        self.result = self.work.prepare(files).err().map(Err);
    }

    fn write(&mut self, db: &Db) -> Result<(), StoreError> {
        if self.result.is_some() {
            return Ok(());
        }
        match self.work.write(db) {
            Err(error) if !error.is_refusal() => Err(error),
            result => {
                self.result = Some(result);
                Ok(())
            }
        }
    }

    fn is_one_statement(&self, db: &Db) -> bool {
        self.result.is_none() && self.work.is_one_statement(db)
    }

    fn fail(&mut self, error: StoreError) {
        self.result = Some(Err(error));
    }

    fn finish(&self, files: &BlobFiles) {
        if let Some(Ok(output)) = &self.result {
            self.work.finish(output, files);
        }
    }

    fn answer(self: Box<Self>) {
        // A caller that stopped waiting needs no answer.
        let _ = self.caller.send(self.result.unwrap_or(Err(StoreError::Closed)));
    }

    fn bytes(&self) -> usize {
        self.work.bytes()
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        if matches!(self.result, Some(Ok(_))) { self.work.appends() } else { 0 }
    }
}

/// Whether a commit may wait for another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// It waits for the file lock.
    Wait,
    /// It gives up when another process holds the file lock.
    No,
}

/// The file lock is held by another process; nothing was done.
#[derive(Debug)]
pub(super) struct HeldElsewhere;

/// The one place in this process where transactions are made.
pub(super) struct Committer {
    db: Db,
    lock: File,
    lock_path: PathBuf,
    presence: Presence,
    files: BlobFiles,
    /// Bytes written since the write-ahead log was last moved into the database.
    pub(super) backlog: usize,
    #[cfg(debug_assertions)]
    on_append: Option<OnAppend>,
    #[cfg(debug_assertions)]
    appends: u64,
}

impl Committer {
    #[cfg_attr(not(debug_assertions), allow(unused_variables))]
    pub(super) fn new(
        folder: &Folder,
        connection: Connection,
        lock: File,
        options: &SqliteOptions,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            presence: Presence::of(&folder.database())?,
            db: Db { connection, tails: Tails::default(), path: folder.database() },
            lock,
            lock_path: folder.write_lock(),
            files: BlobFiles::new(folder),
            backlog: 0,
            #[cfg(debug_assertions)]
            on_append: options.on_append.clone(),
            #[cfg(debug_assertions)]
            appends: 0,
        })
    }

    /// Writes a group; afterwards every job of it knows its result.
    pub(super) fn commit(&mut self, group: &mut [Box<dyn Job>], patience: Patience) -> Result<(), HeldElsewhere> {
        match self.take_lock(patience) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(HeldElsewhere),
            Err(TryLockError::Error(error)) => {
                let error = StoreError::of_io(&self.lock_path, &error);
                group.iter_mut().for_each(|job| job.fail(error.clone()));
                return Ok(());
            }
        }
        if self.transact(group).is_err() {
            for job in group.chunks_mut(1) {
                if let Err(error) = self.transact(job) {
                    job[0].fail(error);
                }
            }
        }
        if let Err(error) = self.presence.check() {
            group.iter_mut().for_each(|job| job.fail(error.clone()));
        }
        group.iter().for_each(|job| job.finish(&self.files));
        // The lock is freed with the file at the latest.
        let _ = self.lock.unlock();
        Ok(())
    }

    fn take_lock(&self, patience: Patience) -> Result<(), TryLockError> {
        match patience {
            Patience::No => self.lock.try_lock(),
            Patience::Wait => loop {
                match self.lock.lock() {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    result => return result.map_err(TryLockError::Error),
                }
            },
        }
    }

    /// One transaction. On error nothing of it is stored.
    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        group.iter_mut().for_each(|job| job.prepare(&self.files));
        let result = match group {
            [job] if job.is_one_statement(&self.db) => {
                #[cfg(debug_assertions)]
                self.announce(AppendPoint::Before, 1);
                job.write(&self.db)
            }
            _ => self.transact_together(group),
        };
        if result.is_err() {
            self.db.tails.forget();
            if !self.db.connection.is_autocommit() {
                // Where this fails too, the next BEGIN says so.
                let _ = self.db.execute("ROLLBACK", []);
            }
        }
        result?;
        self.backlog += group.iter().map(|job| job.bytes()).sum::<usize>();
        #[cfg(debug_assertions)]
        {
            let appends = group.iter().map(|job| job.appends()).sum::<u64>();
            self.announce(AppendPoint::After, appends);
            self.appends += appends;
        }
        Ok(())
    }

    fn transact_together(&self, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.db.execute("BEGIN IMMEDIATE", [])?;
        group.iter_mut().try_for_each(|job| job.write(&self.db))?;
        #[cfg(debug_assertions)]
        self.announce(AppendPoint::Before, group.iter().map(|job| job.appends()).sum::<u64>());
        self.db.execute("COMMIT", [])?;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        &self.db.connection
    }

    /// Moves the write-ahead log into the database, as far as readers allow; the rest another time.
    pub(super) fn checkpoint(&mut self) {
        let _ = self.db.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        self.backlog = 0;
    }

    #[cfg(debug_assertions)]
    fn announce(&self, point: AppendPoint, appends: u64) {
        if let Some(announce) = &self.on_append {
            (1..=appends).for_each(|n| announce(point, self.appends + n));
        }
    }
}
