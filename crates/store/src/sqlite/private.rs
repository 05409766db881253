//! Creates files and folders that only their owner can access, whatever folder they are in and whatever the umask is.
//! SQLite gives the files beside its database the permissions of the database.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::StoreError;
use crate::error::place;

/// Options for creating or opening a file for writing.
pub(super) fn file() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(0o600);
    options
}

/// Opens a lock file: creates it if it is missing, and does not truncate it.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    file().read(true).create(true).truncate(false).open(path)
}

/// Copies a file to a path that does not exist yet, and returns the copy; `None` if there is no such file. An error
/// names the file that could not be read or written.
pub(super) fn copy(from: &Path, to: &Path) -> Result<Option<File>, StoreError> {
    let unread = |error: io::Error| StoreError::Io { place: place(from), why: error.to_string() };
    let unwritten = |error: io::Error| StoreError::of_io(to, &error);
    let mut source = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(unread)?,
    };
    let mut copy = file().create_new(true).open(to).map_err(unwritten)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(Some(copy)),
            Ok(read) => copy.write_all(&buffer[..read]).map_err(unwritten)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(unread(error)),
        }
    }
}

/// Creates a folder that does not exist yet.
pub(super) fn make_new_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates a folder and its missing parents.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::copy;
    use crate::StoreError;

    #[test]
    fn a_copy_that_fails_names_what_could_not_be_read_or_written() {
        let dir = tempfile::tempdir().unwrap();
        let [from, to, folder] = ["from", "to", "folder"].map(|name| dir.path().join(name));
        fs::create_dir(&folder).unwrap();
        assert!(copy(&from, &to).unwrap().is_none());
        fs::write(&from, vec![7; 100_000]).unwrap();
        let whole = copy(&from, &to).unwrap().unwrap();
        assert_eq!(whole.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&to).unwrap(), vec![7; 100_000]);
        let named = |error: Result<_, _>| match error.map(drop).unwrap_err() {
            StoreError::Io { place, .. } => place,
            other => panic!("{other:?}"),
        };
        // A folder can be opened like a file, but not read.
        assert_eq!(named(copy(&folder, &dir.path().join("new"))), folder.display().to_string());
        assert_eq!(named(copy(&from, &to)), to.display().to_string());
    }
}
