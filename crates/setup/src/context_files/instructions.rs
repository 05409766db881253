//! Reads AGENTS.md, or CLAUDE.md where there is none beside it: in the workspace, in the folders above it up to the root
//! of the repository, and in the person's own folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use windlass::{InstructionFile, ProjectInstructions};
use windlass_tools::{FileBeginning, FileBeginningError, Workspace};

use super::file_names::INSTRUCTIONS;
use super::nested::nested;
use super::notice::ContextProblem;
use super::reader::ContextReader;

/// The most of a file that is included.
const MOST_KIBIBYTES: u64 = 32;
/// The most files of a project that are included.
const MOST_FILES: usize = 8;

/// Reads the person's own instructions. It is their own file, so it may be a link to anywhere.
pub(super) fn of_user(reader: &mut ContextReader<'_>, folder: &Path) -> Option<InstructionFile> {
    let path = folder.join(INSTRUCTIONS[0]);
    path.symlink_metadata().ok()?;
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) => {
            reader.note(&path, ContextProblem::Unreadable(FileBeginningError::Unreadable(error.to_string())));
            return None;
        }
    };
    let opened = reader.open(real.parent()?)?;
    let name = real.file_name()?.to_str()?;
    let read = opened.beginning(name, MOST_KIBIBYTES * 1024, &reader.rules);
    file(reader, &path, path.display().to_string(), read)
}

/// Reads the project's instructions.
pub(super) fn of_project(reader: &mut ContextReader<'_>) -> ProjectInstructions {
    let opened = reader.open(reader.root()).zip(reader.open(reader.workspace));
    let Some((root, workspace)) = opened else { return ProjectInstructions::default() };
    let (mut files, mut seen) = (Vec::new(), BTreeSet::new());
    for folder in reader.folders.clone() {
        let Some((path, read)) = in_folder(reader, folder, &root) else { continue };
        if let Ok(read) = &read
            && (reader.is_hidden(&workspace, &reader.root().join(&read.real)) || !seen.insert(read.real.clone()))
        {
            continue;
        }
        if files.len() == MOST_FILES {
            reader.note(&path, ContextProblem::TooManyFiles { most: MOST_FILES });
            break;
        }
        let shown = path.strip_prefix(reader.workspace).unwrap_or(&path).display().to_string();
        files.extend(file(reader, &path, shown, read));
    }
    files.reverse();
    ProjectInstructions {
        files,
        nested: nested(reader.workspace, |path| !workspace.hides_from_model(path, &reader.rules)),
    }
}

/// Reads the file of a folder; `None` if it has none.
fn in_folder(
    reader: &ContextReader<'_>,
    folder: &Path,
    root: &Workspace,
) -> Option<(PathBuf, Result<FileBeginning, FileBeginningError>)> {
    let inside = folder.strip_prefix(reader.root()).ok()?;
    INSTRUCTIONS.iter().find_map(|name| {
        let read = root.beginning(inside.join(name).to_str()?, MOST_KIBIBYTES * 1024, &reader.rules);
        (read != Err(FileBeginningError::Missing)).then(|| (folder.join(name), read))
    })
}

/// Returns a file for the prefix, and notes what is wrong with it. A file that a rule forbids is left out silently, and
/// so is an empty one.
fn file(
    reader: &mut ContextReader<'_>,
    path: &Path,
    shown: String,
    read: Result<FileBeginning, FileBeginningError>,
) -> Option<InstructionFile> {
    let read = match read {
        Ok(read) => read,
        Err(FileBeginningError::Missing | FileBeginningError::Forbidden) => return None,
        Err(error) => {
            reader.note(path, ContextProblem::Unreadable(error));
            return None;
        }
    };
    if read.text.trim().is_empty() {
        return None;
    }
    if !read.is_utf8 {
        reader.note(path, ContextProblem::NotUtf8);
    }
    if read.is_cut {
        reader.note(path, ContextProblem::Cut { kibibytes: MOST_KIBIBYTES });
        return Some(InstructionFile::cut(&shown, &read.text));
    }
    Some(InstructionFile { path: shown, text: read.text.trim().to_owned() })
}
