//! Restores files of the workspace from contents in the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use windlass_store::{Store, StoreError};
use windlass_tools::{Secrets, Workspace};
use windlass_vocab::Changes;

/// Makes these changes, with contents from the store; returns the paths that were left alone, and why.
pub(crate) async fn restore_files(
    store: &dyn Store,
    workspace: Arc<Workspace>,
    secrets: Arc<Secrets>,
    changes: Changes,
    mark: String,
) -> Result<BTreeMap<String, String>, StoreError> {
    let mut contents = HashMap::new();
    for hash in changes.values().filter_map(|change| change.now.blob()) {
        contents.extend(store.blob(hash).await?.map(|content| (hash, content)));
    }
    Ok(on_disk(move || workspace.restore(&changes, &contents, &secrets, &mark)).await)
}

/// Runs blocking disk work. A panic in it is propagated to the caller: the journal must not record the work as done.
pub(crate) async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that is shutting down drops blocking work; nobody awaits the result then.
            Err(_) => std::future::pending().await,
        },
    }
}
