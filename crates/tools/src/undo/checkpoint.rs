//! Checkpoints of the workspace, taken before and after a command that may change any file in it.
//!
//! The whole workspace is scanned before and after, within bounds; the differences are the command's changes. Within a
//! session, a file whose stamp (size, times, inode, mode) is unchanged is not read again, and its content is not stored
//! again. The result claims nothing uncertain: a path that the first scan skipped is never reported as new.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Metadata, MetadataExt};
use windlass_vocab::{CallId, Change, Changes, Coverage, FileState, FilesChanged, Hash, SnapshotTaken};

use super::observe::{ObservedPath, TOO_LARGE, mode, nanoseconds, observe_entry, unkept};
use super::omitted_files::OmittedFiles;
use super::scan::{ListingExtent, ScannedEntry, SkippedPaths, scan};
use super::snapshot_bounds::SnapshotBounds;
use super::unkept_files::UnkeptFiles;
use crate::{Secrets, Workspace};

/// The coarsest time resolution of file systems: a file that changed within this time may change again with the same
/// timestamp.
const STEP: Duration = Duration::from_secs(2);

/// Detects a change of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileStamp {
    size: u64,
    modified: i64,
    changed: i64,
    inode: u64,
    mode: u32,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            mode: mode(metadata),
        }
    }

    /// Whether any later change would change the stamp.
    fn is_settled(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let step = i64::try_from(STEP.as_nanos()).unwrap_or(i64::MAX);
        i64::try_from(now.as_nanos()).is_ok_and(|now| self.changed.saturating_add(step) < now)
    }
}

/// The recorded state of a file whose stamp is settled.
#[derive(Clone, Debug)]
struct KnownFile {
    stamp: FileStamp,
    state: FileState,
    left_out: Option<&'static str>,
}

/// A scan of the whole workspace, before or after a command.
#[derive(Clone, Debug)]
struct WorkspaceView {
    files: BTreeMap<String, FileState>,
    skipped: SkippedPaths,
    /// Paths that other calls changed while the command ran.
    changed_by_others: BTreeSet<String>,
    /// Hashes of the contents that are stored with it.
    contents: HashSet<Hash>,
}

/// Contents with their hashes.
type HashedContents = Vec<(Hash, Arc<[u8]>)>;

/// A checkpoint, to be recorded before its command runs.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The record.
    pub taken: SnapshotTaken,
    /// The contents stored with it.
    pub contents: Vec<Arc<[u8]>>,
}

/// The checkpoints of one session.
#[derive(Debug, Default)]
pub struct Checkpoints {
    known: HashMap<String, KnownFile>,
    /// Hashes of the contents that the session has stored.
    stored: HashSet<Hash>,
    /// The newest checkpoint that is certainly recorded.
    last: Option<(CallId, BTreeMap<String, FileState>)>,
    open: HashMap<CallId, WorkspaceView>,
}

impl Checkpoints {
    /// Scans the workspace before the command `call`.
    pub fn before(
        &mut self,
        workspace: &Workspace,
        call: CallId,
        bounds: SnapshotBounds,
        secrets: &Secrets,
    ) -> Checkpoint {
        let mut look = CheckpointScan {
            checkpoints: self,
            bounds,
            left: bounds.total_bytes,
            secrets,
            recorded: UnkeptFiles::default(),
            content_use: ContentUse::Store,
            now: SystemTime::now(),
        };
        let (mut view, contents) = look.at(workspace);
        view.contents = contents.iter().map(|(hash, _)| *hash).collect();
        let (since, files) = match &self.last {
            Some((last, before)) => (Some(*last), difference(before, &view.files)),
            None => (None, difference(&BTreeMap::new(), &view.files)),
        };
        let coverage = view.skipped.left_out.coverage();
        self.open.insert(call, view);
        let contents = contents.into_iter().map(|(_, content)| content).collect();
        Checkpoint { taken: SnapshotTaken { call, coverage, since, files }, contents }
    }

    /// Whether the checkpoint before `call` is in memory.
    #[must_use]
    pub fn is_open(&self, call: CallId) -> bool {
        self.open.contains_key(&call)
    }

