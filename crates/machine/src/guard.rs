//! Progress guards (L11): what a run has been seen doing, and what to do about it. A guard exists to stop a run
//! that makes no progress and must never hurt one that does. A guard acts only if the policy names it;
//! watching costs nothing either way.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use windlass_vocab::{
    CallFinished, CallId, CallRequested, Guard, NudgeCause, OutcomeKind, Policy, ToolName, ToolWithheld, WithheldFor,
};

use crate::control::Call;
use crate::mistakes::Mistakes;
use crate::reads::{EarlierRead, EarlierReads};
use crate::texts;

/// Turns in a row in which all calls of a tool failed, after which it is withheld.
const FAILED_TURNS: u32 = 3;
/// Turns in a row of nothing but errors that earn a correction.
const ERROR_TURNS: u32 = 2;
/// Turns in a row with the same error that end the run.
const SAME_ERROR_TURNS: u32 = 5;
/// How often a pattern must stand behind itself to be a cycle.
const REPETITIONS: usize = 3;
/// Turns remembered; a cycle longer than a third of this goes unseen.
const TRAIL: usize = 192;

/// What a run has been seen doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgressWatch {
    mistakes: Mistakes,
    withheld: BTreeMap<ToolName, Arc<str>>,
    trail: Vec<u64>,
    escalation: Escalation,
    /// The files that were read, by what was asked.
    reads: EarlierReads,
    /// (call, result) hashes of the turn under way, by call index; polls are left out.
    turn: BTreeMap<u32, u64>,
}

/// How far the answer to a cycle has gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escalation {
    #[default]
    None,
    Nudged,
    Withheld,
    Asked,
}

/// What a guard wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    /// End the run: the same error in five turns in a row.
    SameError,
    /// Withhold this tool.
    Withhold(ToolWithheld),
    /// Correct the model after turns of nothing but errors.
    ErrorTurns,
    /// Correct the model: it keeps using these tools in a way it could mend.
    Misused(Vec<ToolName>),
    /// Tell the model that it runs in circles.
    Cycle,
    /// It still does, with everything withheld: pause and ask.
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
    /// Why this tool is refused, if it is.
    #[must_use]
    pub fn refusal(&self, tool: &ToolName) -> Option<Arc<str>> {
        self.withheld.get(tool).cloned()
    }

    /// The earlier read of the same thing (the caller compares the results).
    pub(crate) fn earlier_read(&self, request: &CallRequested) -> Option<CallId> {
        let read = if request.reads_files { self.reads.get(request_hash(request)) } else { None };
        read.map(|read| read.call)
    }

    /// Takes a result into account; `calls` are those of the turn, this one finished already.
    pub(crate) fn call_finished(&mut self, calls: &[Call], finished: &CallFinished) {
        let Some(call) = calls.iter().find(|call| call.request.call == finished.call) else { return };
        let request = &call.request;
        let asked = request_hash(request);
        self.mistakes.call_finished(request, finished.outcome, hash_of(&finished.text));
        // A result that only says that nothing changed counts as the one it stands for.
        let repeated = finished.answered_from.and_then(|_| self.reads.get(asked)).map(|read| read.result);
        let result = repeated.unwrap_or_else(|| hash_of((asked, &finished.text)));
        // A result that was cut says nothing about the part left out; an edited call asked something else.
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
            self.trail.push(hasher.finish());
        }
        if self.trail.len() > TRAIL {
            self.trail.drain(..TRAIL / 4);
        }
    }

    /// Files may have changed unseen: another process took over, or a person was waited for.
    pub(crate) fn forget_reads(&mut self) {
        self.reads.clear();
    }

    /// A person said something: nothing that was tried before counts against what is tried now.
    pub(crate) fn person_spoke(&mut self) {
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
            | NudgeCause::Halt
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

    /// What the guards of `policy` want done after a turn with these calls.
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

/// Whether the trail ends in a pattern of any period that stands `REPETITIONS` times in a row.
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
