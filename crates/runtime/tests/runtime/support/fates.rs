//! The expected fate of each call after a crash, computed from what the dead process left: its journal, and how often
//! each effect had taken place (J3, J4).
//!
//! A finished call stays as it is. A call that had not started runs as if nothing had happened. A call that may have
//! started is settled, by its class first and then by the policy. No effect takes place more or less often than that.

use std::collections::BTreeMap;

use windlass_vocab::{
    Attendance, CallId, CallRequested, EffectId, OutcomeKind, Parallel, Policy, QuestionKind, Record, Settlement,
    UnfinishedCall,
};

use super::World;

/// How often each effect took place.
pub(crate) type Executed = BTreeMap<EffectId, usize>;

/// How far a call had got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    NotStarted,
    /// It may have been running, or its tool was being asked whether the effect took place.
    InFlight(Answers),
    /// Its tool suspended it until a person has answered.
    Paused,
    /// A person was asked how to settle it.
    AskedAbout,
    Finished(OutcomeKind),
}

/// Whether a call that pauses for a person has the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answers {
    NotYet,
    There,
}

/// What must happen to a call in the process that finishes the run.
#[derive(Debug, PartialEq, Eq)]
struct Fate {
    /// How often it still takes place.
    more: usize,
    outcome: OutcomeKind,
    settled: Vec<Settlement>,
}

/// What a process that died left behind.
#[derive(Default)]
pub(crate) struct Left {
    records: usize,
    executed: Executed,
    calls: BTreeMap<EffectId, Reached>,
}

impl Left {
    pub(crate) fn by(records: &[Record], executed: Executed) -> Self {
        let (mut calls, mut ids, mut paused) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for record in records {
            let (call, reached) = match record {
                Record::CallRequested(requested) => {
                    ids.insert(requested.call, requested.effect_id.clone());
                    (requested.call, Reached::NotStarted)
                }
                Record::CallPaused(pause) => {
                    paused.push(pause.call);
                    (pause.call, Reached::Paused)
                }
                Record::CallStarted(started) => (started.call, in_flight(&paused, started.call)),
                Record::CallSettled(settled) => match settled.settlement {
                    Settlement::RunAgain | Settlement::Verify => (settled.call, in_flight(&paused, settled.call)),
                    Settlement::Interrupt | Settlement::Ask => continue,
                },
                Record::QuestionAsked(asked) => match asked.kind {
                    QuestionKind::Settlement { call } => (call, Reached::AskedAbout),
                    _ => continue,
                },
                Record::CallFinished(finished) => (finished.call, Reached::Finished(finished.outcome)),
                _ => continue,
            };
            calls.insert(ids[&call].clone(), reached);
        }
        Self { records: records.len(), executed, calls }
    }

    /// Asserts that no more was done since than had to be; a process that died as well may have done less.
    pub(crate) fn assert_no_more(&self, world: &World, executed: &Executed, context: &str) {
        for (effect, request) in requested(&world.records()) {
            let most = self.before(&effect) + self.fate(world, &effect, &request).more;
            let times = executed.get(&effect).copied().unwrap_or_default();
            let range = self.before(&effect)..=most;
            assert!(
                range.contains(&times),
                "{context}: {} {effect} was done {times} times, not {range:?}",
                request.name
            );
        }
    }

    /// Asserts, after the run has ended, that every call has exactly its expected outcome.
    pub(crate) fn assert_fates(&self, world: &World, executed: &Executed, context: &str) {
        let records = world.records();
        for (effect, request) in requested(&records) {
            let fate = self.fate(world, &effect, &request);
            let times = executed.get(&effect).copied().unwrap_or_default();
            let due = self.before(&effect) + fate.more;
            let due = due..=due + self.under_way(world, &effect);
            assert!(due.contains(&times), "{context}: {} was done {times} times, not {due:?}", request.name);
            let outcomes = records.iter().filter_map(|record| match record {
                Record::CallFinished(finished) if finished.call == request.call => Some(finished.outcome),
                _ => None,
            });
            assert_eq!(outcomes.collect::<Vec<_>>(), [fate.outcome], "{context}: the outcome of {}", request.name);
            let settled = records[self.records..].iter().filter_map(|record| match record {
                Record::CallSettled(settled) if settled.call == request.call => Some(settled.settlement),
                _ => None,
            });
            assert_eq!(settled.collect::<Vec<_>>(), fate.settled, "{context}: how {} was settled", request.name);
        }
    }

