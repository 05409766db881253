//! Writes files atomically: to a temporary file beside the target, synced, then renamed. Readers
//! find the old content or the new, also after a crash.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Who may read a file afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadableBy {
    /// Everyone who may read new files of this user.
    Usual,
    /// Only the owner.
    Owner,
    /// Those who could read it before; only the owner if the file is new.
    AsBefore,
}

/// Writes `bytes` to `path`, in an existing folder. Concurrent writers are safe: the last one wins.
pub fn write_whole(path: &Path, bytes: &[u8], readers: ReadableBy) -> io::Result<()> {
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let time = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let beside = folder.join(format!(".{name}.{}-{time}.tmp", std::process::id()));
    // Remove a file that a dead process with the same pid left.
    let _ = std::fs::remove_file(&beside);
    let written = write_beside(&beside, bytes, readers, path).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    } else {
        // The file is written; failing to sync the folder does not undo that.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    written
}

fn write_beside(beside: &Path, bytes: &[u8], readers: ReadableBy, path: &Path) -> io::Result<()> {
    let mode = match readers {
        ReadableBy::Usual => 0o644,
        // Never readable by others, not even for a moment.
        ReadableBy::Owner | ReadableBy::AsBefore => 0o600,
    };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(beside)?;
    file.write_all(bytes)?;
    if let (ReadableBy::AsBefore, Ok(before)) = (readers, path.metadata()) {
        file.set_permissions(Permissions::from_mode(before.permissions().mode() & 0o7777))?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    // proves X1: a file for its owner alone is never readable by others
    #[test]
    fn who_may_read_is_as_was_said_and_nothing_is_left_beside() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("tokens.json");
        write_whole(&path, b"1", ReadableBy::Owner).unwrap();
        assert_eq!(mode(&path), 0o600);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_whole(&path, b"2", ReadableBy::AsBefore).unwrap();
        assert_eq!((mode(&path), std::fs::read(&path).unwrap()), (0o640, b"2".to_vec()));
        write_whole(&room.path().join("new"), b"", ReadableBy::AsBefore).unwrap();
        assert_eq!(mode(&room.path().join("new")), 0o600);
        assert!(write_whole(&room.path().join("none/new"), b"", ReadableBy::Usual).is_err());
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 2);
    }

    // proves J9: the file never mixes the contents of two writers
    #[test]
    fn many_who_write_at_once_leave_one_whole_file() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("listing.json");
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        write_whole(path, &[writer; 100_000], ReadableBy::Usual).unwrap();
                    }
                });
            }
        });
        let content = std::fs::read(&path).unwrap();
        assert!(content.len() == 100_000 && content.iter().all(|byte| *byte == content[0]));
        assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 1);
    }
}
