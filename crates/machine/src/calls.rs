//! The calls of a reply: which may start, which get a result without running, and what follows when all have results.

use windlass_vocab::{
    CallId, CallRequested, CallStarted, EffectClass, EndReason, Ending, EndsBy, Failure, FailureClass, Guard,
    NudgeCause, OutcomeKind, Parallel, PreparedCall, Preview, QuestionAsked, QuestionKind, QuestionOption, Remedy,
    ToolName, ToolSpec, UnaskedChange, Verdict, VerdictReason,
};

use crate::call::CallApproval;
use crate::control::{Call, CallState, Run};
use crate::draft::Draft;
use crate::guard::Finding;
use crate::texts;

/// The options for a protected path: no rule can allow changing one permanently.
const PROTECTED: [QuestionOption; 4] =
    [QuestionOption::No, QuestionOption::Once, QuestionOption::Session, QuestionOption::Edit];

/// The options where only this call can be allowed: the next call is asked about again.
const THIS_CALL: [QuestionOption; 3] = [QuestionOption::No, QuestionOption::Once, QuestionOption::Edit];

const APPROVAL: [QuestionOption; 5] =
    [QuestionOption::No, QuestionOption::Once, QuestionOption::Session, QuestionOption::Always, QuestionOption::Edit];

impl Draft<'_> {
    /// Records the calls of a reply, gives a result to those that can't run, and starts those that can.
    pub(crate) fn take_calls(&mut self, calls: Vec<PreparedCall>) {
        let Some((run, turn)) = self.run().map(|run| (run.id, run.turn)) else { return };
        for (index, prepared) in (0u32..).zip(calls) {
            let call = CallId { run, turn, index };
            self.push(requested(call, call.effect_id(self.state.session), prepared));
        }
        let requests: Vec<_> =
            self.run().map(Run::calls).unwrap_or_default().iter().map(|call| call.request.clone()).collect();
        for request in requests {
            self.answer_refused_call(&request);
        }
        self.go_on_with_calls();
    }

    /// Gives a refused call its result.
    fn answer_refused_call(&mut self, request: &CallRequested) {
        let call = request.call;
        match &request.verdict {
            Verdict::Unknown { reason, unavailable: None } => self.finish(call, OutcomeKind::Unknown, reason),
            Verdict::Unknown { reason, unavailable: Some(_) } => {
                self.finish(call, OutcomeKind::InfrastructureError, reason);
            }
            Verdict::Invalid { reason, remedy } => {
                self.refuse(call, OutcomeKind::InvalidArguments, reason, remedy.clone());
            }
            Verdict::Deny { reason, remedy } => self.refuse(call, OutcomeKind::Denied, reason, remedy.clone()),
            Verdict::Allow | Verdict::Ask => {
                let refusal = request.tool.as_ref().and_then(|tool| self.run()?.watch.refusal(tool));
                if let Some(reason) = refusal {
                    self.finish(call, OutcomeKind::Denied, reason.as_ref());
                } else if self.run().is_some_and(|run| run.repeats_script(request)) {
                    self.finish(call, OutcomeKind::InvalidArguments, texts::RUN_ALREADY);
                } else if self.run().is_some_and(|run| run.is_made_already(request)) {
                    self.finish(call, OutcomeKind::Ok, texts::MADE_ALREADY);
                }
            }
        }
    }

    /// Asks a person to approve a call. `because` is set where the reason differs from the recorded one.
    fn ask_approval(&mut self, request: &CallRequested, preview: Option<Preview>, because: Option<VerdictReason>) {
        let wait = self.run().map_or(0, |run| run.policy().approval_wait_ms);
        let options = match because.as_ref().or(request.because.as_ref()) {
            Some(VerdictReason::Protected { .. }) => PROTECTED.to_vec(),
            Some(VerdictReason::OutsideText { .. } | VerdictReason::Unasked { .. } | VerdictReason::Unconfined {}) => {
                THIS_CALL.to_vec()
            }
            Some(VerdictReason::Mode { .. } | VerdictReason::Rule { .. } | VerdictReason::Grant { .. }) | None => {
                // Without a rule there is nothing that could be allowed beyond this call.
                let lasts = preview.as_ref().is_none_or(|preview| preview.rule.is_some());
                if lasts { APPROVAL.to_vec() } else { THIS_CALL.to_vec() }
            }
        };
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Approval { call: request.call },
            preview,
            options,
            expires: Some(self.at.plus_ms(wait)),
            default: QuestionOption::No,
            elicitation: None,
            because,
        });
    }

    /// Starts the calls that may start now, or asks a person about them; closes the turn when every call has a result.
    pub(crate) fn go_on_with_calls(&mut self) {
        loop {
            let Some(run) = self.run() else { return };
            if run.calls().iter().all(Call::is_finished) {
                return self.close_turn();
            }
            let is_judged = |call: &&Call| call.state != CallState::NeedsPermissionCheck;
            let next: Vec<Call> = startable(run).filter(is_judged).cloned().collect();
            let refused = next.iter().filter(|call| self.start_or_ask(call) == StartStep::Refused).count();
            if refused == 0 {
                return;
            }
        }
    }

    fn start_or_ask(&mut self, call: &Call) -> StartStep {
        let id = call.request.call;
        if call.state == CallState::Paused {
            return self.go_on_with_paused(call);
        }
        if call.state == CallState::Ready {
            self.push(CallStarted { call: id, arguments: call.edited.clone() });
            return StartStep::Started;
        }
        if self.run().is_some_and(|run| run.was_refused(&call.request)) {
            self.finish(id, OutcomeKind::Denied, texts::REFUSED_BEFORE);
            return StartStep::Refused;
        }
        if self.is_attended() {
            self.ask_approval(&call.request, call.request.preview.clone(), None);
            return StartStep::Asked;
        }
        let (text, remedy) = unanswered(call.request.because.as_ref(), call.request.preview.as_ref());
        self.refuse(id, OutcomeKind::Denied, text, remedy);
        StartStep::Refused
    }

    /// Asks about a call that was next to start, because the permission rules changed since they allowed it.
    pub(crate) fn require_approval(&mut self, call: CallId, preview: Option<Preview>, because: Option<VerdictReason>) {
        let held = self.running(call).filter(|running| running.state != CallState::Verifying);
        let Some(request) = held.map(|running| running.request.clone()) else { return };
        if self.run().is_some_and(|run| run.was_refused(&request)) {
            self.finish(call, OutcomeKind::Denied, texts::REFUSED_BEFORE);
            return self.go_on_with_calls();
        }
        if self.is_attended() {
            return self.ask_approval(&request, preview, because);
        }
        let (text, remedy) = unanswered(because.as_ref().or(request.because.as_ref()), preview.as_ref());
        self.refuse(call, OutcomeKind::Denied, text, remedy);
        self.go_on_with_calls();
    }

    /// Starts a call that another process had checked: the rules of this process allow it too.
    pub(crate) fn allow_call(&mut self, call: CallId) {
        let is_it = |known: &&Call| known.request.call == call && known.state == CallState::NeedsPermissionCheck;
        let cleared = self.run().and_then(|run| startable(run).find(is_it)).map(|cleared| cleared.edited.clone());
        if let Some(arguments) = cleared {
            self.push(CallStarted { call, arguments });
        }
    }

    /// Ends the run with the result of a loop-ending call that succeeded.
    pub(crate) fn end_by_call(&mut self, ending: Ending, text: String) {
        self.cancel_calls(texts::SIBLING_ENDED);
        let reason = match ending {
            Ending::Completed => EndReason::Completed,
            Ending::Asked => EndReason::Asked,
            Ending::Conversed => EndReason::Conversed,
        };
        self.end(reason, text, None);
    }

    /// Applies the guards to the turn once every call has a result, then starts the next turn.
    fn close_turn(&mut self) {
        if self.answers_repeated_script() {
            return;
        }
        let Some(run) = self.run() else { return };
        if !self.is_attended() && was_denied_as_unclear(run) {
            return self.end(EndReason::Asked, texts::UNCLEAR_ORDER, None);
        }
        let findings = run.watch.findings(run.policy(), run.calls());
        let mut withheld = Vec::new();
        for finding in findings {
            match finding {
                Finding::SameError => {
                    let failure = Failure::new(FailureClass::Internal, texts::FIVE_ERRORS);
                    return self.end(EndReason::Failed, texts::FIVE_ERRORS, Some(failure));
                }
                Finding::Withhold(tool) => {
                    withheld.push(tool.reason.clone());
                    self.push(tool);
                }
                Finding::ErrorTurns => self.nudge(NudgeCause::ErrorTurns, "two turns of errors", texts::ERROR_TURNS),
                Finding::Misused(tools) => self.correct_use(&tools),
                Finding::RepeatedChange => return self.end_after_repeated_change(),
                Finding::Cycle => self.nudge(NudgeCause::Cycle, "the same calls, the same results", texts::CYCLE),
                Finding::Pause => return self.pause(),
            }
        }
        if !withheld.is_empty() {
            self.nudge_about_withheld(&withheld);
        }
        self.next_turn();
    }

    /// Tells the model that it repeatedly misuses tools that work.
    fn correct_use(&mut self, tools: &[ToolName]) {
        let names: Vec<&str> = tools.iter().map(ToolName::bare).collect();
        let names = names.join(", ");
        let evidence = format!("three turns in which every call of {names} was wrong");
        self.nudge(NudgeCause::ErrorTurns, evidence, &texts::misused(&names));
    }

    /// Tells the model which tools were withheld, why, and which are left.
    fn nudge_about_withheld(&mut self, reasons: &[String]) {
        let offer = self.state.transcript.context.as_ref().map(|context| context.offer.as_slice()).unwrap_or_default();
        let is_left = |spec: &&ToolSpec| self.run().is_none_or(|run| run.watch.refusal(&spec.name).is_none());
        let left: Vec<&str> = offer.iter().filter(is_left).map(|spec| spec.wire_name.as_str()).collect();
        let text = texts::tools_left(reasons, &left);
        self.nudge(NudgeCause::Withheld, "", &text);
    }

    fn pause(&mut self) {
        if self.is_attended() {
            self.ask_to_go_on(QuestionKind::Cycle, texts::CYCLE_QUESTION);
        } else {
            self.halt(0);
        }
    }
}

