//! Whether a file is under version control with its present content: whether git's index of the repository names it
//! with its present size and modification time. Content written over it since, by anyone, is in no version. The index
//! file is parsed directly (versions 2 to 4); git itself is not run, because a repository's configuration may make it
//! run other programs.
//!
//! ```text
//! "DIRC" | version 4 | entries 4 | entry: stat data 40 | object id 20 | flags 2 | more flags 2 if so flagged | name
//! stat data: ctime 4 + 4 | mtime, seconds 4, nanoseconds 4 | dev 4 | ino 4 | mode 4 | uid 4 | gid 4 | size 4
//! ```
//!
//! Up to version 3 an entry is padded with one to eight zero bytes to a multiple of eight. In version 4 a name consists
//! of the number of bytes to remove from the end of the previous name, and the bytes to append, up to a zero byte.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use windlass_sandbox::{read_plain, read_plain_text};

/// A longer index is not read: half a million files have one of this length.
const LONGEST_INDEX: u64 = 64 << 20;
/// A longer `.git` file is not a valid reference to a repository.
const LONGEST_LINK: u64 = 64 << 10;

/// Length of stat data, object id and flags.
const FIXED: usize = 62;
const HEADER: usize = 12;
/// The flag that announces two more bytes of flags.
const EXTENDED: u8 = 0x40;

/// Offsets of the modification time and the size in the stat data.
const MTIME: usize = 8;
const SIZE: usize = 36;

/// Modification time and size of a file, with the precision of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IndexStamp {
    seconds: u32,
    /// Zero if the program that wrote the index does not record nanoseconds.
    nanoseconds: u32,
    size: u32,
}

impl IndexStamp {
    fn of(metadata: &fs::Metadata) -> Self {
        // The index stores the lower 32 bits of each.
        let lower = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        Self {
            seconds: lower(metadata.mtime().cast_unsigned()),
            nanoseconds: lower(metadata.mtime_nsec().cast_unsigned()),
            size: lower(metadata.size()),
        }
    }

    fn within(entry: &[u8]) -> Option<Self> {
        let number = |at: usize| entry.get(at..)?.first_chunk().copied().map(u32::from_be_bytes);
        Some(Self { seconds: number(MTIME)?, nanoseconds: number(MTIME + 4)?, size: number(SIZE)? })
    }

    /// Whether a file with this stamp is the one in the index with `known`. Compares milliseconds, because some
    /// programs that write an index record no more.
    fn is(self, known: Self) -> bool {
        let millis = |stamp: Self| stamp.nanoseconds / 1_000_000;
        let same_time = known.nanoseconds == 0 || millis(self) == millis(known);
        same_time && (self.seconds, self.size) == (known.seconds, known.size)
    }
}

/// Whether git's index has the file at `path`, absolute and without symlinks, with its present content. False if there
/// is no repository, or if its index can't be read.
pub(crate) fn is_tracked(path: &Path) -> bool {
    let Some((root, git)) = repository(path) else { return false };
    let (Ok(name), Ok(metadata)) = (path.strip_prefix(root), path.metadata()) else { return false };
    let index = read_plain(&git.join("index"), LONGEST_INDEX).unwrap_or_default();
    let known = stamp_of(&index, name.as_os_str().as_encoded_bytes());
    known.is_some_and(|known| IndexStamp::of(&metadata).is(known))
}

/// Returns the nearest repository above a file: its folder, and the folder of its index.
fn repository(path: &Path) -> Option<(&Path, PathBuf)> {
    path.ancestors().skip(1).find_map(|folder| {
        let git = folder.join(".git");
        let found = fs::metadata(&git).ok()?;
        if found.is_dir() {
            return Some((folder, git));
        }
        // The `.git` file of a worktree or a submodule names the repository.
        let said = read_plain_text(&git, LONGEST_LINK).ok()?;
        let place = said.strip_prefix("gitdir:")?.trim();
        Some((folder, folder.join(place)))
    })
}

/// Returns the stamp of the file of this name in the index; `None` if the index lacks it or can't be read.
fn stamp_of(index: &[u8], wanted: &[u8]) -> Option<IndexStamp> {
    let (header, entries) = index.split_at_checked(HEADER)?;
    let version = header.strip_prefix(b"DIRC")?.first_chunk().copied().map(u32::from_be_bytes)?;
    let count = header.last_chunk().copied().map(u32::from_be_bytes)?;
    let mut entries = IndexEntries { rest: entries, name: Vec::new() };
    for _ in 0..count {
        let entry = entries.rest;
        match version {
            2 | 3 => entries.next_padded()?,
            4 => entries.next_compressed()?,
            _ => return None,
        }
        if entries.name == wanted {
            return IndexStamp::within(entry);
        }
    }
    None
}

/// An iterator over the entries.
struct IndexEntries<'i> {
    rest: &'i [u8],
    /// The name of the last entry read.
    name: Vec<u8>,
}

