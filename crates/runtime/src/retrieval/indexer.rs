//! The thread behind [`super::FileSource`]: keeps the index up to date and answers searches.
//!
//! A refresh walks the folders first and only then reads what has changed (by size, time and inode). Only files that the
//! last walk of this process has seen, unchanged since, are answered with: what a rule forbids by now, what is ignored
//! by now and what was edited meanwhile is never shown, whatever the index says.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use windlass_store::{IndexedFile, IndexedStamp, PassageIndex, PassagePlace, SearchWords, StoreError};
use windlass_tools::{ContentStamp, FileRules, WalkExtent, Workspace, readable_files, shown_path};

use super::line_ranges::{lines_of, passages};
use super::source::{Passage, SourceError};
use crate::key_files::is_key_file;

/// How long a search waits for the index to be brought up to date; well within the time a turn gives a source.
const PATIENCE: Duration = Duration::from_millis(100);
/// Files that are indexed at most, by the order of their paths.
const FILES: usize = 20_000;
/// Larger files are not indexed: generated code and data.
const LARGEST: u64 = 512 << 10;
/// Bytes of text that are indexed at most.
const BYTES: u64 = 128 << 20;
/// How long a refresh walks the folders at most, and how long it reads what has changed; the next one goes on.
const LONGEST_WALK: Duration = Duration::from_secs(30);
const LONGEST_READING: Duration = Duration::from_secs(30);
/// A refresh is due when this many times as long as the last one took has passed: it takes a twentieth of the time.
const REFRESH_SHARE: u32 = 20;
/// Files and bytes of text that are written in one transaction.
const BATCH_FILES: usize = 64;
const BATCH_BYTES: usize = 1 << 20;
/// Passages of one file at most.
const OF_ONE_FILE: usize = 2;

/// A folder whose text files are found.
#[derive(Clone, Debug)]
pub struct IndexedFolder {
    /// The folder. Files that it ignores, closes or hides are not found, and its secrets are replaced.
    pub folder: Arc<Workspace>,
    /// The rules by which the model may read it.
    pub rules: FileRules,
    /// What stands before the paths of its files, as the model names them; nothing for the workspace.
    pub prefix: String,
}

/// A search.
pub(super) struct FindRequest {
    pub(super) message: String,
    pub(super) most: usize,
    pub(super) since: Instant,
    pub(super) answer: oneshot::Sender<Result<Vec<Passage>, SourceError>>,
}

/// A file that the last walk has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListedFile {
    folder: usize,
    stamp: ContentStamp,
}

/// Keeps the index up to date and answers searches.
pub(super) struct Indexer<'r> {
    folders: Vec<IndexedFolder>,
    index: PassageIndex,
    /// The files of the last complete walk, by their paths as the model names them.
    listing: HashMap<String, ListedFile>,
    requests: &'r Receiver<FindRequest>,
    waiting: Vec<FindRequest>,
    /// When the next refresh is due.
    due: Option<Instant>,
}

/// Why a refresh stops before its end.
enum RefreshStop {
    /// Nobody can ask any more.
    Unused,
    Failed(StoreError),
}

impl From<StoreError> for RefreshStop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl<'r> Indexer<'r> {
    /// Answers searches until nobody can ask any more, or the index fails.
    pub(super) fn run(folders: Vec<IndexedFolder>, index: Option<&Path>, requests: &'r Receiver<FindRequest>) {
        let opened = match index {
            Some(path) => PassageIndex::open(path),
            None => PassageIndex::in_memory(),
        };
        let failed = match opened {
            Ok(index) => Self::new(folders, index, requests).serve(),
            Err(error) => Some(error),
        };
        if let Some(error) = failed {
            requests.try_iter().for_each(|request| fail(request, &error));
        }
    }

    fn new(folders: Vec<IndexedFolder>, index: PassageIndex, requests: &'r Receiver<FindRequest>) -> Self {
        Self { folders, index, listing: HashMap::new(), requests, waiting: Vec::new(), due: None }
    }

    fn serve(mut self) -> Option<StoreError> {
        while let Ok(request) = self.requests.recv() {
            self.waiting.push(request);
            match self.refresh_if_due() {
                // Another process is writing the same index.
                Ok(()) | Err(RefreshStop::Failed(StoreError::Locked { .. })) => self.answer_waiting(Duration::ZERO),
                Err(RefreshStop::Unused) => return None,
                Err(RefreshStop::Failed(error)) => {
                    self.waiting.drain(..).for_each(|request| fail(request, &error));
                    return Some(error);
                }
            }
        }
        None
    }

    fn refresh_if_due(&mut self) -> Result<(), RefreshStop> {
        let began = Instant::now();
        if self.due.is_some_and(|due| began < due) {
            return Ok(());
        }
        let refreshed = self.refresh(began + LONGEST_WALK);
        self.due = Some(Instant::now() + began.elapsed() * REFRESH_SHARE);
        refreshed
    }