    /// Adds a checkpoint that another process took. The paths it skipped are not known, unless its coverage says that
    /// there are none.
    pub fn adopt(&mut self, call: CallId, files: BTreeMap<String, FileState>, coverage: Option<&Coverage>) {
        let listing = if coverage == Some(&Coverage::Full) { ListingExtent::Whole } else { ListingExtent::CutShort };
        let skipped = SkippedPaths { listing, ..SkippedPaths::default() };
        self.open.entry(call).or_insert(WorkspaceView {
            files,
            skipped,
            changed_by_others: BTreeSet::new(),
            contents: HashSet::new(),
        });
    }

    /// Records that another call changes these paths, so that they are not attributed to a command that runs meanwhile.
    pub fn others(&mut self, paths: &BTreeMap<String, FileState>) {
        for view in self.open.values_mut() {
            view.changed_by_others.extend(paths.keys().cloned());
        }
    }

    /// Scans the workspace after the command `call` and returns the command's changes.
    pub fn after(
        &mut self,
        workspace: &Workspace,
        call: CallId,
        bounds: SnapshotBounds,
        secrets: &Secrets,
    ) -> FilesChanged {
        let Some(before) = self.open.remove(&call) else {
            return FilesChanged {
                call,
                unseen: Some("no checkpoint was taken".to_owned()),
                ..FilesChanged::default()
            };
        };
        self.stored.extend(&before.contents);
        let recorded = UnkeptFiles::of(before.files.values());
        let mut look = CheckpointScan {
            checkpoints: self,
            bounds,
            left: u64::MAX,
            secrets,
            recorded: recorded.clone(),
            content_use: ContentUse::Skip,
            now: SystemTime::now(),
        };
        let (after, _) = look.at(workspace);
        let mut changes = Changes::new();
        for (path, was) in before.files.iter().filter(|(path, _)| !before.changed_by_others.contains(*path)) {
            if is_untouched(workspace, path, was) {
                continue;
            }
            // A path that is no longer listed may be ignored by now, or beyond the bounds.
            let now = after
                .files
                .get(path)
                .cloned()
                .unwrap_or_else(|| workspace.observe(path, &recorded, bounds.file_bytes, secrets).state);
            note(&mut changes, path, was, &now);
        }
        let is_new = |path: &&String| {
            !before.files.contains_key(*path)
                && !before.changed_by_others.contains(*path)
                && !before.skipped.over(Path::new(path.as_str()))
        };
        let new: Vec<&String> = after.files.keys().filter(is_new).collect();
        let unseen = unseen(&before, &after, new.len());
        if before.skipped.listing == ListingExtent::Whole {
            for path in new {
                note(&mut changes, path, &FileState::Absent, &after.files[path]);
            }
        }
        self.last = Some((call, before.files));
        FilesChanged { call, changes, unseen, ..FilesChanged::default() }
    }
}

/// Describes what else a command may have changed; `new` is the number of files that only the second scan lists.
fn unseen(before: &WorkspaceView, after: &WorkspaceView, new: usize) -> Option<String> {
    let listing = match (before.skipped.listing, after.skipped.listing) {
        (ListingExtent::CutShort, _) => {
            return (new > 0).then(|| format!("{new} files may be new: not all were listed before"));
        }
        (ListingExtent::Whole, ListingExtent::CutShort) => Some("not all files could be listed after it".to_owned()),
        (ListingExtent::Whole, ListingExtent::Whole) => None,
    };
    let mut made = OmittedFiles::default();
    let is_new = |path: &&PathBuf| !before.skipped.over(path) && !before.files.contains_key(&*path.to_string_lossy());
    for path in after.skipped.special.iter().filter(is_new) {
        made.add("it made what is no file, folder or link, and stays", &path.to_string_lossy());
    }
    let told: Vec<String> = listing.into_iter().chain(made.sentence()).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Whether a file that was recorded without its content is unchanged.
fn is_untouched(workspace: &Workspace, path: &str, was: &FileState) -> bool {
    matches!(was, FileState::Unkept { .. })
        && workspace.dir().symlink_metadata(path).is_ok_and(|metadata| unkept(&metadata) == *was)
}

fn note(changes: &mut Changes, path: &str, was: &FileState, now: &FileState) {
    if !was.is_like(now) {
        changes.insert(path.to_owned(), Change { was: was.clone(), now: now.clone() });
    }
}

/// Returns the entries of `now` that differ from `before`. The inode matters only for moves, which are detected
/// already.
fn difference(before: &BTreeMap<String, FileState>, now: &BTreeMap<String, FileState>) -> BTreeMap<String, FileState> {
    let is_other = |path: &String, state: &FileState| before.get(path).is_none_or(|was| !was.is_like(state));
    let other = now.iter().filter(|(path, state)| is_other(path, state));
    let gone = before.keys().filter(|path| !now.contains_key(*path) && before[*path].exists());
    let mut files: BTreeMap<_, _> = other.map(|(path, state)| (path.clone(), state.clone().without_inode())).collect();
    files.extend(gone.map(|path| (path.clone(), FileState::Absent)));
    files
}

/// Whether the scan stores contents or only hashes them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContentUse {
    Store,
    Skip,
}

