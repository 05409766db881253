//! The embedded source: text files of folders, found by their words (SQLite FTS5).
//!
//! A thread of its own, started with the first search, walks the folders, brings the index up to date and answers. A
//! search waits a little for that, then gets what is there: a large folder is indexed over several turns, and no turn
//! waits for it.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;

use tokio::sync::oneshot;
use windlass_provider::BoxFuture;

use super::indexer::{FindRequest, IndexedFolder, Indexer};
use super::source::{ContextSource, Passage, SourceError};

/// Text files of folders, found by their words.
pub struct FileSource {
    name: String,
    folders: Vec<IndexedFolder>,
    index: Option<PathBuf>,
    requests: Mutex<Option<mpsc::Sender<FindRequest>>>,
}

impl std::fmt::Debug for FileSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileSource").field("name", &self.name).finish_non_exhaustive()
    }
}

impl FileSource {
    /// Makes a source of these folders. Its index is the file `index`, a cache that may be deleted at any time; without
    /// one it is kept in memory.
    #[must_use]
    pub fn new(name: impl Into<String>, folders: Vec<IndexedFolder>, index: Option<PathBuf>) -> Self {
        Self { name: name.into(), folders, index, requests: Mutex::default() }
    }

    fn send(&self, request: FindRequest) -> Result<(), SourceError> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let request = match requests.take() {
            Some(running) => match running.send(request) {
                Ok(()) => {
                    *requests = Some(running);
                    return Ok(());
                }
                // The thread has ended because its index failed: another one is tried.
                Err(mpsc::SendError(request)) => request,
            },
            None => request,
        };
        let (sender, receiver) = mpsc::channel();
        let _ = sender.send(request);
        let (folders, index) = (self.folders.clone(), self.index.clone());
        // Not a task of the runtime, which would wait for it when the program ends.
        let thread = std::thread::Builder::new().name("windlass-index".to_owned());
        let started = thread.spawn(move || Indexer::run(folders, index.as_deref(), &receiver));
        started.map_err(|error| SourceError(format!("its thread can't be started: {error}")))?;
        *requests = Some(sender);
        Ok(())
    }
}

impl ContextSource for FileSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn find(&self, message: &str, most: usize) -> BoxFuture<'static, Result<Vec<Passage>, SourceError>> {
        let (answer, answered) = oneshot::channel();
        let sent = self.send(FindRequest { message: message.to_owned(), most, since: Instant::now(), answer });
        Box::pin(async move {
            sent?;
            answered.await.unwrap_or_else(|_| Err(SourceError("its index failed".to_owned())))
        })
    }
}
