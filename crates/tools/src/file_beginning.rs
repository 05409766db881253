//! Reads the beginning of a file that goes into a run's prefix: instructions of a project, the head of a skill. No call
//! asks for it, so a file that rules forbid, or ask about, is left out (X5).

use std::io::{self, Cursor, Read};
use std::path::PathBuf;

use crate::about_files::READ;
use crate::builtin::file_kind::{SAMPLE, binary};
use crate::path_pattern::PathExtent;
use crate::workspace::is_refused_by_capability;
use crate::{FileRules, Workspace};

/// The beginning of a text file, with its secrets replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBeginning {
    /// The text, at most as many bytes as were asked for, whole characters.
    pub text: String,
    /// Whether the file is longer.
    pub is_cut: bool,
    /// Whether the bytes are UTF-8; those that are not are replaced by `U+FFFD`.
    pub is_utf8: bool,
    /// The file's path relative to the folder, symlinks resolved.
    pub real: PathBuf,
}

/// Why the beginning of a file is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileBeginningError {
    /// There is nothing of this name.
    #[error("there is no such file")]
    Missing,
    /// A rule forbids reading it, or asks first.
    #[error("a rule forbids reading it, or asks first")]
    Forbidden,
    /// A symlink leads out of the folder that all access goes through.
    #[error("it is a link that leads out of {}", .0.display())]
    Outside(PathBuf),
    /// It is no text, or can't be opened.
    #[error("{0}")]
    Unreadable(String),
}

impl Workspace {
    /// Reads at most `limit` bytes of the file at `path`, a path relative to the folder. A larger file costs no more.
    pub fn beginning(&self, path: &str, limit: u64, rules: &FileRules) -> Result<FileBeginning, FileBeginningError> {
        self.check_kind(path)?;
        if self.hides_from_model(path, rules) {
            return Err(FileBeginningError::Forbidden);
        }
        let real = self.names(path).real;
        let (file, _) = self.file(path, rules).map_err(|refusal| FileBeginningError::Unreadable(refusal.into()))?;
        self.read_beginning(file, limit, real).map_err(|error| FileBeginningError::Unreadable(error.to_string()))?
    }

    /// Whether a rule forbids showing the model this file of the folder unasked, by any of its names.
    #[must_use]
    pub fn hides_from_model(&self, path: &str, rules: &FileRules) -> bool {
        rules.hidden_files(&self.files(&[], READ, PathExtent::Itself)).has_any(&self.names(path).texts())
    }

    /// Refuses what is not a file of this folder.
    fn check_kind(&self, path: &str) -> Result<(), FileBeginningError> {
        let is_absent =
            |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        match self.dir().symlink_metadata(path) {
            Err(error) if is_absent(&error) => return Err(FileBeginningError::Missing),
            Err(_) | Ok(_) => {}
        }
        let unreadable = |why: &str| Err(FileBeginningError::Unreadable(why.to_owned()));
        match self.dir().metadata(path) {
            Ok(metadata) if metadata.is_file() => Ok(()),
            Ok(_) => unreadable("it is not a plain file"),
            Err(error) if is_refused_by_capability(&error) => Err(FileBeginningError::Outside(self.root().to_owned())),
            Err(error) if is_absent(&error) => unreadable("it is a link to nothing"),
            Err(error) => unreadable(&error.to_string()),
        }
    }

    fn read_beginning(
        &self,
        mut file: impl Read,
        limit: u64,
        real: PathBuf,
    ) -> io::Result<Result<FileBeginning, FileBeginningError>> {
        let mut sample = Vec::with_capacity(SAMPLE);
        file.by_ref().take(SAMPLE as u64).read_to_end(&mut sample)?;
        if let Some(kind) = binary(&sample) {
            return Ok(Err(FileBeginningError::Unreadable(format!("it is {kind}, not text"))));
        }
        let mut bytes = Vec::new();
        // One byte more shows that there is more.
        self.secrets().reader(Cursor::new(sample).chain(file)).take(limit + 1).read_to_end(&mut bytes)?;
        let is_cut = bytes.len() as u64 > limit;
        if is_cut {
            bytes.pop();
            complete_characters(&mut bytes);
        }
        let is_utf8 = std::str::from_utf8(&bytes).is_ok();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Ok(FileBeginning { text, is_cut, is_utf8, real }))
    }
}

/// Removes the part of a character that the limit has cut.
fn complete_characters(bytes: &mut Vec<u8>) {
    let start = bytes.len().saturating_sub(4);
    let last = (start..bytes.len()).rev().find(|at| bytes[*at] & 0xC0 != 0x80);
    if let Some(last) = last
        && std::str::from_utf8(&bytes[last..]).is_err_and(|error| error.error_len().is_none())
    {
        bytes.truncate(last);
    }
}
