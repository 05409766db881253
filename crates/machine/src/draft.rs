//! A batch under construction: its records so far, and the state of the loop after them.

use windlass_vocab::{
    Attendance, CallFinished, CallId, EndReason, Failure, Json, NudgeCause, Nudged, OutcomeKind, Part, Record, Remedy,
    RunEnded, StopReason, Timestamp, TurnMode,
};

use crate::control::{LoopState, Phase, Run};
use crate::judge::run_changes;
use crate::state::State;
use crate::texts;

/// A batch under construction.
pub(crate) struct Draft<'a> {
    /// The state before the input.
    pub(crate) state: &'a State,
    /// The state of the loop after `records`.
    pub(crate) control: LoopState,
    /// When the input arrived.
    pub(crate) at: Timestamp,
    /// The batch.
    pub(crate) records: Vec<Record>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(state: &'a State, at: Timestamp) -> Self {
        Self { state, control: state.control.clone(), at, records: Vec::new() }
    }

    /// Adds a record and applies it to `control`.
    pub(crate) fn push(&mut self, record: impl Into<Record>) {
        let record = record.into();
        self.control.apply(&record);
        self.records.push(record);
    }

    /// Returns the open run.
    pub(crate) fn run(&self) -> Option<&Run> {
        self.control.run.as_ref()
    }

    pub(crate) fn is_attended(&self) -> bool {
        self.run().is_some_and(|run| run.attendance == Attendance::Attended)
    }

    /// Records a result that did not come from a tool.
    pub(crate) fn finish(&mut self, call: CallId, outcome: OutcomeKind, text: impl Into<String>) {
        self.refuse(call, outcome, text, None);
    }

    /// Like `finish`, with what a person could change so that the call would run.
    pub(crate) fn refuse(
        &mut self,
        call: CallId,
        outcome: OutcomeKind,
        text: impl Into<String>,
        remedy: Option<Remedy>,
    ) {
        self.push(CallFinished {
            call,
            outcome,
            text: text.into(),
            cut: None,
            took_ms: 0,
            answered_from: None,
            structured: None,
            images: Vec::new(),
            exit: None,
            origin: None,
            remedy,
        });
    }

    /// Finishes a call that a crash cut short.
    pub(crate) fn interrupt(&mut self, call: CallId) {
        let unasked = self.run().map(|run| run.unasked_files.told_of(call)).unwrap_or_default();
        self.finish(call, OutcomeKind::Interrupted, format!("{}{unasked}", texts::INTERRUPTED));
    }

    /// Ends the run. Calls without a result are cancelled first, so that the history stays complete.
    pub(crate) fn end(&mut self, reason: EndReason, answer: impl Into<String>, failure: Option<Failure>) {
        self.end_with(reason, answer, failure, None);
    }

    /// Like `end`, with the requested output.
    pub(crate) fn end_with(
        &mut self,
        reason: EndReason,
        answer: impl Into<String>,
        failure: Option<Failure>,
        output: Option<Json>,
    ) {
        self.cancel_calls(texts::CANCELLED_CALL);
        let Some(run) = self.run() else { return };
        let (tools, turns, usage) = (run.tools.as_ref().clone(), run.counted_turns(), run.usage);
        let dropped = run.stop.map(|by| run.dropped_by(by).to_vec()).unwrap_or_default();
        let (cut_off, wants_title) = (self.was_cut_off(), self.wants_title(reason));
        let cost = run.started.models.iter().any(|model| model.prices.is_some()).then_some(run.spent_in_all().cost);
        let answer = answer.into();
        let changes = self.run().and_then(|run| run.unasked_files.listed_in(run_changes(&run.evidence, &answer)));
        self.push(RunEnded {
            reason,
            answer,
            failure,
            tools,
            turns,
            output,
            cut_off,
            dropped,
            usage,
            cost,
            wants_title,
            changes: changes.map(Box::new),
        });
    }

    /// Whether the input is a reply without calls that the length limit cut off.
    pub(crate) fn was_cut_off(&self) -> bool {
        let Some(Record::ModelReplied(replied)) = self.records.first() else { return false };
        let has_calls = replied.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        replied.stop == StopReason::Length && !has_calls
    }

    /// Whether the input is a reply that the provider paused.
    pub(crate) fn was_paused(&self) -> bool {
        matches!(self.records.first(), Some(Record::ModelReplied(replied)) if replied.stop == StopReason::Paused)
    }

    pub(crate) fn cancel_calls(&mut self, text: &str) {
        for call in self.open_calls() {
            self.finish(call, OutcomeKind::Cancelled, text);
        }
    }

    /// Returns the calls without a result.
    pub(crate) fn open_calls(&self) -> Vec<CallId> {
        let calls = self.run().map(Run::calls).unwrap_or_default();
        calls.iter().filter(|call| !call.is_finished()).map(|call| call.request.call).collect()
    }

    pub(crate) fn nudge(&mut self, why: NudgeCause, evidence: impl Into<String>, text: &str) {
        self.push(Nudged { why, evidence: evidence.into(), text: text.to_owned(), faults: Vec::new() });
    }

    /// Starts the next turn, with tools if there are any, or does what the policy says at the turn cap.
    pub(crate) fn next_turn(&mut self) {
        self.next_turn_in(self.usual_mode());
    }

    /// Like `next_turn`, for a turn of this mode.
    pub(crate) fn next_turn_in(&mut self, mode: TurnMode) {
        let Some(run) = self.run() else { return };
        if run.counted_turns() < run.policy().turn_cap {
            return self.start_turn(mode);
        }
        match run.policy().at_cap {
            windlass_vocab::TurnCapAction::Fail => {
                let failure = Failure::new(windlass_vocab::FailureClass::Internal, texts::CAP_REACHED);
                self.end(EndReason::TurnCap, texts::CAP_REACHED, Some(failure));
            }
            windlass_vocab::TurnCapAction::WrapUp => self.wrap_up(NudgeCause::TurnCap, texts::TURN_CAP),
        }
    }

    /// Starts one last turn without tools.
    pub(crate) fn wrap_up(&mut self, why: NudgeCause, text: &str) {
        self.nudge(why, "", text);
        self.start_turn(TurnMode::WrapUp);
    }

    /// Returns the mode with tools where any are offered (L1).
    pub(crate) fn usual_mode(&self) -> TurnMode {
        // A context that this batch pins is not in the transcript yet.
        let pinned = self.records.iter().find_map(|record| match record {
            Record::ContextPinned(pinned) => pinned.context.as_ref(),
            _ => None,
        });
        let offer = pinned.or(self.state.transcript.context.as_deref()).map(|context| context.offer.len());
        if offer.unwrap_or(0) == 0 { TurnMode::Talk } else { TurnMode::Tools }
    }

    pub(crate) fn is_calling(&self) -> bool {
        self.run().is_some_and(|run| matches!(run.phase, Phase::Calling(_)))
    }
}
