//! Reads the state of the file at a path.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, MetadataExt};
use windlass_vocab::{FileState, Hash};

use super::file_snapshot::FileSnapshot;
use super::omitted_files::OmittedFiles;
use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::{Secrets, Workspace, no_follow};

pub(super) const TOO_LARGE: &str = "too large";
const SECRET: &str = "with a secret in it";
const UNREADABLE: &str = "not readable";
pub(super) const SPECIAL: &str = "pipe, socket or device";
const NOT_TEXT: &str = "name or link is no UTF-8";

/// The observed state of one path.
pub(super) struct ObservedPath {
    pub(super) state: FileState,
    /// Its content, if it is kept.
    pub(super) content: Option<Arc<[u8]>>,
    /// Why the content is not kept.
    pub(super) left_out: Option<&'static str>,
}

impl ObservedPath {
    pub(super) fn plain(state: FileState) -> Self {
        Self { state, content: None, left_out: None }
    }

    fn unkept(metadata: &Metadata, why: &'static str) -> Self {
        Self { state: unkept(metadata), content: None, left_out: Some(why) }
    }
}

pub(super) fn unkept(metadata: &Metadata) -> FileState {
    FileState::Unkept {
        size: metadata.len(),
        modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
        inode: metadata.ino(),
    }
}

pub(super) fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

pub(super) fn mode(metadata: &Metadata) -> u32 {
    metadata.mode() & 0o7777
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(super) fn observe_entry(
    folder: &Dir,
    name: &Path,
    metadata: &Metadata,
    limit: u64,
    secrets: &Secrets,
) -> ObservedPath {
    if metadata.is_dir() {
        return ObservedPath::plain(FileState::Folder { mode: mode(metadata), inode: Some(metadata.ino()) });
    }
    if metadata.is_symlink() {
        let target = folder.read_link_contents(name).ok().and_then(|target| target.into_os_string().into_string().ok());
        return match target {
            Some(target) => ObservedPath::plain(FileState::Link { target, inode: Some(metadata.ino()) }),
            None => ObservedPath::unkept(metadata, NOT_TEXT),
        };
    }
    if !metadata.is_file() {
        return ObservedPath::unkept(metadata, SPECIAL);
    }
    if metadata.len() > limit {
        return ObservedPath::unkept(metadata, TOO_LARGE);
    }
    match read(folder, name, limit) {
        Err(_) => ObservedPath::unkept(metadata, UNREADABLE),
        Ok(None) => ObservedPath::unkept(metadata, TOO_LARGE),
        Ok(Some(content)) if secrets.is_in(&content) => ObservedPath::unkept(metadata, SECRET),
        Ok(Some(content)) => {
            let blob = Hash(*blake3::hash(&content).as_bytes());
            ObservedPath {
                state: FileState::File { blob, mode: mode(metadata), inode: Some(metadata.ino()) },
                content: Some(content.into()),
                left_out: None,
            }
        }
    }
}

/// Reads a whole regular file, or returns `None` if it is longer than `limit`.
fn read(folder: &Dir, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = no_follow::open_file(folder, name.as_os_str())?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut content = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok((content.len() as u64 <= limit).then_some(content))
}

impl Workspace {
    /// Reads the state of these paths, which contain no symlinks.
    #[must_use]
    pub fn snapshot_paths<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str>,
        bounds: SnapshotBounds,
        secrets: &Secrets,
    ) -> FileSnapshot {
        self.snapshot_recorded(paths, UnkeptFiles::default(), bounds, secrets)
    }

    /// Reads the state of recorded paths, some of which are recorded without their content.
    #[must_use]
    pub fn snapshot_recorded<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str>,
        recorded: UnkeptFiles,
        bounds: SnapshotBounds,
        secrets: &Secrets,
    ) -> FileSnapshot {
        let mut looking = SnapshotBuilder::new(bounds, recorded);
        for path in paths {
            looking.at(self, path, secrets);
        }
        looking.finish()
    }

    /// Reads the state of one recorded path. A path that now leads through a symlink or the folder of Windlass's own
    /// data counts as changed.
    pub(super) fn observe(&self, path: &str, recorded: &UnkeptFiles, limit: u64, secrets: &Secrets) -> ObservedPath {
        let elsewhere = |why| ObservedPath { state: FileState::OUT_OF_REACH, content: None, left_out: Some(why) };
        let path = Path::new(path);
        if !self.is_plain(path) {
            return elsewhere("no longer reached without a link");
        }
        self.about_to_open();
        let (parent, name) = (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
        let found =
            no_follow::open_folder(self.dir(), parent).and_then(|folder| Ok((folder.symlink_metadata(name)?, folder)));
        match found {
            Ok((metadata, folder)) => match recorded.find(&metadata) {
                Some(state) => ObservedPath::plain(state.clone()),
                None => observe_entry(&folder, Path::new(name), &metadata, limit, secrets),
            },
            Err(error) if is_absent(&error) => ObservedPath::plain(FileState::Absent),
            Err(_) => elsewhere("no longer reached"),
        }
    }

    /// Whether the path contains no symlink and no folder closed to tools.
    pub(super) fn is_plain(&self, path: &Path) -> bool {
        let links = |ancestor: &Path| {
            !ancestor.as_os_str().is_empty()
                && self.dir().symlink_metadata(ancestor).is_ok_and(|metadata| metadata.is_symlink())
        };
        !self.is_closed(path) && !path.ancestors().skip(1).any(links)
    }
}

