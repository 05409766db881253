//! The narrator's memory of earlier records.

use std::collections::BTreeMap;

use windlass_vocab::{
    CallFinished, CallId, CallRequested, CallStarted, ModelReplied, PlanChanged, PlanItem, QuestionId, QuestionKind,
    Record, ToolName, WithheldFor,
};

use crate::attempt::LastRetry;
use crate::call::CallInProgress;
use crate::call_end::call_end;
use crate::cut_input::cut_input;
use crate::line::{LineSpeaker, NarratedLine, Tone};
use crate::refused_call::{CallPermissionFacts, refusal};
use crate::reply;
use crate::run::numbered;
use crate::step;

/// Facts of earlier records that later lines refer to.
#[derive(Debug, Default)]
pub(crate) struct NarratorMemory {
    /// Calls without a result yet.
    calls: BTreeMap<CallId, CallInProgress>,
    /// The permissions of these calls.
    permissions: BTreeMap<CallId, CallPermissionFacts>,
    /// Open questions whether a call may run.
    approvals: BTreeMap<QuestionId, CallId>,
    /// Tools that are refused for the rest of the run.
    withheld: BTreeMap<ToolName, WithheldFor>,
    pub(crate) last_retry: LastRetry,
    /// The text of the last reply.
    pub(crate) last_reply: String,
    /// The last plan, and the step that a child session works on.
    plan: Vec<PlanItem>,
    step: Option<u32>,
    /// Set when the person was told in this run that a server read only a part of a request.
    knows_cut: bool,
}

impl NarratorMemory {
    /// Remembers the facts of a record after its lines were made.
    pub(crate) fn take_in(&mut self, record: &Record) {
        if let Record::CallRequested(call) = record {
            self.requested(call);
        }
        if let Record::CallFinished(finished) = record {
            self.calls.remove(&finished.call);
            self.permissions.remove(&finished.call);
        }
        self.take_in_permission(record);
        match record {
            Record::PlanChanged(plan) => self.plan.clone_from(&plan.items),
            Record::ChildSpawned(spawned) => self.step = Some(spawned.step),
            Record::RunStarted(_) => self.step = None,
            _ => {}
        }
        if let Record::ModelReplied(reply) = record
            && reply.role.is_of_conversation()
        {
            self.last_reply = reply::words(&reply.parts);
            self.knows_cut |= reply.cut.is_some();
        }
        if let Record::RunStarted(started) = record {
            self.last_retry.begin_run(&started.policy);
        }
        if matches!(record, Record::TurnStarted(_)) {
            self.last_retry.begin_turn();
        }
        if !matches!(record, Record::AttemptFailed(_)) {
            self.last_retry.forget();
        }
    }

    /// Whether these are the steps of the plan that a child session works on, however far they are.
    pub(crate) fn has_plan(&self, plan: &PlanChanged) -> bool {
        let steps =
            |items: &[PlanItem]| items.iter().map(|item| (item.step.clone(), item.file.clone())).collect::<Vec<_>>();
        self.step.is_some() && steps(&self.plan) == steps(&plan.items)
    }

    /// Returns the step that a child session works on.
    pub(crate) fn step_words(&self, step: u32) -> String {
        step::words(&self.plan, step)
    }

    /// Returns the step of the child session that was started last.
    pub(crate) fn running_step(&self) -> Option<String> {
        self.step.map(|step| self.step_words(step))
    }

    /// Remembers the facts that explain why a later call is denied or did not run.
    fn take_in_permission(&mut self, record: &Record) {
        if let Record::QuestionAsked(asked) = record
            && let QuestionKind::Approval { call } = asked.kind
            && let Some(permission) = self.permissions.get_mut(&call)
        {
            permission.asked(asked);
            self.approvals.insert(asked.question, call);
        }
        if let Record::QuestionAnswered(answered) = record
            && let Some(call) = self.approvals.remove(&answered.question)
            && let Some(permission) = self.permissions.get_mut(&call)
        {
            permission.answered(answered);
        }
        if let Record::CallStarted(started) = record
            && let Some(permission) = self.permissions.get_mut(&started.call)
        {
            permission.started();
        }
        if let Record::ToolWithheld(withheld) = record {
            self.withheld.insert(withheld.tool.clone(), withheld.cause);
        }
        if matches!(record, Record::RunStarted(_)) {
            self.withheld.clear();
            self.knows_cut = false;
        }
    }

    /// Returns the line about a request of which only a part was read, once in a run.
    pub(crate) fn new_cut(&self, replied: &ModelReplied) -> Option<NarratedLine> {
        replied.cut.as_ref().filter(|_| !self.knows_cut).map(cut_input)
    }

    fn requested(&mut self, call: &CallRequested) {
        self.calls.insert(call.call, CallInProgress::of(call));
        self.permissions.insert(call.call, CallPermissionFacts::of(call));
    }

    /// Returns why a call was denied or interrupted, if it was.
    pub(crate) fn refusal(&self, finished: &CallFinished) -> Option<String> {
        let facts = self.permissions.get(&finished.call);
        let withheld = facts.and_then(|facts| self.withheld.get(facts.tool()?)).copied();
        refusal(finished, facts, withheld)
    }

    /// Applies the arguments of a started call, which a person may have edited.
    pub(crate) fn started(&mut self, started: &CallStarted) {
        if let (Some(open), Some(arguments)) = (self.calls.get_mut(&started.call), &started.arguments) {
            open.edit(arguments);
        }
    }

    pub(crate) fn forget_calls(&mut self) {
        self.calls.clear();
        self.permissions.clear();
        self.approvals.clear();
        self.withheld.clear();
    }

    pub(crate) fn knows(&self, call: CallId) -> bool {
        self.calls.contains_key(&call)
    }

    pub(crate) fn name(&self, call: CallId) -> String {
        self.calls.get(&call).map_or_else(|| numbered(call), |open| open.line().to_owned())
    }

    /// Returns the line of a finished call, and the lines below it.
    pub(crate) fn finished(&mut self, finished: &CallFinished) -> Vec<NarratedLine> {
        let (text, end) = (self.name(finished.call), call_end(finished, self.refusal(finished).as_deref()));
        let tone = if end.problem.is_some() { Tone::Failure } else { Tone::Plain };
        let remedy = finished.remedy.clone();
        let line = NarratedLine {
            end: Some(end),
            remedy,
            ..NarratedLine::new(tone, text).by(LineSpeaker::Tool).about(finished.call)
        };
        let below = self.calls.remove(&finished.call).map(|open| open.below(finished)).unwrap_or_default();
        std::iter::once(line).chain(below).collect()
    }
}
