//! What of a journal can be undone (T9): a fold of its own, made when somebody asks, so that a session
//! that nobody undoes anything in pays nothing for it.
//!
//! A deed is what a call or an undo did to files. It is taken back by an undo, and back in force when that
//! undo is undone itself.

use std::collections::BTreeMap;

use windlass_vocab::{
    CallId, CallRequested, Change, Changes, Coverage, EffectClass, FileState, OutcomeKind, Record, SnapshotTaken,
    ToolName, UndoId, UndoStarted, Undoable,
};

/// What is known of what a deed changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// All that was covered.
    Changes(Changes),
    /// A crash or a stop came first: only how the files were before it.
    BeforeOnly(BTreeMap<String, FileState>),
}

/// What a call or an undo did to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// Which.
    pub of: Undoable,
    /// The tool whose call it is.
    pub tool: Option<ToolName>,
    /// What it changed.
    pub known: Known,
    /// How much was kept before it.
    pub coverage: Coverage,
    /// What else it may have changed, unseen.
    pub unseen: Option<String>,
    /// The undo that took it back.
    pub taken_back: Option<UndoId>,
}

impl Deed {
    /// Whether there is something to take back.
    fn is_in_force(&self) -> bool {
        let changed = match &self.known {
            Known::Changes(changes) => !changes.is_empty(),
            Known::BeforeOnly(_) => true,
        };
        changed && self.taken_back.is_none()
    }
}

/// All deeds of a journal, in order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    deeds: Vec<Deed>,
    /// Calls that may have done something outside, of which nothing is kept.
    uncovered: Vec<(CallId, ToolName)>,
}

impl Ledger {
    /// Reads a journal.
    #[must_use]
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut reading = Reading::default();
        for record in records {
            reading.record(record);
        }
        reading.ledger
    }

    /// The deed of this name.
    #[must_use]
    pub fn find(&self, of: Undoable) -> Option<&Deed> {
        self.deeds.iter().find(|deed| deed.of == of)
    }

    /// What a bare undo means: the last call that changed files and was not taken back.
    #[must_use]
    pub fn last(&self) -> Option<&Deed> {
        self.deeds.iter().rev().find(|deed| matches!(deed.of, Undoable::Call(_)) && deed.is_in_force())
    }

    /// Calls made after this one that can't be undone.
    pub fn uncovered_after(&self, call: Option<CallId>) -> impl Iterator<Item = &(CallId, ToolName)> {
        self.uncovered.iter().filter(move |(other, _)| call.is_none_or(|call| *other > call))
    }

    /// The deed in force, after this one, that made `path` what it is now.
    #[must_use]
    pub fn changed_since(&self, of: Undoable, path: &str, now: &FileState) -> Option<Undoable> {
        let after = self.deeds.iter().skip_while(|deed| deed.of != of).skip(1);
        let made = |deed: &&Deed| match &deed.known {
            Known::Changes(changes) => changes.get(path).is_some_and(|change| change.now.is_like(now)),
            Known::BeforeOnly(_) => false,
        };
        after.filter(|deed| deed.is_in_force()).filter(made).last().map(|deed| deed.of)
    }

    fn settle(&mut self, of: Undoable, taken_back: Option<UndoId>) {
        let Some(deed) = self.deeds.iter_mut().find(|deed| deed.of == of) else { return };
        deed.taken_back = taken_back;
    }
}

/// How the files a call may change were before it, as the journal says.
#[must_use]
pub fn files_before<'a>(records: impl IntoIterator<Item = &'a Record>, call: CallId) -> BTreeMap<String, FileState> {
    let mut reading = Reading::default();
    for record in records {
        if let Record::SnapshotTaken(_) = record {
            reading.record(record);
        }
    }
    reading.before(call)
}

/// A journal being read.
#[derive(Default)]
struct Reading<'a> {
    ledger: Ledger,
    requested: BTreeMap<CallId, &'a CallRequested>,
    snapshots: BTreeMap<CallId, &'a SnapshotTaken>,
    undos: BTreeMap<UndoId, &'a UndoStarted>,
}

