//! The tasks of the server that outlive a request.

use std::sync::{Mutex, PoisonError};

use tokio::task::JoinSet;

/// The tasks under way; they end with the server.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks(Mutex<JoinSet<()>>);

impl BackgroundTasks {
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that have ended are removed here, so that a server that runs for months keeps none.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
