//! One transaction for many jobs: enter the queue of processes, `BEGIN IMMEDIATE`, write all, commit once, leave.
//!
//! A job that is refused (a conflict, a taken key) has written nothing and leaves the others alone.
//! When the transaction itself fails, each job is tried once more alone: then only the guilty one
//! fails, and a commit whose outcome was unclear is settled by looking, because an append that is
//! already stored answers `Ok`. First it is looked whether the files that are written are still there.

#[cfg(test)]
use rusqlite::Connection;

use super::blobs::BlobFiles;
use super::counter::{self, CommitCount, CommitCounter, CommitCounting};
use super::db::{Database, of_commit};
use super::folder::DataFolder;
use super::job::Job;
use super::options::SqliteOptions;
#[cfg(debug_assertions)]
use super::options::{AppendPoint, OnAppend};
use super::presence::{FolderState, Presence};
use super::queue::{CommitPatience, LockHolder, WriteLock};
use super::schema::{self, OpenedDatabase};
use crate::{AppendError, Loss, StoreError};

/// The backlog, in bytes, that is moved into the database in a pause.
const IDLE_BACKLOG: usize = 2 * 1024 * 1024;

/// The backlog that is moved at once.
const FULL_BACKLOG: usize = 32 * 1024 * 1024;

/// Another process is writing; nothing was done.
#[derive(Debug)]
pub(super) struct HeldElsewhere;

/// What is to be looked after beside the commits: moving the write-ahead log into the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upkeep {
    Nothing,
    InAPause,
    AtOnce,
}

/// The one place in this process where transactions are made.
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

    /// Writes a group; afterwards every job of it knows its result.
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

    /// One job of a group that failed, alone.
    fn again(&mut self, job: &mut [Box<dyn Job>], failed: &AppendError) -> Result<(), AppendError> {
        let unclear = matches!(failed, AppendError::Unknown { .. });
        if unclear && job[0].is_stored(&self.db)? { Ok(()) } else { self.transact(job) }
    }

    /// One transaction. On error nothing of it is stored, as far as is known.
    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), AppendError> {
        self.db.commits.set(None);
        let result = match group {
            [job] if job.is_one_statement(&self.db) => {
                #[cfg(debug_assertions)]
                self.announce(AppendPoint::Before, 1);
                job.prepare(&self.files);
                job.write(&self.db).map_err(of_commit)
            }
            _ => self.transact_together(group),
        };
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

    fn transact_together(&self, group: &mut [Box<dyn Job>]) -> Result<(), AppendError> {
        self.db.transaction(|| {
            group.iter_mut().for_each(|job| job.prepare(&self.files));
            group.iter_mut().try_for_each(|job| job.write(&self.db))?;
            #[cfg(debug_assertions)]
            self.announce(AppendPoint::Before, appends(group));
            Ok(())
        })
    }

    /// Goes on without the commits that are missing. Says what they were; nothing where none are.
    pub(super) fn accept_loss(&mut self, folder: &DataFolder) -> Result<Option<Loss>, StoreError> {
        let CommitCounting::Lost(loss, noted) = &self.counting else { return Ok(None) };
        let (loss, noted) = (loss.clone(), *noted);
        self.queue.enter(CommitPatience::Wait)?;
        let raised = self.db.transaction(|| {
            let now = CommitCount::of(&self.db.connection).map_err(self.db.fault())?;
            let to = noted.commits.max(now.commits) + 1;
            counter::raise(&self.db, now.commits, to)?;
            schema::make_control(&self.db.connection).map_err(self.db.fault())?;
            Ok(CommitCount { commits: to, ..now })
        });
        let counter = raised.map_err(StoreError::from).and_then(|count| CommitCounter::open(folder, count, None));
        self.queue.leave();
        self.counting = CommitCounting::Counted(counter?);
        Ok(Some(loss))
    }

    /// Changes with everything that is written.
    pub(super) fn backlog(&self) -> usize {
        self.backlog
    }

    /// What is to be looked after now.
    pub(super) fn upkeep(&self) -> Upkeep {
        match self.backlog {
            FULL_BACKLOG.. => Upkeep::AtOnce,
            IDLE_BACKLOG.. => Upkeep::InAPause,
            _ => Upkeep::Nothing,
        }
    }

    /// Moves the write-ahead log into the database, as far as readers allow; the rest another time.
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