    /// Returns how many requests for a call may have been on their way to a server when the process died, and arrived
    /// after its effects were counted. Only a call parallel to the one at which the process died can have any.
    fn under_way(&self, world: &World, effect: &EffectId) -> usize {
        let beside = world.served.is_some() && world.policy.parallel == Parallel::On;
        let in_flight = matches!(self.calls.get(effect), Some(Reached::InFlight(_)));
        usize::from(beside && in_flight && self.before(effect) == 0)
    }

    fn before(&self, effect: &EffectId) -> usize {
        self.executed.get(effect).copied().unwrap_or_default()
    }

    fn fate(&self, world: &World, effect: &EffectId, request: &CallRequested) -> Fate {
        let reached = self.calls.get(effect).copied().unwrap_or(Reached::NotStarted);
        let tool = request.tool.as_ref().expect("a tool").bare();
        let denied = tool == "gated" && world.attendance == Attendance::Unattended;
        // A call that pauses is run once more, with the answer or with a dismissal.
        let runs = if tool == "ask" { 2 } else { 1 };
        match reached {
            Reached::NotStarted if denied => Fate::of(0, OutcomeKind::Denied, &[]),
            Reached::NotStarted => Fate::of(runs, OutcomeKind::Ok, &[]),
            Reached::Paused => Fate::of(1, OutcomeKind::Ok, &[]),
            Reached::Finished(outcome) => Fate::of(0, outcome, &[]),
            // The test's person chooses to run everything again.
            Reached::AskedAbout => Fate::of(runs, OutcomeKind::Ok, &[Settlement::RunAgain]),
            Reached::InFlight(answers) => {
                let runs = if answers == Answers::There { 1 } else { runs };
                Fate::in_flight(tool, runs, self.before(effect), &world.policy, world.attendance)
            }
        }
    }
}

impl Fate {
    fn of(more: usize, outcome: OutcomeKind, settled: &[Settlement]) -> Self {
        Self { more, outcome, settled: settled.to_vec() }
    }

    /// J4. The tools are those of the matrices, here and on the MCP server.
    fn in_flight(tool: &str, runs: usize, before: usize, policy: &Policy, attendance: Attendance) -> Self {
        let again = |settled: &[Settlement]| Self::of(runs, OutcomeKind::Ok, settled);
        match tool {
            "read" | "set" | "ask" => again(&[Settlement::RunAgain]),
            "book" if before > 0 => Self::of(0, OutcomeKind::Ok, &[Settlement::Verify]),
            "book" => again(&[Settlement::Verify, Settlement::RunAgain]),
            "pay" | "gated" => match (policy.unfinished_call, attendance) {
                (UnfinishedCall::RunAgain, _) => again(&[Settlement::RunAgain]),
                (UnfinishedCall::Interrupt, _) | (UnfinishedCall::AskOrInterrupt, Attendance::Unattended) => {
                    Self::of(0, OutcomeKind::Interrupted, &[Settlement::Interrupt])
                }
                (UnfinishedCall::Ask, _) | (UnfinishedCall::AskOrInterrupt, Attendance::Attended) => {
                    again(&[Settlement::Ask, Settlement::RunAgain])
                }
            },
            other => panic!("no class is known of {other}"),
        }
    }
}

/// Returns the state of a call that may be running; `paused` lists calls that paused before.
fn in_flight(paused: &[CallId], call: CallId) -> Reached {
    Reached::InFlight(if paused.contains(&call) { Answers::There } else { Answers::NotYet })
}

/// Returns the calls of a journal whose effects are counted: not those that end the run, nor a wait for servers, for
/// which a process that knows the servers already has no tool.
pub(crate) fn requested(records: &[Record]) -> Vec<(EffectId, CallRequested)> {
    let requests = records.iter().filter_map(|record| match record {
        Record::CallRequested(requested) if requested.ending.is_none() => Some(requested.clone()),
        _ => None,
    });
    let requests = requests.filter(|request| request.name != "wait_for_servers");
    requests.map(|request| (request.effect_id.clone(), request)).collect()
}
