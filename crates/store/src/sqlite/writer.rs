//! The write path: one writer at a time, in this process and among all processes.
//!
//! A thread takes all waiting jobs and commits them together; no job waits longer than necessary.
//! If nobody else is writing, the caller commits on its own thread, which costs less than waking another
//! thread and being woken by it; but only a commit that does not block others: one that does not sync to
//! disk (`Durability::Normal`), or one in a process that owns a single session. Jobs that would wait for
//! another process, and moving the write-ahead log into the database, are left to the thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::oneshot;

use super::claims::OwnedCount;
use super::commit::{CheckpointTiming, Committer};
use super::folder::DataFolder;
use super::job::{Job, PendingJob, Work};
use super::options::{Durability, SqliteOptions};
use super::queue::CommitPatience;
use super::schema::OpenedDatabase;
use crate::{AppendError, Loss, StoreError};

/// The most jobs in one transaction.
const GROUP: usize = 512;

/// The most bytes that a caller writes on its own thread.
const HERE: usize = 256 * 1024;

/// How long the queue must be empty for the writer to count as idle.
const IDLE: Duration = Duration::from_millis(250);

/// The writer thread. Dropping this waits until every submitted job is written.
pub(super) struct WriterThread {
    shared: Arc<WriterQueue>,
    jobs: Option<Sender<WakeReason>>,
    thread: Option<JoinHandle<()>>,
}

struct WriterQueue {
    folder: DataFolder,
    committer: Mutex<Committer>,
    /// Number of jobs sent to the thread and not yet committed.
    queued: AtomicUsize,
    durability: Durability,
    owned: OwnedCount,
}

/// Why the thread is woken.
enum WakeReason {
    Write(Box<dyn Job>),
    /// A checkpoint became due, at once or when the writer is idle.
    CheckpointDue,
}

impl WriterQueue {
    fn committer(&self) -> MutexGuard<'_, Committer> {
        self.committer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WriterThread {
    pub(super) fn start(
        folder: &DataFolder,
        opened: OpenedDatabase,
        options: SqliteOptions,
        owned: OwnedCount,
    ) -> Result<Self, StoreError> {
        let shared = Arc::new(WriterQueue {
            folder: folder.clone(),
            durability: options.durability,
            committer: Mutex::new(Committer::new(folder, opened, options)?),
            queued: AtomicUsize::new(0),
            owned,
        });
        let (jobs, wakes) = mpsc::channel();
        let writer = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("windlass-writer".into())
            .spawn(move || run(&writer, &wakes))
            .map_err(|error| StoreError::of_io(&folder.0, &error))?;
        Ok(Self { shared, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Continues without the missing commits.
    pub(super) fn accept_loss(&self) -> Result<Option<Loss>, StoreError> {
        self.shared.committer().accept_loss(&self.shared.folder)
    }

    /// Submits work and waits for its commit.
    pub(super) async fn submit<W: Work>(&self, work: W) -> Result<W::Output, AppendError> {
        let (caller, answer) = oneshot::channel();
        if let Some(job) = self.write_here(Box::new(PendingJob::new(work, caller))) {
            self.shared.queued.fetch_add(1, Ordering::AcqRel);
            if !self.send(WakeReason::Write(job)) {
                return Err(AppendError::Refused(StoreError::Closed));
            }
        }
        answer.await.unwrap_or_else(|_| Err(AppendError::Unknown { why: "the thread that writes ended".into() }))
    }

    /// Commits on this thread if that needs no waiting; otherwise returns the job.
    fn write_here(&self, job: Box<dyn Job>) -> Option<Box<dyn Job>> {
        let keeps_others_waiting = match self.shared.durability {
            Durability::Full => self.shared.owned.count() > 1,
            Durability::Normal => false,
        };
        if keeps_others_waiting || self.shared.queued.load(Ordering::Acquire) > 0 || job.bytes() > HERE {
            return Some(job);
        }
        let Ok(mut committer) = self.shared.committer.try_lock() else { return Some(job) };
        let before = committer.checkpoint_timing();
        let mut group = [job];
        let result = committer.commit(&mut group, CommitPatience::No);
        let after = committer.checkpoint_timing();
        drop(committer);
        let [job] = group;
        if result.is_err() {
            return Some(job);
        }
        if before != after {
            self.send(WakeReason::CheckpointDue);
        }
        job.answer();
        None
    }

    /// Sends a job to the thread; false if the thread is gone.
    fn send(&self, reason: WakeReason) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(reason).is_ok())
    }
}

impl std::fmt::Debug for WriterThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriterThread").field("queued", &self.shared.queued).finish_non_exhaustive()
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been printed, and its callers got an error.
            let _ = thread.join();
        }
    }
}

/// The main loop of the thread.
fn run(shared: &WriterQueue, wakes: &Receiver<WakeReason>) {
    while let Some(first) = next(shared, wakes) {
        let waiting = std::iter::once(first).chain(wakes.try_iter()).take(GROUP);
        let mut group: Vec<_> = waiting.filter_map(WakeReason::job).collect();
        if !group.is_empty() {
            // With `CommitPatience::Wait`, `commit` never returns `HeldElsewhere`.
            let _ = shared.committer().commit(&mut group, CommitPatience::Wait);
            shared.queued.fetch_sub(group.len(), Ordering::AcqRel);
            group.into_iter().for_each(Job::answer);
        }
    }
}

impl WakeReason {
    fn job(self) -> Option<Box<dyn Job>> {
        match self {
            Self::Write(job) => Some(job),
            Self::CheckpointDue => None,
        }
    }
}

/// Waits for the next [`WakeReason`]; `None` when the store is dropped. Moves the write-ahead log into the database if
/// that is due, before waiting or when idle.
fn next(shared: &WriterQueue, wakes: &Receiver<WakeReason>) -> Option<WakeReason> {
    loop {
        let mut committer = shared.committer();
        if committer.checkpoint_timing() == CheckpointTiming::Now {
            committer.checkpoint();
        }
        let (timing, backlog) = (committer.checkpoint_timing(), committer.backlog());
        drop(committer);
        if timing == CheckpointTiming::NotNeeded {
            return wakes.recv().ok();
        }
        match wakes.recv_timeout(IDLE) {
            Ok(reason) => return Some(reason),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                let mut committer = shared.committer();
                if committer.backlog() == backlog {
                    committer.checkpoint();
                }
            }
        }
    }
}
