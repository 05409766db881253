//! Reading a file that somebody else may have put there. A pipe has no end until somebody writes to it, and a device
//! like `/dev/zero` has none at all: only a regular file is read, and not more of it than was asked for.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// The whole of the regular file at `path`, or at the end of the links there, if it has `most` bytes at most.
pub fn read_plain(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_plain(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}

/// The same as a text.
pub fn read_plain_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_plain(path, most)?).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Opens the regular file at `path`, or at the end of the links there, for reading.
pub fn open_plain(path: &Path) -> io::Result<File> {
    // To open a device may do something to it.
    check_regular(&path.metadata()?)?;
    let mut options = File::options();
    options.read(true);
    // What is there by now may be another: to open a pipe would wait for somebody to write to it.
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

    // proves X2: nothing that lies in a project can keep Windlass waiting, or eat its memory
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
