//! Plans the undo of a file effect (T9), given the present state of the files: what each path would become, what
//! prevents it, and what can't be restored. Pure: the caller has inspected the files.

use std::collections::BTreeMap;

use windlass_vocab::{Change, Changes, FileState};

use crate::ledger::{FileEffect, KnownChanges};

/// Why a path can't simply be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not in the state in which the call left it.
    ChangedSince,
    /// The state in which the call left it is unknown.
    LeftUnknown,
    /// Its present content can't be saved, so it could not be brought back.
    WouldBeLost,
    /// A parent folder became a symlink, or a folder is in its place: nothing is restored through a symlink, and the
    /// folder may hold files that were not saved.
    Blocked,
}

/// A path that can't simply be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The path.
    pub path: String,
    /// The reason.
    pub obstacle: Obstacle,
    /// The state in which the effect left it, where that is known.
    pub left: Option<FileState>,
    /// The present state.
    pub now: FileState,
    /// The state that the undo would restore.
    pub then: FileState,
}

/// Whether an undo overwrites later changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Force {
    /// Paths that somebody changed since are left alone.
    #[default]
    No,
    /// They are replaced all the same.
    Yes,
}

/// What an undo would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoPlan {
    /// The present and the restored state of each path.
    pub changes: Changes,
    /// The paths that can't simply be restored.
    pub conflicts: Vec<Conflict>,
    /// Paths that can't be restored at all, and why.
    pub unable: BTreeMap<String, String>,
}

impl UndoPlan {
    /// Returns the plan without the conflicts that `kept` solves: content that can be saved now would not be lost.
    #[must_use]
    pub fn keeping(mut self, kept: &BTreeMap<String, FileState>) -> Self {
        let is_kept =
            |conflict: &Conflict| conflict.obstacle == Obstacle::WouldBeLost && kept.contains_key(&conflict.path);
        let (safe, conflicts) = self.conflicts.into_iter().partition(is_kept);
        let safe: Vec<Conflict> = safe;
        self.conflicts = conflicts;
        self.changes.extend(safe.into_iter().map(|safe| (safe.path, Change { was: safe.now, now: safe.then })));
        let moves = |was: &FileState| self.changes.values().any(|change| change.now.is_same_thing(was));
        let stays = |path: &&String| self.changes.get(*path).is_some_and(|change| !moves(&change.was));
        let kept: Vec<(&String, &FileState)> = kept.iter().filter(|(path, _)| stays(path)).collect();
        for (path, state) in kept {
            if let Some(change) = self.changes.get_mut(path) {
                change.was = state.clone();
            }
        }
        self
    }
}

impl FileEffect {
    /// Returns all recorded states.
    #[must_use]
    pub fn states(&self) -> Vec<&FileState> {
        match &self.known {
            KnownChanges::Changes(changes) => changes.values().flat_map(|change| [&change.was, &change.now]).collect(),
            KnownChanges::BeforeOnly(before) => before.values().collect(),
        }
    }

    /// Returns the affected paths.
    pub fn paths(&self) -> Box<dyn Iterator<Item = &String> + '_> {
        match &self.known {
            KnownChanges::Changes(changes) => Box::new(changes.keys()),
            KnownChanges::BeforeOnly(before) => Box::new(before.keys()),
        }
    }

    /// Returns the plan for restoring everything, given the present states.
    #[must_use]
    pub fn plan(&self, now: &BTreeMap<String, FileState>, force: Force) -> UndoPlan {
        let mut plan = UndoPlan::default();
        let absent = FileState::Absent;
        for (path, then, left) in self.goals() {
            let (here, left) = match now.get(path) {
                Some(here) if *here == FileState::OUT_OF_REACH && self.is_below_own_link(path, now) => {
                    (&absent, left.map(|left| if left == here { &absent } else { left }))
                }
                here => (here.unwrap_or(&absent), left),
            };
            if here.is_like(then) {
                continue;
            }
            if then.is_only_moved() && !self.is_moved_here(then, now) {
                let why = if then.is_folder() { "it is not where it was moved to" } else { "its content was not kept" };
                plan.unable.insert(path.clone(), why.to_owned());
                continue;
            }
            match self.obstacle(here, then, left).filter(|_| force == Force::No) {
                Some(obstacle) => {
                    let (left, now, then) = (left.cloned(), here.clone(), then.clone());
                    plan.conflicts.push(Conflict { path: path.clone(), obstacle, left, now, then });
                }
                None => drop(plan.changes.insert(path.clone(), Change { was: here.clone(), now: then.clone() })),
            }
        }
        plan
    }

    /// Returns each path with the state to restore, and the state in which the effect left it, if known.
    fn goals(&self) -> Vec<(&String, &FileState, Option<&FileState>)> {
        match &self.known {
            KnownChanges::Changes(changes) => {
                changes.iter().map(|(path, change)| (path, &change.was, Some(&change.now))).collect()
            }
            KnownChanges::BeforeOnly(before) => before.iter().map(|(path, was)| (path, was, None)).collect(),
        }
    }

    /// Whether the effect replaced a parent folder by a symlink that the undo removes: so nothing is at `path` now.
    fn is_below_own_link(&self, path: &str, now: &BTreeMap<String, FileState>) -> bool {
        let KnownChanges::Changes(changes) = &self.known else { return false };
        let mut above = path.match_indices('/').filter_map(|(end, _)| changes.get_key_value(&path[..end]));
        above.any(|(above, change)| {
            let is_link = matches!(change.now, FileState::Link { .. });
            is_link && change.was.is_folder() && now.get(above).is_some_and(|here| here.is_like(&change.now))
        })
    }

    /// Returns what prevents turning the present state `here` into `then`.
    fn obstacle(&self, here: &FileState, then: &FileState, left: Option<&FileState>) -> Option<Obstacle> {
        let replaces_folder = here.is_folder() && then.exists() && !then.is_folder();
        if *here == FileState::OUT_OF_REACH || replaces_folder && left.is_none_or(|left| !left.is_folder()) {
            return Some(Obstacle::Blocked);
        }
        let Some(left) = left else { return Some(Obstacle::LeftUnknown) };
        let which = |state: &FileState| state.inode();
        // A folder is only ever removed when empty, so its present permissions don't matter.
        let goes = left.is_folder() && here.is_folder() && !then.exists();
        if goes && (which(left).is_none() || which(left) == which(here)) {
            return None;
        }
        if !here.is_like(left) {
            return Some(Obstacle::ChangedSince);
        }
        let moves_away = || self.goals().iter().any(|(_, then, _)| then.is_same_thing(here));
        (matches!(here, FileState::Unkept { .. }) && !moves_away()).then_some(Obstacle::WouldBeLost)
    }

    /// Whether the object to restore was only moved, still exists, and is at a path that it will leave.
    fn is_moved_here(&self, wanted: &FileState, now: &BTreeMap<String, FileState>) -> bool {
        let is_here = |path: &str| now.get(path).is_some_and(|here| here.is_same_thing(wanted));
        self.goals().iter().any(|(path, then, _)| !then.is_same_thing(wanted) && is_here(path))
    }
}
