//! A lock for a folder, across processes. A process holds it while it reads a file there, changes it and writes it
//! back; otherwise it would overwrite what another process wrote in between.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// How long to wait for another process to finish writing.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(20);

/// Takes the lock; dropping the returned file releases it. The lock is on the folder itself, so no lock file remains.
/// Returns `WouldBlock` when another process holds the lock for too long.
pub(crate) fn lock_folder(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => std::thread::sleep(AGAIN),
            // Some file systems don't support locks; the write itself is still atomic.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::INVAL) => return Ok(file),
            Err(error) => return Err(error.into()),
        }
    }
}