/// A scan in progress.
struct CheckpointScan<'a> {
    checkpoints: &'a mut Checkpoints,
    bounds: SnapshotBounds,
    left: u64,
    secrets: &'a Secrets,
    /// Files that the first scan recorded without content.
    recorded: UnkeptFiles,
    content_use: ContentUse,
    now: SystemTime,
}

impl CheckpointScan<'_> {
    fn at(&mut self, workspace: &Workspace) -> (WorkspaceView, HashedContents) {
        let (mut files, mut contents, mut unkept) = (BTreeMap::new(), Vec::new(), Vec::new());
        let names = self.bounds.names;
        let mut skipped = scan(workspace, names, &mut |found| {
            let seen = self.observe(&found);
            if let (Some(content), Some(hash)) = (seen.content, seen.state.blob()) {
                contents.push((hash, content));
            }
            unkept.extend(seen.left_out.map(|why| (why, found.path.clone())));
            files.insert(found.path, seen.state);
        });
        for (why, path) in unkept {
            skipped.left_out.add(why, &path);
        }
        (WorkspaceView { files, skipped, changed_by_others: BTreeSet::new(), contents: HashSet::new() }, contents)
    }

    fn observe(&mut self, found: &ScannedEntry<'_>) -> ObservedPath {
        if found.metadata.is_dir() {
            // The inode of a folder matters only where folders are moved.
            return ObservedPath::plain(FileState::Folder { mode: mode(&found.metadata), inode: None });
        }
        if let Some(state) = self.recorded.find(&found.metadata) {
            return ObservedPath::plain(state.clone());
        }
        let stamp = FileStamp::of(&found.metadata);
        if let Some(known) = self.checkpoints.known.get(&found.path).filter(|known| known.stamp == stamp) {
            let stored = known.state.blob().is_none_or(|hash| self.checkpoints.stored.contains(&hash));
            if stored || self.content_use == ContentUse::Skip {
                self.left = self.left.saturating_sub(found.metadata.len());
                return ObservedPath { state: known.state.clone(), content: None, left_out: known.left_out };
            }
        }
        let seen = self.read(found);
        if stamp.is_settled(self.now) {
            let known = KnownFile { stamp, state: seen.state.clone(), left_out: seen.left_out };
            self.checkpoints.known.insert(found.path.clone(), known);
        }
        seen
    }

    fn read(&mut self, found: &ScannedEntry<'_>) -> ObservedPath {
        if found.metadata.is_file() && found.metadata.len() > self.left {
            return ObservedPath { state: unkept(&found.metadata), content: None, left_out: Some(TOO_LARGE) };
        }
        let seen = observe_entry(found.folder, found.name, &found.metadata, self.bounds.file_bytes, self.secrets);
        self.left = self.left.saturating_sub(seen.content.as_ref().map_or(0, |content| content.len() as u64));
        let wanted = self.content_use == ContentUse::Store
            && seen.state.blob().is_some_and(|hash| !self.checkpoints.stored.contains(&hash));
        ObservedPath { content: seen.content.filter(|_| wanted), ..seen }
    }
}
