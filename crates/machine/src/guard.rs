//! Progress guards (L11): what was observed of a run, and how to react. A guard exists to stop a run that makes no
//! progress and must never harm one that does. A guard acts only if the policy names it; observing costs nothing either
//! way.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use windlass_vocab::{
    CallFinished, CallId, CallRequested, EffectClass, FilesChanged, Guard, NudgeCause, OutcomeKind, Policy,
    SnapshotKind, ToolName, ToolWithheld, WithheldFor,
};

use crate::control::Call;
use crate::mistakes::Mistakes;
use crate::reads::{EarlierRead, EarlierReads};
use crate::scripts_run::ScriptsRun;
use crate::texts;

/// Consecutive turns in which all calls of a tool failed, after which it is withheld.
const FAILED_TURNS: u32 = 3;
/// Consecutive turns with nothing but errors, after which the model gets a correction.
const ERROR_TURNS: u32 = 2;
/// Consecutive turns with the same error, after which the run ends.
const SAME_ERROR_TURNS: u32 = 5;
/// Consecutive repetitions that make a pattern a cycle.
const REPETITIONS: usize = 3;
/// Consecutive repetitions of a change after which the records say whether all is done.
const REPEATED_CHANGES: u32 = 2;
/// Turns remembered; a cycle longer than a third of this is not detected.
const TRAIL: usize = 192;

/// What was observed of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressWatch {
    mistakes: Mistakes,
    withheld: BTreeMap<ToolName, Arc<str>>,
    trail: Vec<u64>,
    /// The last turn with calls, and how often it has been repeated in a row.
    last_turn: (u64, u32),
    escalation: Escalation,
    /// The file reads, by the hash of their request.
    reads: EarlierReads,
    /// The hash of the last request that changed files and worked.
    last_change: Option<u64>,
    /// How often that request has been repeated in a row.
    repeated_changes: u32,
    /// The scripts that would bring the same again.
    scripts: ScriptsRun,
    /// (call, result) hashes of the current turn, by call index, without polls.
    turn: BTreeMap<u32, u64>,
}

/// The last reaction to a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escalation {
    #[default]
    None,
    Nudged,
    Withheld,
    Asked,
}

/// A reaction that a guard asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// End the run: the same error occurred in five consecutive turns.
    SameError,
    /// Withhold this tool.
    Withhold(ToolWithheld),
    /// Correct the model after turns with nothing but errors.
    ErrorTurns,
    /// Correct the model: it keeps misusing these tools in a way that it can correct.
    Misused(Vec<ToolName>),
    /// The model keeps asking for a change that is made: the records must say whether all is done.
    RepeatedChange,
    /// Tell the model that it repeats itself.
    Cycle,
    /// It still repeats itself after tools were withheld: pause and ask a person.
    Pause,
}