    /// Brings the index up to date with the folders. The walk ends at `walk_end`.
    fn refresh(&mut self, walk_end: Instant) -> Result<(), RefreshStop> {
        let (listing, extent) = self.walked(walk_end)?;
        self.listing = listing;
        let deadline = Instant::now() + LONGEST_READING;
        let known = self.index.files()?;
        match extent {
            WalkExtent::Whole => {
                let gone: Vec<String> =
                    known.keys().filter(|path| !self.listing.contains_key(*path)).cloned().collect();
                self.index.remove(&gone)?;
            }
            // A file that the walk did not come to may still be there.
            WalkExtent::Cut => {}
        }
        let has_changed = |(path, file): &(&String, &ListedFile)| known.get(*path) != Some(&indexed(file.stamp));
        let mut changed: Vec<(String, ListedFile)> =
            self.listing.iter().filter(has_changed).map(|(path, file)| (path.clone(), *file)).collect();
        changed.sort_by(|(one, _), (other, _)| one.cmp(other));
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (path, file) in changed {
            if Instant::now() >= deadline {
                break;
            }
            let passages = self.text(&path, file).map(|text| passages(&text)).unwrap_or_default();
            bytes += passages.iter().map(|passage| passage.text.len()).sum::<usize>();
            batch.push(IndexedFile { path, stamp: indexed(file.stamp), passages });
            if batch.len() >= BATCH_FILES || bytes >= BATCH_BYTES {
                self.index.put(&batch)?;
                (batch, bytes) = (Vec::new(), 0);
            }
            self.pause()?;
        }
        Ok(self.index.put(&batch)?)
    }

    /// Lists the files, within the bounds.
    fn walked(&mut self, end: Instant) -> Result<(HashMap<String, ListedFile>, WalkExtent), RefreshStop> {
        let (mut listing, mut extent) = (HashMap::new(), WalkExtent::Whole);
        let (mut bytes, mut stopped) = (0, Ok(()));
        for (place, IndexedFolder { folder, rules, prefix }) in self.folders.clone().into_iter().enumerate() {
            // The time bounds this walk.
            readable_files(&folder, &rules, usize::MAX, &mut |path, stamp| {
                stopped = self.pause();
                if Instant::now() >= end {
                    extent = WalkExtent::Cut;
                }
                if stopped.is_err() || extent == WalkExtent::Cut || listing.len() >= FILES || bytes >= BYTES {
                    return ControlFlow::Break(());
                }
                if stamp.size <= LARGEST && !is_key_file(path) {
                    bytes += stamp.size;
                    listing.insert(format!("{prefix}{path}"), ListedFile { folder: place, stamp });
                }
                ControlFlow::Continue(())
            });
            std::mem::replace(&mut stopped, Ok(()))?;
        }
        Ok((listing, extent))
    }

    /// Returns the text of a file with its secrets replaced; `None` where it is no text, or must not be read.
    fn text(&self, path: &str, file: ListedFile) -> Option<String> {
        let IndexedFolder { folder, rules, prefix } = self.folders.get(file.folder)?;
        let path = path.strip_prefix(prefix.as_str())?;
        // A file that has grown meanwhile is read at the next refresh.
        Some(folder.beginning(path, LARGEST, rules).ok().filter(|read| !read.is_cut)?.text)
    }

    /// Answers those who have waited long enough.
    fn pause(&mut self) -> Result<(), RefreshStop> {
        loop {
            match self.requests.try_recv() {
                Ok(request) => self.waiting.push(request),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) if self.waiting.is_empty() => return Err(RefreshStop::Unused),
                Err(TryRecvError::Disconnected) => break,
            }
        }
        self.answer_waiting(PATIENCE);
        Ok(())
    }

    fn answer_waiting(&mut self, waited: Duration) {
        let (due, waiting): (Vec<_>, _) = self.waiting.drain(..).partition(|request| request.since.elapsed() >= waited);
        self.waiting = waiting;
        for request in due {
            let found = self.find(&request.message, request.most);
            // Nobody waits for an answer that comes too late.
            let _ = request.answer.send(found.map_err(|error| SourceError(error.to_string())));
        }
    }

    fn find(&self, message: &str, most: usize) -> Result<Vec<Passage>, StoreError> {
        let words = SearchWords::of(message);
        if words.is_empty() || self.listing.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut of_file: HashMap<String, usize> = HashMap::new();
        for place in self.index.find(&words, most.saturating_mul(3))? {
            let count = of_file.entry(place.path.clone()).or_default();
            if found.len() >= most || *count >= OF_ONE_FILE {
                continue;
            }
            if let Some(passage) = self.passage(&place) {
                *count += 1;
                found.push(passage);
            }
        }
        Ok(found)
    }

    /// Reads a passage, if its file is one that was listed and has not changed since.
    fn passage(&self, place: &PassagePlace) -> Option<Passage> {
        let file = *self.listing.get(&place.path)?;
        let IndexedFolder { folder, prefix, .. } = self.folders.get(file.folder)?;
        let inside = place.path.strip_prefix(prefix.as_str())?;
        if place.stamp != indexed(file.stamp) || folder.content_stamp(inside) != Some(file.stamp) {
            return None;
        }
        let text = lines_of(&self.text(&place.path, file)?, place.first_line, place.last_line);
        let source = format!("{}:{}-{}", shown_path(&place.path), place.first_line, place.last_line);
        Some(Passage { source, text, score: place.score, origin: folder.text_origin(inside) })
    }
}

fn fail(request: FindRequest, error: &StoreError) {
    let _ = request.answer.send(Err(SourceError(error.to_string())));
}

fn indexed(stamp: ContentStamp) -> IndexedStamp {
    IndexedStamp { size: stamp.size, modified: stamp.modified, inode: stamp.inode }
}

#[cfg(test)]
mod tests;
