//! The threads that a command's async part runs on.

use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// Runs a command's async part: one thread is plenty for one session.
pub(super) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::new(Exit::Failed, format!("no threads to work with: {error}")))?;
    let done = runtime.block_on(work);
    // A thread that still waits at the keyboard must not hold the process up.
    runtime.shutdown_background();
    done
}
