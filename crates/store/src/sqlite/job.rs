//! What is to be written, and whoever waits for it.

use tokio::sync::oneshot;

use super::blobs::BlobFiles;
use super::commit::Db;
use super::spool::Staged;
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

    /// Instead of a transaction: stages what can go on the spool, and tells what the caller is told then.
    fn spool(&self, _db: &Db, _staged: &mut Staged) -> Option<Self::Output> {
        None
    }

    /// What must be up to date in the database for `write`.
    fn needs(&self) -> Needs {
        Needs::Journal
    }

    /// About how many bytes it writes.
    fn bytes(&self) -> usize;

    /// How many appends it makes, for those who count them.
    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        0
    }
}

/// What a transaction must find in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Needs {
    /// Only what is never on the spool.
    Tables,
    /// The journal of its session: the spool is stowed before. Others who know the session's tail forget it.
    Journal,
}

/// The way a job takes to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Spool,
    Transaction,
}

/// Work and the caller who waits for it, with the kind of work forgotten.
pub(super) trait Job: Send {
    fn spool(&mut self, db: &Db, staged: &mut Staged);
    fn way(&self) -> Way;
    fn needs(&self) -> Needs;
    fn take_transaction(&mut self);
    fn prepare(&mut self, files: &BlobFiles);
    fn write(&mut self, db: &Db) -> Result<(), StoreError>;
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
    way: Way,
    result: Option<Result<W::Output, StoreError>>,
    caller: oneshot::Sender<Result<W::Output, StoreError>>,
}

impl<W: Work> Pending<W> {
    pub(super) fn new(work: W, caller: oneshot::Sender<Result<W::Output, StoreError>>) -> Self {
        Self { work, way: Way::Transaction, result: None, caller }
    }
}

impl<W: Work> Job for Pending<W> {
    fn spool(&mut self, db: &Db, staged: &mut Staged) {
        self.result = self.work.spool(db, staged).map(Ok);
        self.way = if self.result.is_some() { Way::Spool } else { Way::Transaction };
    }

    fn way(&self) -> Way {
        self.way
    }

    fn needs(&self) -> Needs {
        self.work.needs()
    }

    fn take_transaction(&mut self) {
        self.way = Way::Transaction;
    }

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
