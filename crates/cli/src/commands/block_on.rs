//! The async runtime of the commands.

use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// Runs a command's async part on the current thread: one thread is enough for one session.
pub(super) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| CommandError::new(Exit::Failed, format!("no threads to work with: {error}")))?;
    let done = runtime.block_on(work);
    // A thread blocked on keyboard input must not keep the process from exiting.
    runtime.shutdown_background();
    done
}
