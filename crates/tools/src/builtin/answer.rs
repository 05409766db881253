//! The answer of a built-in tool: known at once, or when the disk has done its work.

use std::time::Duration;

use windlass_vocab::{Outcome, OutcomeKind};

use crate::BoxFuture;
use crate::refusal::Refusal;

/// How long a file that is being written is waited for after a stop, rather than left to finish
/// unseen.
pub(super) const WRITE_GRACE: Duration = Duration::from_secs(2);

/// Runs what waits for the disk where it holds up nobody.
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

/// An answer that is known at once.
pub(super) fn ready(outcome: Outcome) -> BoxFuture<'static, Outcome> {
    Box::pin(std::future::ready(outcome))
}

pub(super) fn invalid_arguments(problem: String) -> BoxFuture<'static, Outcome> {
    ready(Outcome::new(OutcomeKind::InvalidArguments, problem))
}