impl<'a> Reading<'a> {
    fn record(&mut self, record: &'a Record) {
        match record {
            Record::CallRequested(requested) => drop(self.requested.insert(requested.call, requested)),
            Record::SnapshotTaken(taken) => drop(self.snapshots.entry(taken.call).or_insert(taken)),
            Record::CallFinished(finished) => self.finished(finished.call, finished.outcome),
            Record::FilesChanged(changed) => {
                self.note(changed.call, Known::Changes(changed.changes.clone()), changed.unseen.clone());
            }
            Record::UndoStarted(started) => drop(self.undos.insert(started.undo, started)),
            Record::Undone(undone) => {
                if let Some(started) = self.undos.get(&undone.undo) {
                    let mut changes = started.changes.clone();
                    changes.retain(|path, _| !undone.left_alone.contains_key(path));
                    self.undone(started, changes);
                }
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::RunResumed(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::AttemptFailed(_)
            | Record::ModelReplied(_)
            | Record::CallStarted(_)
            | Record::CallSettled(_)
            | Record::CallPaused(_)
            | Record::QuestionAsked(_)
            | Record::QuestionAnswered(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::RunEnded(_)
            | Record::Unknown(_) => {}
        }
    }

    fn finished(&mut self, call: CallId, outcome: OutcomeKind) {
        let cut_short = matches!(outcome, OutcomeKind::Cancelled | OutcomeKind::Interrupted);
        let never_ran = matches!(outcome, OutcomeKind::Unknown | OutcomeKind::InvalidArguments | OutcomeKind::Denied);
        if self.snapshots.contains_key(&call) {
            if cut_short {
                let before = self.before(call);
                self.note(call, Known::BeforeOnly(before), None);
            }
            return;
        }
        let Some(requested) = self.requested.get(&call) else { return };
        if let Some(tool) = &requested.tool
            && requested.effect != EffectClass::ReadOnly
            && requested.snapshot.is_none()
            // Windlass's own tools without a snapshot change no files.
            && !tool.is_local()
            && !never_ran
        {
            self.ledger.uncovered.push((call, tool.clone()));
        }
    }

    /// How the files were before a call: its snapshot, and those it says the difference to.
    fn before(&self, call: CallId) -> BTreeMap<String, FileState> {
        let mut chain = Vec::new();
        let mut next = Some(call);
        while let Some(taken) = next.and_then(|call| self.snapshots.get(&call)) {
            chain.push(taken);
            // A snapshot only ever builds on an earlier one.
            next = taken.since.filter(|since| *since < taken.call);
        }
        let mut files = BTreeMap::new();
        for taken in chain.into_iter().rev() {
            files.extend(taken.files.iter().map(|(path, state)| (path.clone(), state.clone())));
        }
        files
    }

    fn note(&mut self, call: CallId, known: Known, unseen: Option<String>) {
        let coverage = self.snapshots.get(&call).map(|taken| taken.coverage.clone());
        let deed = Deed {
            of: Undoable::Call(call),
            tool: self.requested.get(&call).and_then(|requested| requested.tool.clone()),
            known,
            coverage: coverage.unwrap_or(Coverage::None { why: "no snapshot was taken".to_owned() }),
            unseen,
            taken_back: None,
        };
        match self.ledger.deeds.iter_mut().find(|known| known.of == deed.of) {
            Some(known) => *known = deed,
            None => self.ledger.deeds.push(deed),
        }
    }

    fn undone(&mut self, started: &UndoStarted, changes: Changes) {
        if changes.is_empty() && !started.changes.is_empty() {
            // Nothing was put back, so nothing is undone.
            return;
        }
        self.ledger.deeds.push(Deed {
            of: Undoable::Undo(started.undo),
            tool: started.tool.clone(),
            known: Known::Changes(changes),
            coverage: Coverage::Full,
            unseen: None,
            taken_back: None,
        });
        // Undoing an undo brings back what that had taken back, and so on down.
        let (mut of, mut by) = (started.of, Some(started.undo));
        loop {
            self.ledger.settle(of, by);
            let Undoable::Undo(undo) = of else { return };
            let Some(earlier) = self.undos.get(&undo) else { return };
            (of, by) = (earlier.of, if by.is_some() { None } else { Some(undo) });
        }
    }
}

/// Why a path can't simply be put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It is not as the call left it.
    ChangedSince,
    /// How the call left it is not known.
    LeftUnknown,
    /// What is there now can't be kept, and so not be brought back.
    WouldBeLost,
}

/// A path that can't simply be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub path: String,
    /// Why.
    pub obstacle: Obstacle,
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
pub struct Plan {
    /// What each path is, and what it will be.
    pub changes: Changes,
    /// What stands in the way.
    pub conflicts: Vec<Conflict>,
    /// What can't be put back, and why.
    pub unable: BTreeMap<String, String>,
}

impl Deed {
    /// The paths it is about.
    pub fn paths(&self) -> Box<dyn Iterator<Item = &String> + '_> {
        match &self.known {
            Known::Changes(changes) => Box::new(changes.keys()),
            Known::BeforeOnly(before) => Box::new(before.keys()),
        }
    }

    /// What putting everything back means, given what is there now.
    #[must_use]
    pub fn plan(&self, now: &BTreeMap<String, FileState>, force: Force) -> Plan {
        let mut plan = Plan::default();
        let absent = FileState::Absent;
        for (path, then, left) in self.goals() {
            let here = now.get(path).unwrap_or(&absent);
            if here.is_like(then) {
                continue;
            }
            if then.inode().is_some() && !self.is_moved_here(then, now) {
                let why = if then.is_folder() { "it is not where it was moved to" } else { "its content was not kept" };
                plan.unable.insert(path.clone(), why.to_owned());
                continue;
            }
            match self.obstacle(here, then, left).filter(|_| force == Force::No) {
                Some(obstacle) => {
                    let (now, then) = (here.clone(), then.clone());
                    plan.conflicts.push(Conflict { path: path.clone(), obstacle, now, then });
                }
                None => drop(plan.changes.insert(path.clone(), Change { was: here.clone(), now: then.clone() })),
            }
        }
        plan
    }

    /// Each path, what it will be, and how the deed left it, if that is known.
    fn goals(&self) -> Vec<(&String, &FileState, Option<&FileState>)> {
        match &self.known {
            Known::Changes(changes) => {
                changes.iter().map(|(path, change)| (path, &change.was, Some(&change.now))).collect()
            }
            Known::BeforeOnly(before) => before.iter().map(|(path, was)| (path, was, None)).collect(),
        }
    }

    /// What stands in the way of making what is here what it will be.
    fn obstacle(&self, here: &FileState, then: &FileState, left: Option<&FileState>) -> Option<Obstacle> {
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
        let moves_away = self.goals().iter().any(|(_, then, _)| then.is_same_thing(here));
        (matches!(here, FileState::Unkept { .. }) && !moves_away).then_some(Obstacle::WouldBeLost)
    }

    /// Whether what is to be put back was only moved, and is still there.
    fn is_moved_here(&self, wanted: &FileState, now: &BTreeMap<String, FileState>) -> bool {
        self.goals()
            .iter()
            .any(|(path, then, _)| !then.exists() && now.get(*path).is_some_and(|here| here.is_same_thing(wanted)))
    }
}