impl IndexEntries<'_> {
    fn next_padded(&mut self) -> Option<()> {
        let fixed = self.fixed()?;
        let length = self.rest.get(fixed..)?.iter().position(|byte| *byte == 0)?;
        self.name = self.rest.get(fixed..fixed + length)?.to_vec();
        let whole = (fixed + length + 8) / 8 * 8;
        self.rest = self.rest.get(whole..)?;
        Some(())
    }

    fn next_compressed(&mut self) -> Option<()> {
        let fixed = self.fixed()?;
        let (taken_off, behind) = variable(self.rest.get(fixed..)?)?;
        let length = behind.iter().position(|byte| *byte == 0)?;
        self.name.truncate(self.name.len().checked_sub(taken_off)?);
        self.name.extend(behind.get(..length)?);
        self.rest = behind.get(length + 1..)?;
        Some(())
    }

    /// Returns the length of the part before the name.
    fn fixed(&self) -> Option<usize> {
        let flags = self.rest.get(FIXED - 2)?;
        Some(if flags & EXTENDED == 0 { FIXED } else { FIXED + 2 })
    }
}

/// Decodes git's variable-length number: seven bits per byte, highest first; each byte but the last has its eighth bit
/// set and adds one.
fn variable(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let (mut byte, mut number) = (*first, usize::from(first & 0x7f));
    while byte & 0x80 != 0 {
        let (next, behind) = rest.split_first()?;
        number = number.checked_add(1)?.checked_mul(128)? | usize::from(next & 0x7f);
        (byte, rest) = (*next, behind);
    }
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(folder: &Path, words: &[&str]) {
        let ran = Command::new("git").current_dir(folder).args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }

    // proves X4
    #[test]
    fn git_s_own_index_is_read_in_every_version() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        git(&root, &["init", "-q"]);
        let tracked = ["a", "docs/a file.md", "docs/b.md", "docs/deep/er/c", "src/lib.rs", "src/lib.rs.orig", "é"];
        for name in tracked {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), name).unwrap();
            git(&root, &["add", "--", name]);
        }
        fs::write(root.join("docs/new.md"), "x").unwrap();
        for version in ["2", "3", "4"] {
            git(&root, &["update-index", "--index-version", version]);
            if version == "3" {
                git(&root, &["update-index", "--skip-worktree", "a"]);
            }
            for name in tracked {
                assert!(is_tracked(&root.join(name)), "{name} in version {version}");
            }
            for name in ["docs/new.md", "docs", "lib.rs", "src/lib", ".git/config", "b"] {
                assert!(!is_tracked(&root.join(name)), "{name} in version {version}");
            }
        }
        let tree = root.join("tree");
        git(&root, &["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]);
        git(&root, &["worktree", "add", "-q", tree.to_str().unwrap()]);
        assert!(is_tracked(&tree.join("docs/b.md")) && !is_tracked(&tree.join("docs/new.md")));
    }

    // proves X4: text from outside was copied over a tracked file
    #[test]
    fn a_file_that_was_changed_since_it_was_added_is_not_under_version_control() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("README");
        git(dir.path(), &["init", "-q"]);
        fs::write(&file, "one").unwrap();
        let set_time = |seconds| {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        };
        set_time(1_700_000_000);
        git(dir.path(), &["add", "README"]);
        assert!(is_tracked(&file));
        fs::write(&file, "other").unwrap();
        set_time(1_700_000_000);
        assert!(!is_tracked(&file), "another length");
        fs::write(&file, "two").unwrap();
        set_time(1_700_000_001);
        assert!(!is_tracked(&file), "another time");
        git(dir.path(), &["add", "README"]);
        assert!(is_tracked(&file), "taken into the index as it is");
    }

    // proves X4: a pipe or device in place of a repository's file does not block
    #[test]
    fn a_pipe_or_a_device_in_a_repository_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let pipe = |path: PathBuf| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        fs::create_dir_all(root.join("sub/.git")).unwrap();
        fs::create_dir_all(root.join("zero/.git")).unwrap();
        fs::create_dir_all(root.join("linked")).unwrap();
        pipe(root.join("sub/.git/index"));
        pipe(root.join("linked/.git"));
        std::os::unix::fs::symlink("/dev/zero", root.join("zero/.git/index")).unwrap();
        let long = fs::File::create(root.join("zero/long")).unwrap();
        long.set_len(LONGEST_INDEX + 1).unwrap();
        for name in ["sub", "zero", "linked"] {
            fs::write(root.join(name).join("x"), "x").unwrap();
            assert!(!is_tracked(&root.join(name).join("x")), "{name}");
        }
        fs::remove_file(root.join("zero/.git/index")).unwrap();
        fs::rename(root.join("zero/long"), root.join("zero/.git/index")).unwrap();
        assert!(!is_tracked(&root.join("zero/x")));
    }

    #[test]
    fn what_is_no_index_names_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_tracked(&dir.path().join("a")), "no repository");
        for index in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x09", b"DIRC\0\0\0\x09\0\0\0\x01", &[0xff; 200]] {
            assert_eq!(stamp_of(index, b"a"), None);
        }
        let mut cut = b"DIRC\0\0\0\x04\0\0\0\x02".to_vec();
        cut.extend([0; FIXED]);
        cut.extend([0x80; 40]);
        assert_eq!(stamp_of(&cut, b"a"), None);
    }
}