/// Whether all calls of the turn were denied because the request does not say exactly what to change.
fn was_denied_as_unclear(run: &Run) -> bool {
    let unclear = VerdictReason::Unasked { change: UnaskedChange::Unclear {} };
    let is_denied = |call: &Call| {
        call.state == CallState::Finished(OutcomeKind::Denied) && call.request.because.as_ref() == Some(&unclear)
    };
    !run.calls().is_empty() && run.calls().iter().all(is_denied)
}

/// Returns why a call that needs approval was not run where nobody can answer, and what a person could change about
/// that.
fn unanswered(because: Option<&VerdictReason>, preview: Option<&Preview>) -> (String, Option<Remedy>) {
    match because {
        Some(VerdictReason::Protected { path, pattern }) => {
            (texts::protected(path, pattern), Some(Remedy::Unprotect { path: path.clone() }))
        }
        Some(VerdictReason::OutsideText { origin }) => (texts::outside_text(origin), None),
        Some(VerdictReason::Unasked { change }) => (texts::unasked(change), None),
        Some(VerdictReason::Unconfined {}) => (texts::UNCONFINED.to_owned(), None),
        Some(VerdictReason::Mode { .. } | VerdictReason::Rule { .. } | VerdictReason::Grant { .. }) | None => {
            (texts::NOBODY_TO_ASK.to_owned(), rule_to_allow(preview))
        }
    }
}

