//! One commit for many jobs: lock the file, catch up with what others wrote, write all, sync once, unlock.
//!
//! Batches that change the journal and their session's row at most go on the spool. Everything else is one
//! transaction, which stows the spool before it begins, where it needs what is there.
//!
//! A job that is refused (a conflict, a taken key) has written nothing and leaves the others alone.
//! When the transaction itself fails, each job is tried once more alone: then only the guilty one
//! fails, and a commit whose outcome was unclear is settled by looking, because an append that is
//! already stored answers `Ok`. First it is looked whether the files that are written are still there.

use std::path::PathBuf;

use rusqlite::Connection;

use super::blobs::BlobFiles;
use super::fault::meaning;
use super::job::{Job, Needs, Way};
use super::presence::Presence;
use super::slip::Slip;
use super::spool::{self, LONG, Position, Spool};
use super::stow::{note, stow, stowed};
use super::tails::Tails;
use super::write_lock::{Held, Patience, WriteLock};
#[cfg(debug_assertions)]
use super::{AppendPoint, OnAppend};
use super::{Durability, Folder, SqliteOptions, schema};
use crate::StoreError;

/// The length of the spool from which on it is begun anew in a pause.
const IDLE_SPOOL: u64 = 256 * 1024;

/// The backlog, in bytes, that is moved into the database in a pause.
const IDLE_BACKLOG: usize = 2 * 1024 * 1024;

/// The backlog that is moved at once.
const FULL_BACKLOG: usize = 32 * 1024 * 1024;

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

/// The file lock is held by another process; nothing was done.
#[derive(Debug)]
pub(super) struct HeldElsewhere;

/// What is to be looked after beside the commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upkeep {
    Nothing,
    InAPause,
    AtOnce,
}

/// The one place in this process where anything is written.
pub(super) struct Committer {
    db: Db,
    spool: Spool,
    lock: WriteLock,
    folder: Folder,
    presence: Presence,
    files: BlobFiles,
    durability: Durability,
    /// Where the spool was stowed up to when it was opened; until the first transaction.
    found: Option<Position>,
    /// The length from which on the spool is begun anew.
    long: u64,
    /// Bytes written since the write-ahead log was last moved into the database.
    backlog: usize,
    #[cfg(debug_assertions)]
    on_append: Option<OnAppend>,
    #[cfg(debug_assertions)]
    appends: u64,
}

/// What the committer writes with.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) spool: Spool,
    pub(super) lock: WriteLock,
}

impl Committer {
    pub(super) fn new(folder: &Folder, opened: Opened, options: SqliteOptions) -> Result<Self, StoreError> {
        let Opened { connection, spool, lock } = opened;
        Ok(Self {
            presence: presence(folder)?,
            folder: folder.clone(),
            db: Db { connection, tails: Tails::default(), path: folder.database() },
            found: Some(spool.end()),
            spool,
            lock,
            files: BlobFiles::new(folder),
            durability: options.durability,
            long: LONG,
            backlog: 0,
            #[cfg(debug_assertions)]
            on_append: options.on_append,
            #[cfg(debug_assertions)]
            appends: 0,
        })
    }

    /// Writes a group; afterwards every job of it knows its result.
    pub(super) fn commit(&mut self, group: &mut [Box<dyn Job>], patience: Patience) -> Result<(), HeldElsewhere> {
        match self.lock.take(patience) {
            Ok(Held::Here) => {}
            Ok(Held::Elsewhere) => return Err(HeldElsewhere),
            Err(error) => {
                group.iter_mut().for_each(|job| job.fail(error.clone()));
                return Ok(());
            }
        }
        if let Err(error) = self.see_to_files().and_then(|()| self.write(group)) {
            group.iter_mut().for_each(|job| job.fail(error.clone()));
        }
        group.iter().for_each(|job| job.finish(&self.files));
        self.lock.release();
        Ok(())
    }

    /// While the lock is held: all files of the data folder are where they were, or the lock is made again.
    fn see_to_files(&mut self) -> Result<(), StoreError> {
        loop {
            match self.presence.check() {
                Err(StoreError::Gone { path }) if path == self.folder.write_lock() => {
                    self.lock.renew()?;
                    self.presence = presence(&self.folder)?;
                }
                checked => return checked,
            }
        }
    }

    /// An error is one of them all.
    fn write(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        self.catch_up()?;
        self.put_on_spool(group);
        let spooled = group.iter().any(|job| job.way() == Way::Spool);
        let stowed = by_transaction(group).next().is_some()
            && match self.transact(group) {
                Ok(needs) => needs == Needs::Journal,
                Err(_) => {
                    self.transact_each(group);
                    false
                }
            };
        if spooled && !stowed { self.sync_spool() } else { Ok(()) }
    }

