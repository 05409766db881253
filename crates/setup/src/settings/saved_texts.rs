//! Keeps the text of small files behind approved servers under its digest, so that a later change can be displayed as
//! a diff. Larger and binary files are compared by digest alone.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use windlass_store::hash_of;
use windlass_tools::{ReadableBy, write_whole};
use windlass_vocab::Hash;

/// Subfolder of the folder that holds the consent record.
const FOLDER: &str = "agreed-files";
/// The largest file that is kept, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Saves the contents of these files if they still have the approved digest. If saving fails, a later change is
/// reported without a diff.
pub fn save<'f>(place: &Path, files: impl IntoIterator<Item = (&'f PathBuf, &'f Hash)>) {
    let folder = place.join(FOLDER);
    for (path, hash) in files {
        let kept = folder.join(hash.to_string());
        if kept.exists() {
            continue;
        }
        let Some(text) = current_text(path, hash) else { continue };
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        let _ = made.and_then(|()| write_whole(&kept, text.as_bytes(), ReadableBy::Owner));
    }
}

/// Returns the saved content of a file with this digest.
pub fn saved_text(place: &Path, hash: &Hash) -> Option<String> {
    text_of(&place.join(FOLDER).join(hash.to_string()), hash)
}

/// Returns the content of the file at this path if it has this digest and is short enough to display.
pub fn current_text(path: &Path, hash: &Hash) -> Option<String> {
    text_of(path, hash)
}

/// Returns the text of a small file that has this digest.
fn text_of(path: &Path, hash: &Hash) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > LONGEST {
        return None;
    }
    let bytes = fs::read(path).ok().filter(|bytes| hash_of(bytes) == *hash)?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X2: the displayed former content is the approved content, and nothing else
    #[test]
    fn a_small_text_is_found_again_by_its_digest_and_what_was_exchanged_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            fs::write(&path, bytes).expect("written");
            (path, hash_of(bytes))
        };
        let small = write("small.js", b"one\n");
        let (large, binary) = (write("large", &[b'x'; 65 * 1024]), write("binary", b"a\0b"));
        let exchanged = (write("exchanged", b"now").0, hash_of(b"then"));
        let files = [&small, &large, &binary, &exchanged];
        save(dir.path(), files.map(|(path, hash)| (path, hash)));
        fs::remove_file(&small.0).expect("removed");
        let kept = files.map(|(_, hash)| saved_text(dir.path(), hash));
        assert_eq!(kept, [Some("one\n".to_owned()), None, None, None]);
        fs::write(dir.path().join(FOLDER).join(small.1.to_string()), "forged").expect("written");
        assert_eq!(saved_text(dir.path(), &small.1), None);
    }
}