/// Builds a snapshot of paths, within bounds.
pub(super) struct SnapshotBuilder {
    bounds: SnapshotBounds,
    recorded: UnkeptFiles,
    left: u64,
    files: BTreeMap<String, FileState>,
    kept: BTreeMap<String, FileState>,
    contents: Vec<Arc<[u8]>>,
    pub(super) left_out: OmittedFiles,
}

impl SnapshotBuilder {
    pub(super) fn new(bounds: SnapshotBounds, recorded: UnkeptFiles) -> Self {
        let (files, kept, contents, left_out) = (BTreeMap::new(), BTreeMap::new(), Vec::new(), OmittedFiles::default());
        Self { bounds, recorded, left: bounds.total_bytes, files, kept, contents, left_out }
    }

    pub(super) fn at(&mut self, workspace: &Workspace, path: &str, secrets: &Secrets) -> Option<&'static str> {
        let seen = workspace.observe(path, &self.recorded, self.limit(), secrets);
        if self.recorded.has(&seen.state) {
            self.keep(workspace, path, &seen.state, secrets);
        }
        self.store(seen.content);
        self.files.insert(path.to_owned(), seen.state);
        seen.left_out
    }

    /// Keeps the content of a file that is recorded without it, if that is possible now and the file did not change
    /// meanwhile.
    fn keep(&mut self, workspace: &Workspace, path: &str, state: &FileState, secrets: &Secrets) {
        let seen = workspace.observe(path, &UnkeptFiles::default(), self.limit(), secrets);
        let is_the_same = workspace.observe(path, &self.recorded, 0, secrets).state == *state;
        if seen.content.is_some() && is_the_same {
            self.store(seen.content);
            self.kept.insert(path.to_owned(), seen.state);
        }
    }

    fn store(&mut self, content: Option<Arc<[u8]>>) {
        self.left = self.left.saturating_sub(content.as_ref().map_or(0, |content| content.len() as u64));
        self.contents.extend(content);
    }

    fn limit(&self) -> u64 {
        self.bounds.file_bytes.min(self.left)
    }

    pub(super) fn finish(self) -> FileSnapshot {
        let coverage = self.left_out.coverage();
        FileSnapshot { files: self.files, kept: self.kept, contents: self.contents, coverage }
    }
}

/// Returns the path as records store it, or `None` if it is not UTF-8.
pub(super) fn path_text(path: &Path) -> Option<String> {
    PathBuf::from(path).into_os_string().into_string().ok()
}