fn hash_of(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

fn request_hash(request: &CallRequested) -> u64 {
    hash_of((request.tool.as_ref().map_or(request.name.as_str(), ToolName::as_str), request.arguments.as_str()))
}

impl ProgressWatch {
    /// Returns why this tool is withheld, if it is.
    #[must_use]
    pub fn refusal(&self, tool: &ToolName) -> Option<Arc<str>> {
        self.withheld.get(tool).cloned()
    }

    /// Returns the earlier read with the same request (the caller compares the results).
    pub(crate) fn earlier_read(&self, request: &CallRequested) -> Option<CallId> {
        let read = if request.reads_files { self.reads.get(request_hash(request)) } else { None };
        read.map(|read| read.call)
    }

    /// Whether this request repeats the last change.
    pub(crate) fn repeats_change(&self, request: &CallRequested) -> bool {
        self.last_change == Some(request_hash(request))
    }

    /// Returns what this script brought, if it ran and nothing has changed since.
    pub(crate) fn script_result(&self, request: &CallRequested) -> Option<&str> {
        self.scripts.result(request_hash(request))
    }

    /// Whether this script made the last change.
    pub(crate) fn is_last_changer(&self, request: &CallRequested) -> bool {
        self.scripts.has_changed(request_hash(request))
    }

    /// Observes what one of these calls changed.
    pub(crate) fn files_changed(&mut self, calls: &[Call], changed: &FilesChanged) {
        if changed.changes.is_empty() && changed.unseen.is_none() {
            return;
        }
        // What a person edited is not what the model asked for.
        let by = calls.iter().find(|call| call.request.call == changed.call && call.edited.is_none());
        self.scripts.files_changed(by.map(|call| request_hash(&call.request)));
    }

    /// Whether the model was told what is missing and asks for the same change again.
    pub(crate) fn repeats_change_after_nudge(&self) -> bool {
        self.repeated_changes > REPEATED_CHANGES
    }

    /// Observes what may have changed files.
    fn note_change(&mut self, request: &CallRequested, asked: u64, outcome: OutcomeKind) {
        match (request.snapshot, outcome) {
            (SnapshotKind::Paths, OutcomeKind::Ok) => {
                self.repeated_changes = if self.last_change == Some(asked) { self.repeated_changes + 1 } else { 0 };
                self.last_change = Some(asked);
            }
            // What is not known to have changed nothing may have changed anything.
            (
                SnapshotKind::Paths,
                OutcomeKind::Interrupted
                | OutcomeKind::TimedOut
                | OutcomeKind::Cancelled
                | OutcomeKind::InfrastructureError,
            ) => self.forget_change(),
            // A call that failed or was refused changed nothing.
            (SnapshotKind::Paths, _) => {}
            (SnapshotKind::None, _) if request.effect == EffectClass::ReadOnly => {}
            (SnapshotKind::None | SnapshotKind::Workspace, _) => self.forget_change(),
        }
    }

    fn forget_change(&mut self) {
        (self.last_change, self.repeated_changes) = (None, 0);
    }

    /// Observes a result; `calls` are those of the turn, with this one finished already.
    pub(crate) fn call_finished(&mut self, calls: &[Call], finished: &CallFinished) {
        let Some(call) = calls.iter().find(|call| call.request.call == finished.call) else { return };
        let request = &call.request;
        let asked = request_hash(request);
        if call.edited.is_none() {
            self.scripts.call_finished(asked, request, finished);
        }
        self.mistakes.call_finished(request, finished.outcome, hash_of(&finished.text));
        match &call.edited {
            None => self.note_change(request, asked, finished.outcome),
            // What the model asked for was not made.
            Some(_) => self.forget_change(),
        }
        // A result that only reports "unchanged" counts as the result it refers to.
        let repeated = finished.answered_from.and_then(|_| self.reads.get(asked)).map(|read| read.result);
        let result = repeated.unwrap_or_else(|| hash_of((asked, &finished.text)));
        // A cut result may differ in the part left out; an edited call had other arguments.
        let whole = finished.cut.is_none() && call.edited.is_none();
        if request.reads_files && finished.outcome == OutcomeKind::Ok && finished.answered_from.is_none() && whole {
            self.reads.insert(asked, EarlierRead { call: finished.call, result });
        }
        if !request.repeatable && finished.outcome != OutcomeKind::Interrupted {
            self.turn.insert(finished.call.index, result);
        }
        if calls.iter().all(Call::is_finished) {
            self.mistakes.turn_finished();
            self.extend_trail();
        }
    }

    fn extend_trail(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        if !turn.is_empty() {
            let mut hasher = DefaultHasher::new();
            turn.values().for_each(|seen| seen.hash(&mut hasher));
            let seen = hasher.finish();
            self.last_turn = (seen, if self.last_turn.0 == seen { self.last_turn.1.saturating_add(1) } else { 0 });
            self.trail.push(seen);
        }
        if self.trail.len() > TRAIL {
            self.trail.drain(..TRAIL / 4);
        }
    }

    /// How often the last turn with calls repeated the one before, with the same results.
    pub(crate) fn repetitions(&self) -> u32 {
        self.last_turn.1
    }

    /// Whether the last two turns with calls made the same calls with the same results.
    pub(crate) fn repeats_last_turn(&self) -> bool {
        matches!(self.trail.as_slice(), [.., before, last] if before == last)
    }

    /// Files may have changed unobserved: another process took over, or the run waited for a person.
    pub(crate) fn forget_reads(&mut self) {
        self.forget_change();
        self.scripts.forget();
        self.reads.clear();
    }

    /// A person sent a message: earlier failures don't count against what the model tries now.
    pub(crate) fn person_spoke(&mut self) {
        self.forget_change();
        self.scripts.forget();
        self.reads.clear();
        self.mistakes.forgive();
        self.escalate(Escalation::None);
    }

    pub(crate) fn nudged(&mut self, why: NudgeCause) {
        match why {
            NudgeCause::ErrorTurns => self.mistakes.corrected(),
            NudgeCause::Cycle => self.escalate(Escalation::Nudged),
            NudgeCause::Reply(_)
            | NudgeCause::TurnCap
            | NudgeCause::Summarise
            | NudgeCause::ContextFull
            | NudgeCause::Halt
            | NudgeCause::PlanLeft
            | NudgeCause::Misfit
            | NudgeCause::Withheld => {}
        }
    }

    pub(crate) fn withheld(&mut self, withheld: &ToolWithheld) {
        self.withheld.insert(withheld.tool.clone(), withheld.reason.as_str().into());
        if withheld.cause == WithheldFor::Cycle {
            self.escalate(Escalation::Withheld);
        }
    }

    pub(crate) fn asked(&mut self) {
        self.escalate(Escalation::Asked);
    }

    fn escalate(&mut self, to: Escalation) {
        self.escalation = to;
        self.trail.clear();
    }

    /// Returns the reactions that the guards of `policy` ask for after a turn with these calls.
    pub(crate) fn findings(&self, policy: &Policy, calls: &[Call]) -> Vec<Finding> {
        let on = |guard: Guard| policy.guards.contains(&guard);
        let mut findings = Vec::new();
        if on(Guard::FiveErrors) && self.mistakes.same_error_turns() >= SAME_ERROR_TURNS {
            findings.push(Finding::SameError);
        }
        if on(Guard::FailedTool) {
            let failed = self.mistakes.failed_tools(FAILED_TURNS).filter(|tool| !self.withheld.contains_key(*tool));
            findings.extend(failed.map(|tool| {
                Finding::Withhold(ToolWithheld {
                    cause: WithheldFor::Failures,
                    tool: tool.clone(),
                    reason: texts::withheld_after_failures(tool.bare()),
                })
            }));
        }
        if on(Guard::ErrorTurns) && self.mistakes.error_turns() >= ERROR_TURNS {
            findings.push(Finding::ErrorTurns);
        } else if on(Guard::FailedTool) {
            let misused: Vec<ToolName> = self.mistakes.misused_tools(FAILED_TURNS).cloned().collect();
            findings.extend((!misused.is_empty()).then_some(Finding::Misused(misused)));
        }
        let is_repeated = || calls.iter().any(|call| self.repeats_change(&call.request));
        if on(Guard::RepeatedChange) && self.repeated_changes >= REPEATED_CHANGES && is_repeated() {
            findings.push(Finding::RepeatedChange);
        }
        if on(Guard::Cycle) && is_cycle(&self.trail) {
            findings.extend(self.cycle_findings(calls));
        }
        findings
    }

    fn cycle_findings(&self, calls: &[Call]) -> Vec<Finding> {
        match self.escalation {
            Escalation::None => vec![Finding::Cycle],
            Escalation::Nudged => {
                let tools = calls.iter().filter(|call| call.request.ending.is_none() && !call.request.repeatable);
                let mut names: Vec<&ToolName> = tools.filter_map(|call| call.request.tool.as_ref()).collect();
                names.sort();
                names.dedup();
                let withhold = |tool: &ToolName| {
                    Finding::Withhold(ToolWithheld {
                        cause: WithheldFor::Cycle,
                        tool: tool.clone(),
                        reason: texts::withheld_in_cycle(tool.bare()),
                    })
                };
                if names.is_empty() { vec![Finding::Pause] } else { names.into_iter().map(withhold).collect() }
            }
            Escalation::Withheld | Escalation::Asked => vec![Finding::Pause],
        }
    }
}

/// Whether the trail ends in a pattern of any period that occurs `REPETITIONS` times in a row.
fn is_cycle(trail: &[u64]) -> bool {
    (1..=trail.len() / REPETITIONS).any(|period| {
        let tail = &trail[trail.len() - period * REPETITIONS..];
        tail.iter().zip(&tail[period..]).all(|(earlier, later)| earlier == later)
    })
}

#[cfg(test)]
mod tests {
    use super::is_cycle;

    #[test]
    fn a_cycle_of_any_period_is_seen_at_its_third_repetition() {
        // proves L11
        for period in 1..=20u64 {
            let mut trail: Vec<u64> = vec![900, 901];
            for step in 0..period * 3 {
                assert!(!is_cycle(&trail), "too early: period {period}, step {step}");
                trail.push(step % period);
            }
            assert!(is_cycle(&trail), "missed: period {period}");
        }
    }
}
