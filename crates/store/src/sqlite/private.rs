//! What the store makes is its owner's alone, whatever folder it is made in and whatever the umask says.
//! SQLite gives the files beside its database the permissions of the database.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// A file to be made or opened, for writing.
pub(super) fn file() -> OpenOptions {
    let mut options = File::options();
    options.write(true).mode(0o600);
    options
}

/// A file that is locked: made where it is missing, and left as it is.
pub(super) fn lock_file(path: &Path) -> io::Result<File> {
    file().read(true).create(true).truncate(false).open(path)
}

/// Makes a file that was copied its owner's alone.
pub(super) fn make_own(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o600))
}

/// A folder that is not there yet.
pub(super) fn make_new_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// A folder, with those it is in.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}
