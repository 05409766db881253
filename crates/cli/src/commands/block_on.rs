//! The async runtime of the commands.

use std::time::Duration;

use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// How long the end of the process waits for its threads.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(500);

/// Runs a command's async part: the command itself on the current thread, and all that it spawns, sessions among it, on
/// another. Only the command writes to standard output and standard error, so a session goes on, can be stopped and can
/// be answered while the command is blocked in a write that nobody reads.
pub(super) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::new(Exit::Failed, format!("no threads to work with: {error}")))?;
    let done = runtime.block_on(work);
    // The tasks hold the store, which tidies up when the last of them is dropped. A thread that still waits for the
    // keyboard delays the exit by this limit, and no longer.
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    done
}
