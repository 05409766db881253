//! Commands that outlive the Windlass process that started them: only until their guard has killed them, but a session
//! must not be resumed before that (J4).

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use windlass_vocab::{CallId, SessionId};

const ROUND: Duration = Duration::from_millis(5);

/// The session can't be resumed yet.
#[derive(Debug, thiserror::Error)]
pub enum SurvivorsError {
    /// A guard is still running.
    #[error(
        "a command that an earlier Windlass started for this session is still being ended (guard process {guard}, lock \
         {}); try again when it is gone",
        lock.display()
    )]
    StillRunning {
        /// The lock file of its call.
        lock: PathBuf,
        /// The guard's process id.
        guard: String,
    },
    /// The lock files can't be read.
    #[error("the lock files of running commands in {} can't be read: {source}", folder.display())]
    Unreadable {
        /// Their folder.
        folder: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
}

/// Returns the file whose lock shows that a call's command may be running.
pub(crate) fn lock_path(lock_dir: &Path, session: SessionId, call: CallId) -> PathBuf {
    lock_dir.join(format!("{session}.{call}.lock"))
}

/// Returns the temporary folder of a call in the sandbox, beside its lock file.
pub(crate) fn temp_path(lock: &Path) -> PathBuf {
    lock.with_extension("tmp")
}

/// Waits, up to `patience`, until no command that an earlier process started for `session` is running or can still
/// start. The owner of a session calls this before it resumes the session. Blocks, though nearly always for no time at
/// all. Returns the number of lock files found.
pub fn wait_for_survivors(lock_dir: &Path, session: SessionId, patience: Duration) -> Result<usize, SurvivorsError> {
    let unreadable = |source| SurvivorsError::Unreadable { folder: lock_dir.to_owned(), source };
    let deadline = Instant::now() + patience;
    let locks = locks_of(lock_dir, session).map_err(unreadable)?;
    for lock in &locks {
        while !is_free(lock).map_err(unreadable)? {
            if Instant::now() >= deadline {
                let guard = std::fs::read_to_string(lock).unwrap_or_default().trim().to_owned();
                return Err(SurvivorsError::StillRunning { lock: lock.clone(), guard });
            }
            thread::sleep(ROUND);
        }
    }
    Ok(locks.len())
}

fn locks_of(lock_dir: &Path, session: SessionId) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(lock_dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let prefix = format!("{session}.");
    let mut locks = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(".lock") {
            locks.push(entry.path());
        }
    }
    Ok(locks)
}

/// Whether no process has locked the file. If so, this function locks and removes it, so that a guard that was started
/// but has not locked its file yet starts nothing.
fn is_free(lock: &Path) -> io::Result<bool> {
    let file = match File::options().read(true).write(true).open(lock) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        file => file?,
    };
    match file.try_lock() {
        Ok(()) => {
            // Left by a guard that was killed; if it can't be removed, it does no harm.
            let _ = std::fs::remove_dir_all(temp_path(lock));
            match std::fs::remove_file(lock) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(true),
            }
        }
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
