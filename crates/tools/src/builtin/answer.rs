//! The outcome of a built-in tool: known at once, or after disk I/O.

use std::time::Duration;

use windlass_vocab::{Outcome, OutcomeKind};

use crate::BoxFuture;
use crate::refusal::Refusal;

/// How long to wait after a stop for a file write in progress, instead of letting it finish unobserved.
pub(super) const WRITE_GRACE: Duration = Duration::from_secs(2);

/// Runs work that waits for the disk on a blocking thread.
pub(super) fn run_file_work(
    work: impl FnOnce() -> Result<String, Refusal> + Send + 'static,
) -> BoxFuture<'static, Outcome> {
    Box::pin(async move { run_blocking(work).await.map_or_else(Outcome::from, Outcome::ok) })
}

pub(super) async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that is shutting down drops blocking work; nobody waits for an answer then.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Returns an outcome that is known at once.
pub(super) fn ready(outcome: Outcome) -> BoxFuture<'static, Outcome> {
    Box::pin(std::future::ready(outcome))
}

pub(super) fn invalid_arguments(problem: String) -> BoxFuture<'static, Outcome> {
    ready(Outcome::new(OutcomeKind::InvalidArguments, problem))
}
