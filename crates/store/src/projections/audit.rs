//! The audit entries of a session (T11): one for every call the model requested, whether it ran or not.

use std::collections::HashMap;

use windlass_vocab::{
    AuditAnswer, AuditEntry, AuditVerdict, CallId, Envelope, QuestionId, QuestionKind, Record, Undoable, Verdict,
    VerdictReason,
};

use crate::line::hash_of;

/// Returns the audit entries of one session's records, in the order the calls were requested.
pub fn audit<'a>(records: impl IntoIterator<Item = &'a Envelope>) -> Vec<AuditEntry> {
    let mut reading = AuditReader::default();
    for envelope in records {
        reading.record(envelope);
    }
    reading.entries
}

#[derive(Default)]
struct AuditReader {
    owner: String,
    /// The last record that a fork copied from its origin; calls up to there were made in the origin.
    taken_over: u64,
    key: String,
    entries: Vec<AuditEntry>,
    calls: HashMap<CallId, usize>,
    questions: HashMap<QuestionId, CallId>,
    undos: HashMap<windlass_vocab::UndoId, Undoable>,
}

impl AuditReader {
    fn record(&mut self, envelope: &Envelope) {
        match &envelope.record {
            Record::SessionOpened(opened) => {
                self.owner.clone_from(&opened.owner);
                self.taken_over = opened.forked_from.last().map_or(0, |origin| origin.seq);
                self.set_key(&opened.key);
            }
            Record::SessionChanged(changed) => {
                if let Some(imported) = &changed.imported {
                    // Calls made before the import belong to the audit of the other installation.
                    let Self { owner, key, .. } = std::mem::take(self);
                    let owner = imported.owner.clone().unwrap_or(owner);
                    *self = Self { owner, key, ..Self::default() };
                }
                if let Some(key) = changed.key.clone() {
                    self.set_key(&key);
                }
            }
            Record::CallRequested(_) if envelope.seq <= self.taken_over => {}
            Record::CallRequested(_) => self.requested(envelope),
            Record::CallStarted(started) => {
                if let (Some(entry), Some(arguments)) = (self.entry(started.call), &started.arguments) {
                    entry.arguments = hash_of(arguments.as_str().as_bytes());
                }
            }
            Record::CallFinished(finished) => {
                if let Some(entry) = self.entry(finished.call) {
                    (entry.outcome, entry.took_ms) = (Some(finished.outcome), Some(finished.took_ms));
                    entry.exit = finished.exit;
                }
            }
            Record::QuestionAsked(asked) => {
                if let QuestionKind::Approval { call } = asked.kind {
                    self.questions.insert(asked.question, call);
                    self.asked_late(call, asked.because.as_ref());
                }
            }
            Record::QuestionAnswered(answered) => {
                let answer = AuditAnswer { option: answered.answer.option, by: answered.by };
                if let Some(entry) = self.questions.get(&answered.question).copied().and_then(|call| self.entry(call)) {
                    entry.answer = Some(answer);
                }
            }
            Record::UndoStarted(started) => drop(self.undos.insert(started.undo, started.of)),
            Record::Undone(undone) => self.undone(undone.undo),
            Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::RunResumed(_)
            | Record::ContextPinned(_)
            | Record::TurnStarted(_)
            | Record::AttemptFailed(_)
            | Record::ModelReplied(_)
            | Record::CallSettled(_)
            | Record::CallPaused(_)
            | Record::Nudged(_)
            | Record::ToolWithheld(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::Compacted(_)
            | Record::CancelAsked(_)
            | Record::RunEnded(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::Unknown(_) => {}
        }
    }

    /// Sets the session's current key on all entries, earlier calls included.
    fn set_key(&mut self, key: &str) {
        key.clone_into(&mut self.key);
        self.entries.iter_mut().for_each(|entry| key.clone_into(&mut entry.key));
    }

    fn entry(&mut self, call: CallId) -> Option<&mut AuditEntry> {
        self.calls.get(&call).and_then(|index| self.entries.get_mut(*index))
    }

    fn requested(&mut self, envelope: &Envelope) {
        let Record::CallRequested(requested) = &envelope.record else { return };
        self.calls.insert(requested.call, self.entries.len());
        self.entries.push(AuditEntry {
            at: envelope.at,
            owner: self.owner.clone(),
            session: envelope.session,
            key: self.key.clone(),
            call: requested.call,
            tool: requested.tool.as_ref().map_or_else(|| requested.name.clone(), ToString::to_string),
            effect: requested.effect,
            arguments: hash_of(requested.arguments.as_str().as_bytes()),
            verdict: match &requested.verdict {
                Verdict::Allow => AuditVerdict::Allow,
                Verdict::Ask => AuditVerdict::Ask,
                Verdict::Deny { .. } => AuditVerdict::Deny,
                Verdict::Invalid { .. } => AuditVerdict::Invalid,
                Verdict::Unknown { .. } => AuditVerdict::Unknown,
            },
            because: requested.because.clone(),
            answer: None,
            outcome: None,
            exit: None,
            took_ms: None,
            undone: None,
        });
    }

    /// Notes a question asked for another reason than the call was recorded with.
    fn asked_late(&mut self, call: CallId, because: Option<&VerdictReason>) {
        if let (Some(entry), Some(because)) = (self.entry(call), because) {
            (entry.verdict, entry.because) = (AuditVerdict::Ask, Some(because.clone()));
        }
    }

    /// Applies an undo: it takes a call back; an undo of that undo brings the call back, and so on.
    fn undone(&mut self, undo: windlass_vocab::UndoId) {
        let (mut by, mut in_force) = (undo, true);
        loop {
            match self.undos.get(&by).copied() {
                Some(Undoable::Undo(earlier)) => (by, in_force) = (earlier, !in_force),
                Some(Undoable::Call(call)) => {
                    if let Some(entry) = self.entry(call) {
                        entry.undone = in_force.then_some(by);
                    }
                    return;
                }
                None => return,
            }
        }
    }
}
