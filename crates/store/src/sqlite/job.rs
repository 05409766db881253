//! A write, and the caller that waits for it.

use tokio::sync::oneshot;

use super::blobs::BlobFiles;
use super::db::Database;
use crate::{AppendError, StoreError};

/// A write.
pub(super) trait Work: Send + 'static {
    /// The value returned to the caller.
    type Output: Send;

    /// Called within the transaction, before `write`: writes the files that it refers to.
    fn prepare(&self, _files: &BlobFiles) -> Result<(), StoreError> {
        Ok(())
    }

    /// Called within the transaction. A refusal must come before the first change.
    fn write(&self, db: &Database) -> Result<Self::Output, StoreError>;

    /// The value for the caller if the write is already stored; called after a commit of unknown outcome.
    fn stored(&self, _db: &Database) -> Result<Option<Self::Output>, StoreError> {
        Ok(None)
    }

    /// Called after the commit.
    fn finish(&self, _output: &Self::Output, _db: &Database, _files: &BlobFiles) {}

    /// About how many bytes the write adds.
    fn bytes(&self) -> usize;

    /// How many appends it makes, for tests that count them.
    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        0
    }
}

/// A write and its waiting caller, with the type of the work erased.
pub(super) trait Job: Send {
    /// Called before each transaction of this job: discards its result from a failed transaction.
    fn prepare(&mut self, files: &BlobFiles);
    fn write(&mut self, db: &Database) -> Result<(), StoreError>;
    fn is_stored(&mut self, db: &Database) -> Result<bool, StoreError>;
    fn fail(&mut self, error: AppendError);
    fn finish(&self, db: &Database, files: &BlobFiles);
    fn answer(self: Box<Self>);
    fn bytes(&self) -> usize;
    #[cfg(debug_assertions)]
    fn appends(&self) -> u64;
}

/// A job and its result.
pub(super) struct PendingJob<W: Work> {
    work: W,
    result: Option<Result<W::Output, AppendError>>,
    caller: oneshot::Sender<Result<W::Output, AppendError>>,
}

impl<W: Work> PendingJob<W> {
    pub(super) fn new(work: W, caller: oneshot::Sender<Result<W::Output, AppendError>>) -> Self {
        Self { work, result: None, caller }
    }
}

impl<W: Work> Job for PendingJob<W> {
    fn prepare(&mut self, files: &BlobFiles) {
        self.result = self.work.prepare(files).err().map(|error| Err(error.into()));
    }

    fn write(&mut self, db: &Database) -> Result<(), StoreError> {
        if self.result.is_some() {
            return Ok(());
        }
        match self.work.write(db) {
            Err(error) if !error.is_refusal() => Err(error),
            result => {
                self.result = Some(result.map_err(AppendError::from));
                Ok(())
            }
        }
    }

    fn is_stored(&mut self, db: &Database) -> Result<bool, StoreError> {
        self.result = self.work.stored(db)?.map(Ok);
        Ok(self.result.is_some())
    }

    fn fail(&mut self, error: AppendError) {
        self.result = Some(Err(error));
    }

    fn finish(&self, db: &Database, files: &BlobFiles) {
        if let Some(Ok(output)) = &self.result {
            self.work.finish(output, db, files);
        }
    }

    fn answer(self: Box<Self>) {
        // A caller that stopped waiting needs no answer.
        let _ = self.caller.send(self.result.unwrap_or(Err(AppendError::Refused(StoreError::Closed))));
    }

    fn bytes(&self) -> usize {
        self.work.bytes()
    }

    #[cfg(debug_assertions)]
    fn appends(&self) -> u64 {
        if matches!(self.result, Some(Ok(_))) { self.work.appends() } else { 0 }
    }
}
