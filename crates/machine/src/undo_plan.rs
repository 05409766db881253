//! What undoing a deed means (T9), given what is on the disk now: what each path would become, what stands
//! in the way, and what can't be put back. Pure: whoever asks has looked at the files.

use std::collections::BTreeMap;

use windlass_vocab::{Change, Changes, FileState};

use crate::ledger::{FileEffect, KnownChanges};

/// Why a path can't simply be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not as the call left it.
    ChangedSince,
    /// How the call left it is not known.
    LeftUnknown,
    /// What is there now can't be kept, and so not be brought back.
    WouldBeLost,
    /// A link was put on the way to it, or a folder in its place: nothing is put back through the one, and
    /// the other may hold what nobody kept.
    Blocked,
}

/// A path that can't simply be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub path: String,
    /// Why.
    pub obstacle: Obstacle,
    /// How the deed left it, where that is known.
    pub left: Option<FileState>,
    /// What is there.
    pub now: FileState,
    /// What would be there.
    pub then: FileState,
}

/// How far a person goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Force {
    /// What somebody changed since is left alone.
    #[default]
    No,
    /// It is replaced all the same.
    Yes,
}

/// What an undo would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoPlan {
    /// What each path is, and what it will be.
    pub changes: Changes,
    /// What stands in the way.
    pub conflicts: Vec<Conflict>,
    /// What can't be put back, and why.
    pub unable: BTreeMap<String, String>,
}

impl UndoPlan {
    /// The same, given what can be kept now of what is recorded without its content: that would not be lost.
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
    /// What is recorded of them.
    #[must_use]
    pub fn states(&self) -> Vec<&FileState> {
        match &self.known {
            KnownChanges::Changes(changes) => changes.values().flat_map(|change| [&change.was, &change.now]).collect(),
            KnownChanges::BeforeOnly(before) => before.values().collect(),
        }
    }

    /// The paths it is about.
    pub fn paths(&self) -> Box<dyn Iterator<Item = &String> + '_> {
        match &self.known {
            KnownChanges::Changes(changes) => Box::new(changes.keys()),
            KnownChanges::BeforeOnly(before) => Box::new(before.keys()),
        }
    }

    /// What putting everything back means, given what is there now.
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

    /// Each path, what it will be, and how the deed left it, if that is known.
    fn goals(&self) -> Vec<(&String, &FileState, Option<&FileState>)> {
        match &self.known {
            KnownChanges::Changes(changes) => {
                changes.iter().map(|(path, change)| (path, &change.was, Some(&change.now))).collect()
            }
            KnownChanges::BeforeOnly(before) => before.iter().map(|(path, was)| (path, was, None)).collect(),
        }
    }

    /// Whether the deed put a link in the place of a folder above, which will be back: so nothing is here.
    fn is_below_own_link(&self, path: &str, now: &BTreeMap<String, FileState>) -> bool {
        let KnownChanges::Changes(changes) = &self.known else { return false };
        let mut above = path.match_indices('/').filter_map(|(end, _)| changes.get_key_value(&path[..end]));
        above.any(|(above, change)| {
            let is_link = matches!(change.now, FileState::Link { .. });
            is_link && change.was.is_folder() && now.get(above).is_some_and(|here| here.is_like(&change.now))
        })
    }

    /// What stands in the way of making what is here what it will be.
    fn obstacle(&self, here: &FileState, then: &FileState, left: Option<&FileState>) -> Option<Obstacle> {
        let replaces_folder = here.is_folder() && then.exists() && !then.is_folder();
        if *here == FileState::OUT_OF_REACH || replaces_folder && left.is_none_or(|left| !left.is_folder()) {
            return Some(Obstacle::Blocked);
        }
        let Some(left) = left else { return Some(Obstacle::LeftUnknown) };
        let which = |state: &FileState| state.inode();
        // A folder that goes is only ever taken away empty, whatever its permissions are by now.
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

    /// Whether what is to be put back was only moved, and is still there, at a place that it will not keep.
    fn is_moved_here(&self, wanted: &FileState, now: &BTreeMap<String, FileState>) -> bool {
        let is_here = |path: &str| now.get(path).is_some_and(|here| here.is_same_thing(wanted));
        self.goals().iter().any(|(path, then, _)| !then.is_same_thing(wanted) && is_here(path))
    }
}
