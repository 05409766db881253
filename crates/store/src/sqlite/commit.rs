//! One transaction for many jobs: wait in the queue of processes, `BEGIN IMMEDIATE`, write all, commit once, leave.
//!
//! A refused job (a conflict, a taken key) has written nothing and does not affect the others. When the transaction
//! itself fails, each job is retried once alone: then only the job at fault fails. A commit of unknown outcome is
//! settled by checking the database: an append that is already stored returns `Ok`. Before each commit, the
//! [`Committer`] checks that the files it writes to still exist.

#[cfg(test)]
use rusqlite::Connection;

use super::blobs::BlobFiles;
use super::counter::{self, CommitCount, CommitCounter, CommitCounting};
use super::db::Database;
use super::folder::DataFolder;
use super::job::Job;
use super::options::SqliteOptions;
#[cfg(debug_assertions)]
use super::options::{AppendPoint, OnAppend};
use super::presence::{FolderState, Presence};
use super::queue::{CommitPatience, LockHolder, WriteLock};
use super::schema::{self, OpenedDatabase};
use crate::{AppendError, Loss, StoreError};

/// The backlog, in bytes, that is moved into the database when the writer is idle.
const IDLE_BACKLOG: usize = 2 * 1024 * 1024;

/// The backlog, in bytes, that is moved at once.
const FULL_BACKLOG: usize = 32 * 1024 * 1024;

/// Another process is writing; nothing was committed.
#[derive(Debug)]
pub(super) struct HeldElsewhere;

/// Whether the write-ahead log should be moved into the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckpointTiming {
    NotNeeded,
    WhenIdle,
    Now,
}

/// Runs all write transactions of this process.
pub(super) struct Committer {
    db: Database,
    queue: WriteLock,
    presence: Presence,
    counting: CommitCounting,
    files: BlobFiles,
    /// Bytes written since the write-ahead log was last moved into the database.
    backlog: usize,
    #[cfg(debug_assertions)]
    on_append: Option<OnAppend>,
    #[cfg(debug_assertions)]
    appends: u64,
}

impl Committer {
    #[cfg_attr(not(debug_assertions), allow(unused_variables, clippy::needless_pass_by_value))]
    pub(super) fn new(folder: &DataFolder, opened: OpenedDatabase, options: SqliteOptions) -> Result<Self, StoreError> {
        let OpenedDatabase { connection, queue, counting, file } = opened;
        Ok(Self {
            presence: Presence::of(&folder.0, [folder.database(), folder.log(), folder.shared_memory()])?,
            db: Database::new(connection, folder.database(), file),
            queue,
            counting,
            files: BlobFiles::new(folder),
            backlog: 0,
            #[cfg(debug_assertions)]
            on_append: options.on_append,
            #[cfg(debug_assertions)]
            appends: 0,
        })
    }

    /// Commits a group; afterwards every job in it has its result.
    pub(super) fn commit(&mut self, group: &mut [Box<dyn Job>], patience: CommitPatience) -> Result<(), HeldElsewhere> {
        match self.queue.enter(patience) {
            Ok(LockHolder::Here) => {}
            Ok(LockHolder::Elsewhere) => return Err(HeldElsewhere),
            Err(error) => {
                group.iter_mut().for_each(|job| job.fail(error.clone().into()));
                return Ok(());
            }
        }
        match self.look_for_files() {
            Ok(()) => self.write(group),
            Err(error) => group.iter_mut().for_each(|job| job.fail(error.clone().into())),
        }
        group.iter().for_each(|job| job.finish(&self.db, &self.files));
        self.queue.leave();
        Ok(())
    }

    fn look_for_files(&mut self) -> Result<(), StoreError> {
        let seen = self.presence.check()?;
        match (&mut self.counting, seen) {
            (CommitCounting::Lost(loss, _), _) => Err(StoreError::Lost(loss.clone())),
            (CommitCounting::Counted(counter), FolderState::Changed) => counter.find_again(),
            (CommitCounting::Counted(_), FolderState::Same) => Ok(()),
        }
    }

    fn write(&mut self, group: &mut [Box<dyn Job>]) {
        let Err(together) = self.transact(group) else { return };
        for job in group.chunks_mut(1) {
            if let Err(error) = self.again(job, &together) {
                job[0].fail(error);
            }
        }
    }

    /// Retries one job of a failed group alone.
    fn again(&mut self, job: &mut [Box<dyn Job>], failed: &AppendError) -> Result<(), AppendError> {
        let unclear = matches!(failed, AppendError::Unknown { .. });
        if unclear && job[0].is_stored(&self.db)? { Ok(()) } else { self.transact(job) }
    }

    /// Runs one transaction. After an error nothing of it is stored, as far as known.
    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), AppendError> {
        self.db.commits.set(None);
        let result = self.db.transaction(|| {
            group.iter_mut().for_each(|job| job.prepare(&self.files));
            group.iter_mut().try_for_each(|job| job.write(&self.db))?;
            #[cfg(debug_assertions)]
            self.announce(AppendPoint::Before, appends(group));
            Ok(())
        });
        if result.is_err() {
            self.db.tails.forget();
        }
        result?;
        if let (Some(commits), CommitCounting::Counted(counter)) = (self.db.commits.get(), &self.counting) {
            counter.note(commits);
        }
        self.backlog += group.iter().map(|job| job.bytes()).sum::<usize>();
        #[cfg(debug_assertions)]
        {
            let appends = appends(group);
            self.announce(AppendPoint::After, appends);
            self.appends += appends;
        }
        Ok(())
    }

    /// Continues without the missing commits. Returns the loss; `None` if there is none.
    pub(super) fn accept_loss(&mut self, folder: &DataFolder) -> Result<Option<Loss>, StoreError> {
        let CommitCounting::Lost(loss, noted) = &self.counting else { return Ok(None) };
        let (loss, noted) = (loss.clone(), *noted);
        self.queue.enter(CommitPatience::Wait)?;
        let raised = self.db.transaction(|| {
            let now = CommitCount::of(&self.db.connection).map_err(self.db.fault())?;
            let to = noted.commits.max(now.commits) + 1;
            counter::raise(&self.db, now.commits, to)?;
            schema::update(&self.db.connection).map_err(self.db.fault())?;
            Ok(CommitCount { commits: to, ..now })
        });
        let counter = raised.map_err(StoreError::from).and_then(|count| CommitCounter::open(folder, count, None));
        self.queue.leave();
        self.counting = CommitCounting::Counted(counter?);
        Ok(Some(loss))
    }

    /// Bytes in the backlog; changes with every write.
    pub(super) fn backlog(&self) -> usize {
        self.backlog
    }

    /// The checkpoint work that is due now.
    pub(super) fn checkpoint_timing(&self) -> CheckpointTiming {
        match self.backlog {
            FULL_BACKLOG.. => CheckpointTiming::Now,
            IDLE_BACKLOG.. => CheckpointTiming::WhenIdle,
            _ => CheckpointTiming::NotNeeded,
        }
    }

    /// Moves the write-ahead log into the database, as far as readers allow; the rest is left for a later checkpoint.
    pub(super) fn checkpoint(&mut self) {
        let _ = self.db.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        self.backlog = 0;
    }

    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        &self.db.connection
    }

    #[cfg(debug_assertions)]
    fn announce(&self, point: AppendPoint, appends: u64) {
        if let Some(announce) = &self.on_append {
            (1..=appends).for_each(|n| announce(point, self.appends + n));
        }
    }
}

#[cfg(debug_assertions)]
fn appends(group: &[Box<dyn Job>]) -> u64 {
    group.iter().map(|job| job.appends()).sum()
}
