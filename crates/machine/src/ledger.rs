//! The file effects of a journal that can be undone (T9). The ledger is folded separately, only when somebody asks for
//! an undo, so that other sessions have no cost.
//!
//! A file effect is what a call or an undo did to files. An undo reverses it; undoing that undo puts it in force again.

use std::collections::BTreeMap;

use windlass_vocab::{
    CallId, CallRequested, Changes, Coverage, EffectClass, FileState, OutcomeKind, Record, SnapshotTaken, ToolName,
    UndoId, UndoStarted, Undoable,
};

/// What is known of the changes of a file effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownChanges {
    /// All changes within the coverage.
    Changes(Changes),
    /// Only the state before, because a crash or a stop came before the changes were recorded.
    BeforeOnly(BTreeMap<String, FileState>),
}

/// What a call or an undo did to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEffect {
    /// The call or undo.
    pub of: Undoable,
    /// The tool, where it is a call.
    pub tool: Option<ToolName>,
    /// What it changed.
    pub known: KnownChanges,
    /// How much was saved before it.
    pub coverage: Coverage,
    /// What else it may have changed undetected.
    pub unseen: Option<String>,
    /// The undo that reversed it.
    pub taken_back: Option<UndoId>,
}

impl FileEffect {
    /// Whether there is something to undo.
    fn is_in_force(&self) -> bool {
        let changed = match &self.known {
            KnownChanges::Changes(changes) => !changes.is_empty(),
            KnownChanges::BeforeOnly(_) => true,
        };
        changed && self.taken_back.is_none()
    }
}

/// All file effects of a journal, in order.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    file_effects: Vec<FileEffect>,
    /// Calls that may have had external effects for which nothing was saved.
    uncovered: Vec<(CallId, ToolName)>,
}

impl Ledger {
    /// Builds the ledger of a journal.
    #[must_use]
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut reading = LedgerReader::default();
        for record in records {
            reading.record(record);
        }
        reading.ledger
    }

    /// Returns the file effect of this call or undo.
    #[must_use]
    pub fn find(&self, of: Undoable) -> Option<&FileEffect> {
        self.file_effects.iter().find(|file_effect| file_effect.of == of)
    }

    /// Returns what an undo without an argument means: the last call that changed files and was not undone.
    #[must_use]
    pub fn last(&self) -> Option<&FileEffect> {
        self.file_effects
            .iter()
            .rev()
            .find(|file_effect| matches!(file_effect.of, Undoable::Call(_)) && file_effect.is_in_force())
    }

    /// Returns the calls after this one that can't be undone.
    pub fn uncovered_after(&self, call: Option<CallId>) -> impl Iterator<Item = &(CallId, ToolName)> {
        self.uncovered.iter().filter(move |(other, _)| call.is_none_or(|call| *other > call))
    }

    /// Returns the later effect, not undone, that gave `path` its present state.
    #[must_use]
    pub fn changed_since(&self, of: Undoable, path: &str, now: &FileState) -> Option<Undoable> {
        let after = self.file_effects.iter().skip_while(|file_effect| file_effect.of != of).skip(1);
        let made = |file_effect: &&FileEffect| match &file_effect.known {
            KnownChanges::Changes(changes) => changes.get(path).is_some_and(|change| change.now.is_like(now)),
            KnownChanges::BeforeOnly(_) => false,
        };
        after.filter(|file_effect| file_effect.is_in_force()).filter(made).last().map(|file_effect| file_effect.of)
    }

    fn settle(&mut self, of: Undoable, taken_back: Option<UndoId>) {
        let Some(file_effect) = self.file_effects.iter_mut().find(|file_effect| file_effect.of == of) else { return };
        file_effect.taken_back = taken_back;
    }
}

/// Returns the state of the files that a call may change, before the call, according to the journal.
#[must_use]
pub fn files_before<'a>(records: impl IntoIterator<Item = &'a Record>, call: CallId) -> BTreeMap<String, FileState> {
    let mut reading = LedgerReader::default();
    for record in records {
        if let Record::SnapshotTaken(_) = record {
            reading.record(record);
        }
    }
    reading.before(call)
}