/// Returns the rule that a person was, or would have been, offered to allow.
pub(crate) fn rule_to_allow(preview: Option<&Preview>) -> Option<Remedy> {
    let rule = preview?.rule.clone()?;
    Some(Remedy::Allow { rule })
}

fn requested(call: CallId, effect_id: windlass_vocab::EffectId, prepared: PreparedCall) -> CallRequested {
    CallRequested {
        call,
        provider_id: prepared.provider_id,
        name: prepared.name,
        tool: prepared.tool,
        arguments: prepared.arguments,
        raw: prepared.raw,
        repairs: prepared.repairs,
        effect: prepared.effect,
        effect_id,
        ending: prepared.ending,
        repeatable: prepared.repeatable,
        reads_files: prepared.reads_files,
        verdict: prepared.verdict,
        preview: prepared.preview,
        snapshot: prepared.snapshot,
        because: prepared.because,
    }
}

impl Run {
    /// Whether a person approved a call of the current turn.
    #[must_use]
    pub fn is_approved(&self, call: CallId) -> bool {
        let call = self.calls().iter().find(|known| known.request.call == call);
        call.is_some_and(|call| call.approved != CallApproval::No)
    }

    /// Whether a person said no to the same call before, in a run of a small model, which asks for it again and again. A
    /// capable one may have a reason.
    fn was_refused(&self, request: &CallRequested) -> bool {
        self.policy().ends_by == EndsBy::JudgedText && self.evidence.was_refused(request)
    }

    /// Whether a call asks for the change that was made last, and the policy forbids making it again.
    fn is_made_already(&self, request: &CallRequested) -> bool {
        self.policy().guards.contains(&Guard::RepeatedChange) && self.watch.repeats_change(request)
    }
}

/// What happened to a call that was next to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartStep {
    Started,
    Asked,
    Refused,
}

/// How many calls of a reply run in parallel at most: a reply may contain thousands.
const ABREAST: usize = 16;

/// Returns the calls that may start now (L9). A loop-ending call waits for those before it.
pub(crate) fn startable(run: &Run) -> impl Iterator<Item = &Call> {
    let parallel = run.policy().parallel;
    let (mut all_before_finished, mut blocked) = (true, false);
    let runs = |call: &&Call| matches!(call.state, CallState::Started | CallState::Verifying);
    let mut room = ABREAST.saturating_sub(run.calls().iter().filter(runs).count());
    run.calls().iter().filter(move |call| {
        let reads = call.request.effect == EffectClass::ReadOnly && call.request.ending.is_none();
        let may = !blocked
            && match parallel {
                Parallel::Off => all_before_finished,
                Parallel::On => all_before_finished || call.request.ending.is_none(),
                Parallel::Safe => all_before_finished || reads,
            };
        if !call.is_finished() {
            all_before_finished = false;
            blocked |= parallel == Parallel::Safe && !reads;
        }
        match call.state {
            CallState::NeedsApproval | CallState::Paused => may,
            CallState::Ready | CallState::NeedsPermissionCheck if may && room > 0 => {
                room -= 1;
                true
            }
            CallState::Ready
            | CallState::NeedsPermissionCheck
            | CallState::Asking(_)
            | CallState::Started
            | CallState::Verifying
            | CallState::Finished(_) => false,
        }
    })
}
