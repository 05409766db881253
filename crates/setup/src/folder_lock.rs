//! One writer at a time in a folder, across processes: whoever reads a file there, changes it and writes it back holds this
//! lock meanwhile, or what another has written in between is lost.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// How long another process may take to write.
const PATIENCE: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(20);

/// Takes the lock; dropping the file gives it back. The lock is the folder's own and leaves nothing behind. `WouldBlock`
/// where another holds it for too long.
pub(crate) fn lock_folder(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    let begun = Instant::now();
    loop {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if begun.elapsed() < PATIENCE => std::thread::sleep(AGAIN),
            // Some file systems know no locks; the write itself is one step all the same.
            Err(Errno::NOTSUP | Errno::NOLCK | Errno::INVAL) => return Ok(file),
            Err(error) => return Err(error.into()),
        }
    }
}