/// Builds a ledger record by record.
#[derive(Default)]
struct LedgerReader<'a> {
    ledger: Ledger,
    requested: BTreeMap<CallId, &'a CallRequested>,
    snapshots: BTreeMap<CallId, &'a SnapshotTaken>,
    undos: BTreeMap<UndoId, &'a UndoStarted>,
}

impl<'a> LedgerReader<'a> {
    fn record(&mut self, record: &'a Record) {
        match record {
            Record::CallRequested(requested) => drop(self.requested.insert(requested.call, requested)),
            Record::SnapshotTaken(taken) => drop(self.snapshots.entry(taken.call).or_insert(taken)),
            Record::CallFinished(finished) => self.finished(finished.call, finished.outcome),
            // A record of nothing but restored files leaves nothing to undo.
            Record::FilesChanged(changed) if changed.changes.is_empty() && changed.unseen.is_none() => {}
            Record::FilesChanged(changed) => {
                self.note(changed.call, KnownChanges::Changes(changed.changes.clone()), changed.unseen.clone());
            }
            Record::UndoStarted(started) => drop(self.undos.insert(started.undo, started)),
            Record::Undone(undone) => {
                if let Some(started) = self.undos.get(&undone.undo) {
                    let mut changes = started.changes.clone();
                    changes.retain(|path, _| !undone.left_alone.contains_key(path));
                    self.undone(started, changes);
                }
            }
            // Effects from before the import changed files elsewhere.
            Record::SessionChanged(changed) if changed.imported.is_some() => *self = Self::default(),
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
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
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
                self.note(call, KnownChanges::BeforeOnly(before), None);
            }
            return;
        }
        let Some(requested) = self.requested.get(&call) else { return };
        if let Some(tool) = &requested.tool
            && requested.effect != EffectClass::ReadOnly
            && requested.snapshot.is_none()
            // Built-in tools without a snapshot change no files.
            && !tool.is_local()
            && !never_ran
        {
            self.ledger.uncovered.push((call, tool.clone()));
        }
    }

    /// Returns the state of the files before a call: its snapshot, applied to the ones it is a difference to.
    fn before(&self, call: CallId) -> BTreeMap<String, FileState> {
        let mut chain = Vec::new();
        let mut next = Some(call);
        while let Some(taken) = next.and_then(|call| self.snapshots.get(&call)) {
            chain.push(taken);
            // A snapshot may only build on an earlier one.
            next = taken.since.filter(|since| *since < taken.call);
        }
        let mut files = BTreeMap::new();
        for taken in chain.into_iter().rev() {
            files.extend(taken.files.iter().map(|(path, state)| (path.clone(), state.clone())));
        }
        files
    }

    fn note(&mut self, call: CallId, known: KnownChanges, unseen: Option<String>) {
        let coverage = self.snapshots.get(&call).map(|taken| taken.coverage.clone());
        let file_effect = FileEffect {
            of: Undoable::Call(call),
            tool: self.requested.get(&call).and_then(|requested| requested.tool.clone()),
            known,
            coverage: coverage.unwrap_or(Coverage::None { why: "no snapshot was taken".to_owned() }),
            unseen,
            taken_back: None,
        };
        match self.ledger.file_effects.iter_mut().find(|known| known.of == file_effect.of) {
            Some(known) => *known = file_effect,
            None => self.ledger.file_effects.push(file_effect),
        }
    }

    fn undone(&mut self, started: &UndoStarted, changes: Changes) {
        if changes.is_empty() && !started.changes.is_empty() {
            // Nothing was restored, so nothing is undone.
            return;
        }
        self.ledger.file_effects.push(FileEffect {
            of: Undoable::Undo(started.undo),
            tool: started.tool.clone(),
            known: KnownChanges::Changes(changes),
            coverage: Coverage::Full,
            unseen: None,
            taken_back: None,
        });
        // Undoing an undo puts the effect that it had reversed in force again, and so on down the chain.
        let (mut of, mut by) = (started.of, Some(started.undo));
        loop {
            self.ledger.settle(of, by);
            let Undoable::Undo(undo) = of else { return };
            let Some(earlier) = self.undos.get(&undo) else { return };
            (of, by) = (earlier.of, if by.is_some() { None } else { Some(undo) });
        }
    }
}
