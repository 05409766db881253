//! Reads a file that somebody else may have created. A read of a pipe blocks until somebody writes, and a device like
//! `/dev/zero` never ends: so only a regular file is read, and only up to a limit.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// Reads the whole regular file at `path`, following symlinks; an error if it has more than `most` bytes.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The same as text.
pub fn read_plain_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_plain(path, most)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens the regular file at `path`, following symlinks, for reading.
pub fn open_plain(path: &Path) -> io::Result<File> {
    // Opening a device may have side effects.
    check_regular(&path.metadata()?)?;
    let mut options = File::options();
    options.read(true);
    // The file may have been replaced since the check: opening a pipe would block until somebody writes.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &Metadata) -> io::Result<()> {
    let other = || io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file but a folder, pipe or device");
    metadata.is_file().then_some(()).ok_or_else(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X2: no file in a project can block Windlass or exhaust its memory
    #[test]
    fn only_a_regular_file_of_a_bounded_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "12345").unwrap();
        std::os::unix::fs::symlink("file", at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        for name in ["file", "link"] {
            assert_eq!(read_plain(&at(name), 5).unwrap(), b"12345");
            assert_eq!(read_plain(&at(name), 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        }
        for name in ["pipe", "zero", "."] {
            assert_eq!(read_plain(&at(name), 5).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        assert_eq!(read_plain(&at("none"), 5).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