    /// Learns what others wrote since this process wrote last.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        let Self { db, spool, .. } = self;
        let lap = spool.lap()?;
        let mut overtaken = lap != spool.end().lap;
        if overtaken {
            spool.go_to(lap);
        }
        // A batch of another's says nothing of ours: it knew the tail, so we did not.
        spool.catch_up(|slip| overtaken |= slip == Slip::Bell)?;
        if overtaken {
            db.tails.forget();
            let stowed = stowed(&db.connection).map_err(db.fault())?;
            // Whoever ended the lap may have died, or failed, before the next was begun.
            if stowed.lap > spool.end().lap {
                spool.begin(stowed.lap)?;
            }
        }
        Ok(())
    }

    /// Puts on the spool what can go there. What can't, or could not be written, takes a transaction.
    fn put_on_spool(&mut self, group: &mut [Box<dyn Job>]) {
        let mut staged = self.spool.staging();
        group.iter_mut().for_each(|job| job.spool(&self.db, &mut staged));
        if staged.is_empty() {
            return;
        }
        #[cfg(debug_assertions)]
        let appends = appends(group, Way::Spool);
        #[cfg(debug_assertions)]
        self.announce(AppendPoint::Before, appends);
        if self.spool.put(&staged).is_err() {
            self.db.tails.forget();
            group.iter_mut().for_each(|job| job.take_transaction());
            return;
        }
        #[cfg(debug_assertions)]
        self.count(appends);
    }

    /// A sync that failed can't be tried again: the system may hold for written what is not. Then all of the
    /// spool goes into the database, with a sync of its own.
    fn sync_spool(&mut self) -> Result<(), StoreError> {
        match self.durability {
            Durability::Full => self.spool.sync().or_else(|_| self.next_lap()),
            Durability::Normal => Ok(()),
        }
    }

    /// Each job alone.
    fn transact_each(&mut self, group: &mut [Box<dyn Job>]) {
        for job in group.chunks_mut(1).filter(|job| job[0].way() == Way::Transaction) {
            if let Err(error) = self.catch_up().and_then(|()| self.transact(job)) {
                job[0].fail(error);
            }
        }
    }

    /// The jobs of `group` that need one, in one transaction; gives what they needed. On error nothing of it is
    /// stored.
    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<Needs, StoreError> {
        by_transaction(group).for_each(|job| job.prepare(&self.files));
        let needs = by_transaction(group).map(|job| job.needs()).max().unwrap_or(Needs::Tables).max(self.left_over());
        self.in_transaction(needs, |committer| {
            by_transaction(group).try_for_each(|job| job.write(&committer.db))?;
            #[cfg(debug_assertions)]
            committer.announce(AppendPoint::Before, appends(group, Way::Transaction));
            Ok(())
        })?;
        self.found = None;
        self.backlog += by_transaction(group).map(|job| job.bytes()).sum::<usize>();
        #[cfg(debug_assertions)]
        self.count(appends(group, Way::Transaction));
        Ok(needs)
    }

    /// What a process finds on the spool is stowed by its first transaction: loss of power may have left slips there
    /// that follow nothing, and must not follow what is written now.
    fn left_over(&self) -> Needs {
        if self.found.is_some_and(|found| found != self.spool.end()) { Needs::Journal } else { Needs::Tables }
    }

    /// A transaction of `work` on a database that has what it needs. On error nothing of it is stored, as far as is
    /// known; before anything else is written it must be caught up.
    fn in_transaction(
        &mut self,
        needs: Needs,
        work: impl FnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let result = self.begin_and_commit(needs, work);
        if result.is_err() {
            self.db.tails.forget();
            self.spool.lose_place();
            if !self.db.connection.is_autocommit() {
                // Where this fails too, the next BEGIN says so.
                let _ = self.db.execute("ROLLBACK", []);
            }
        }
        self.backlog += result?;
        Ok(())
    }

    /// Gives how many bytes of the spool were stowed.
    fn begin_and_commit(
        &mut self,
        needs: Needs,
        work: impl FnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<usize, StoreError> {
        self.db.execute("BEGIN IMMEDIATE", [])?;
        let stowed = match needs {
            Needs::Journal => stow(&self.db, &self.spool)?,
            Needs::Tables => 0,
        };
        work(self)?;
        if needs == Needs::Journal {
            // Before the commit: behind it there may be nobody left to do so.
            self.spool.ring()?;
        }
        self.db.execute("COMMIT", [])?;
        Ok(stowed)
    }

    /// Changes with everything that is written.
    pub(super) fn written(&self) -> (Position, usize) {
        (self.spool.end(), self.backlog)
    }

    /// What is to be looked after now.
    pub(super) fn upkeep(&self) -> Upkeep {
        let due = |upkeep: &Upkeep| self.is_spool_long(*upkeep) || self.is_log_long(*upkeep);
        [Upkeep::AtOnce, Upkeep::InAPause].into_iter().find(due).unwrap_or(Upkeep::Nothing)
    }

    fn is_spool_long(&self, upkeep: Upkeep) -> bool {
        let length = self.spool.end().offset;
        match upkeep {
            Upkeep::Nothing => false,
            Upkeep::InAPause => length >= self.long.min(IDLE_SPOOL),
            Upkeep::AtOnce => length >= self.long,
        }
    }

    fn is_log_long(&self, upkeep: Upkeep) -> bool {
        match upkeep {
            Upkeep::Nothing => false,
            Upkeep::InAPause => self.backlog >= IDLE_BACKLOG,
            Upkeep::AtOnce => self.backlog >= FULL_BACKLOG,
        }
    }

    /// Begins the spool anew where it is long, and moves the write-ahead log into the database where that is. What
    /// can't be done now is done another time.
    pub(super) fn keep_up(&mut self, upkeep: Upkeep) {
        // In a pause there is time to come back.
        let patience = if upkeep == Upkeep::AtOnce { Patience::Wait } else { Patience::No };
        if self.is_spool_long(upkeep) && self.lock.take(patience) == Ok(Held::Here) {
            // Where it can't, the spool grows on.
            let _ = self.see_to_files().and_then(|()| self.next_lap());
            self.lock.release();
        }
        if self.is_log_long(upkeep) {
            self.checkpoint();
        }
    }

    /// Stows the spool for good, since it is about to be written over, and begins its next lap.
    fn next_lap(&mut self) -> Result<(), StoreError> {
        self.catch_up()?;
        let next = Position::start_of(self.spool.end().lap + 1);
        self.sync_commits(Durability::Full)?;
        let stowed = self.in_transaction(Needs::Journal, |committer| note(&committer.db, next));
        let begun = stowed.and_then(|()| self.spool.begin(next.lap));
        self.sync_commits(self.durability)?;
        begun
    }

    fn sync_commits(&self, durability: Durability) -> Result<(), StoreError> {
        schema::sync_commits(&self.db.connection, durability).map_err(self.db.fault())
    }

    /// Stows the spool, so that the database alone has everything; unless another process is writing.
    pub(super) fn close(&mut self) {
        if self.lock.take(Patience::No) == Ok(Held::Here) {
            // What stays on the spool is found there.
            let _ = self.stow_the_rest().and_then(|()| self.replace_spool());
            self.lock.release();
        }
    }

    /// A spool that was removed, alone, is missing no more when all of it is stowed.
    fn replace_spool(&self) -> Result<(), StoreError> {
        let removed = !self.folder.spool().exists() && self.folder.database().exists();
        if removed { spool::make(&self.folder, self.spool.end().lap) } else { Ok(()) }
    }

    /// Has the spool begun anew from this length on.
    #[cfg(test)]
    pub(super) fn lap_from(&mut self, length: u64) {
        self.long = length;
    }

    fn stow_the_rest(&mut self) -> Result<(), StoreError> {
        self.catch_up()?;
        let stowed = stowed(&self.db.connection).map_err(self.db.fault())?;
        if stowed == self.spool.end() { Ok(()) } else { self.in_transaction(Needs::Journal, |_| Ok(())) }
    }

    #[cfg(test)]
    pub(super) fn connection(&self) -> &Connection {
        &self.db.connection
    }

    /// Moves the write-ahead log into the database, as far as readers allow; the rest another time.
    fn checkpoint(&mut self) {
        let _ = self.db.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        self.backlog = 0;
    }

    #[cfg(debug_assertions)]
    fn announce(&self, point: AppendPoint, appends: u64) {
        if let Some(announce) = &self.on_append {
            (1..=appends).for_each(|n| announce(point, self.appends + n));
        }
    }

    /// Counts appends that are stored.
    #[cfg(debug_assertions)]
    fn count(&mut self, appends: u64) {
        self.announce(AppendPoint::After, appends);
        self.appends += appends;
    }
}

/// The lock last: it is the one that can be made again.
fn presence(folder: &Folder) -> Result<Presence, StoreError> {
    Presence::of(&folder.0, [folder.database(), folder.spool(), folder.write_lock()])
}

fn by_transaction(group: &mut [Box<dyn Job>]) -> impl Iterator<Item = &mut Box<dyn Job>> {
    group.iter_mut().filter(|job| job.way() == Way::Transaction)
}

#[cfg(debug_assertions)]
fn appends(group: &[Box<dyn Job>], way: Way) -> u64 {
    group.iter().filter(|job| job.way() == way).map(|job| job.appends()).sum()
}
