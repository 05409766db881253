//! The async runtime of the commands.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;

/// How long the end of the process waits for its threads.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(500);

/// Runs a command's async part: the command itself on the current thread, and all that it spawns, sessions among it, on
/// another. Only the command writes to standard output and standard error, so a session goes on, can be stopped and can
/// be answered while the command is blocked in a write that nobody reads.
pub(super) fn block_on(work: impl Future<Output = CommandResult>) -> CommandResult {
    block_with(runtime(NonZeroUsize::MIN), work)
}

/// Like [`block_on`], with a thread for each core: for a command that serves many clients and sessions at once.
pub(super) fn block_on_all_cores(work: impl Future<Output = CommandResult>) -> CommandResult {
    block_with(runtime(available_parallelism().unwrap_or(NonZeroUsize::MIN)), work)
}

fn runtime(threads: NonZeroUsize) -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads.get()).enable_all().build()
}

fn block_with(runtime: std::io::Result<Runtime>, work: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime =
        runtime.map_err(|error| CommandError::new(Exit::Failed, format!("no threads to work with: {error}")))?;
    let done = runtime.block_on(work);
    // The tasks hold the store, which tidies up when the last of them is dropped. A thread that still waits for the
    // keyboard delays the exit by this limit, and no longer.
    runtime.shutdown_timeout(SHUTDOWN_LIMIT);
    done
}

#[cfg(test)]
mod tests {
    use std::thread::available_parallelism;

    use tokio::runtime::Handle;

    use super::{block_on, block_on_all_cores};
    use crate::exit::Exit;

    // proves W3: a server works on all cores, and a command of one person takes one thread
    #[test]
    fn a_server_has_a_thread_for_each_core() {
        let threads = |expected: usize| async move {
            assert_eq!(Handle::current().metrics().num_workers(), expected);
            Ok(Exit::Done)
        };
        assert!(block_on(threads(1)).is_ok());
        assert!(block_on_all_cores(threads(available_parallelism().unwrap().get())).is_ok());
    }
}
