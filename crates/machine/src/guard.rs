//! Progress guards (L11): what a run has been seen doing, and what follows from it. Each guard acts
//! only if the policy names it; watching costs nothing either way.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher as _};
use std::sync::Arc;

use windlass_vocab::{
    CallFinished, CallId, CallRequested, EffectClass, Guard, NudgeCause, OutcomeKind, Policy, ToolName, ToolWithheld,
    WithheldFor,
};

use crate::control::Call;
use crate::reads::Reads;
use crate::texts;

const FAILURES_IN_A_ROW: u32 = 3;
const ERROR_TURNS: u32 = 2;
const SAME_ERRORS: u32 = 5;
/// How often a pattern must stand behind itself to be a cycle.
const REPETITIONS: usize = 3;
/// Turns remembered; a cycle longer than a third of this goes unseen.
const TRAIL: usize = 192;

/// What a run has been seen doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    failures: BTreeMap<ToolName, u32>,
    withheld: BTreeMap<ToolName, Arc<str>>,
    error_turns: u32,
    last_error: u64,
    same_errors: u32,
    trail: Vec<u64>,
    escalation: Escalation,
    /// Read-only calls since the last effect, by what they asked.
    reads: Reads,
    /// (call, result) hashes of the turn under way, by call index; polls are left out.
    turn: BTreeMap<u32, u64>,
    errors_in_turn: u32,
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
    /// End the run: the same error five times in a row.
    SameErrors,
    /// Withhold this tool.
    Withhold(ToolWithheld),
    /// Correct the model after turns of nothing but errors.
    ErrorTurns,
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

/// Whether the model has got something wrong. It is not to blame for a call that a crash cut short.
fn is_error(outcome: OutcomeKind) -> bool {
    match outcome {
        OutcomeKind::Ok | OutcomeKind::Cancelled | OutcomeKind::Interrupted => false,
        OutcomeKind::ToolError
        | OutcomeKind::InfrastructureError
        | OutcomeKind::Unknown
        | OutcomeKind::InvalidArguments
        | OutcomeKind::Denied
        | OutcomeKind::TimedOut => true,
    }
}

/// Whether the tool itself is to blame. Infrastructure, permissions and crashes are not its fault.
fn is_failure_of_tool(outcome: OutcomeKind) -> bool {
    matches!(outcome, OutcomeKind::ToolError | OutcomeKind::InvalidArguments | OutcomeKind::TimedOut)
}

/// Whether something may have changed outside.
fn may_have_changed_things(request: &CallRequested, outcome: OutcomeKind) -> bool {
    let never_ran = matches!(outcome, OutcomeKind::Unknown | OutcomeKind::InvalidArguments | OutcomeKind::Denied);
    request.effect != EffectClass::ReadOnly && !never_ran
}

impl Watch {
    /// Why this tool is refused, if it is.
    #[must_use]
    pub fn refusal(&self, tool: &ToolName) -> Option<Arc<str>> {
        self.withheld.get(tool).cloned()
    }

    /// The earlier call that answers this one (the caller checks that its result is still there).
    #[must_use]
    pub fn earlier_read(&self, request: &CallRequested) -> Option<CallId> {
        let fits = request.effect == EffectClass::ReadOnly && !request.repeatable && request.ending.is_none();
        if fits { self.reads.get(request_hash(request)) } else { None }
    }

    /// Takes a result into account; `calls` are those of the turn, this one finished already.
    pub(crate) fn call_finished(&mut self, calls: &[Call], finished: &CallFinished) {
        let Some(call) = calls.iter().find(|call| call.request.call == finished.call) else { return };
        let request = &call.request;
        self.count_failure(request, finished.outcome);
        self.count_error(finished);
        let asked = request_hash(request);
        if may_have_changed_things(request, finished.outcome) {
            self.reads.clear();
        } else if finished.outcome == OutcomeKind::Ok && finished.answered_from.is_none() {
            self.reads.insert(asked, finished.call);
        }
        if !request.repeatable && finished.outcome != OutcomeKind::Interrupted {
            self.turn.insert(finished.call.index, hash_of((asked, &finished.text)));
        }
        if calls.iter().all(Call::is_finished) {
            self.turn_finished(calls.len());
        }
    }

    fn count_failure(&mut self, request: &CallRequested, outcome: OutcomeKind) {
        let Some(tool) = &request.tool else { return };
        if outcome == OutcomeKind::Ok {
            self.failures.remove(tool);
        } else if is_failure_of_tool(outcome) && request.ending.is_none() {
            *self.failures.entry(tool.clone()).or_default() += 1;
        }
    }

    fn count_error(&mut self, finished: &CallFinished) {
        if finished.outcome == OutcomeKind::Interrupted {
            return;
        }
        if !is_error(finished.outcome) {
            self.same_errors = 0;
            return;
        }
        self.errors_in_turn += 1;
        let error = hash_of(&finished.text);
        self.same_errors = if self.same_errors > 0 && error == self.last_error { self.same_errors + 1 } else { 1 };
        self.last_error = error;
    }

    fn turn_finished(&mut self, calls: usize) {
        let all_errors = usize::try_from(self.errors_in_turn).is_ok_and(|errors| errors == calls);
        self.error_turns = if all_errors { self.error_turns + 1 } else { 0 };
        self.errors_in_turn = 0;
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

    /// Earlier results may be gone or cut, so they no longer answer anything.
    pub(crate) fn history_shortened(&mut self) {
        self.reads.clear();
    }

    pub(crate) fn nudged(&mut self, why: NudgeCause) {
        match why {
            NudgeCause::ErrorTurns => self.error_turns = 0,
            NudgeCause::Cycle => self.escalate(Escalation::Nudged),
            NudgeCause::Reply(_)
            | NudgeCause::TurnCap
            | NudgeCause::Summarise
            | NudgeCause::Halt
            | NudgeCause::Misfit => {}
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
        if on(Guard::FiveErrors) && self.same_errors >= SAME_ERRORS {
            findings.push(Finding::SameErrors);
        }
        if on(Guard::FailedTool) {
            let failed = self.failures.iter().filter(|(_, failures)| **failures >= FAILURES_IN_A_ROW);
            let fresh = failed.filter(|(tool, _)| !self.withheld.contains_key(*tool));
            findings.extend(fresh.map(|(tool, _)| {
                Finding::Withhold(ToolWithheld {
                    cause: WithheldFor::Failures,
                    tool: tool.clone(),
                    reason: texts::withheld_after_failures(tool.bare()),
                })
            }));
        }
        if on(Guard::ErrorTurns) && self.error_turns >= ERROR_TURNS {
            findings.push(Finding::ErrorTurns);
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
