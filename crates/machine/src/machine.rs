//! `decide`: turns an input into records. A fact that no longer applies (a reply to an abandoned attempt, an answer to
//! an expired question) gives no records.

use std::collections::BTreeSet;

use windlass_vocab::{
    Answer, AnsweredBy, AttemptFailed, CacheReport, CallFinished, CallId, CallSettled, ContextPinned, EndReason,
    Failure, FailureClass, Grant, MessageAccepted, ModelName, ModelReplied, ModelRole, NextAttempt, OutcomeKind, Part,
    PinnedContext, PlanChanged, PreparedCall, QuestionAnswered, QuestionAsked, QuestionId, QuestionKind,
    QuestionOption, Record, Settlement, StopReason, TurnMode, Usage, WorkspaceOverview,
};

use crate::blank::is_blank;
use crate::cache_watch::AnsweredRequest;
use crate::control::{Call, CallState, Phase, Run};
use crate::draft::Draft;
use crate::fact::{CallResult, Fact, Input, RunSettings, VerifiedCall};
use crate::retry::{ending_failure, next_attempt};
use crate::state::{DecidedState, State};
use crate::{AttemptKey, elicit, texts};

/// Returns the batch of records for an input, the first being the input's own fact; empty when the input does not apply
/// (any more).
#[must_use]
pub fn decide(state: &State, input: Input) -> Vec<Record> {
    draft(state, input).map(|draft| draft.records).unwrap_or_default()
}

/// Like [`decide`], for a caller that will apply the records: also returns the state of the loop after them. `None`
/// when there are no records.
#[must_use]
pub fn decide_for(state: &State, input: Input) -> Option<(Vec<Record>, DecidedState)> {
    let draft = draft(state, input).filter(|draft| !draft.records.is_empty())?;
    Some((draft.records, DecidedState(Box::new(draft.control))))
}

fn draft(state: &State, input: Input) -> Option<Draft<'_>> {
    if state.control.unknown.is_some() {
        return None;
    }
    let mut draft = Draft::new(state, input.at);
    match input.fact {
        Fact::Opened(opened, taken) => {
            draft.push(opened);
            draft.push(taken);
        }
        Fact::Changed(changed) => draft.change(changed),
        Fact::LeaseTaken(taken) => draft.push(taken),
        Fact::Message { message_id, text, attachments, run_settings } => {
            draft.message(MessageAccepted { message_id, text, attachments }, *run_settings);
        }
        Fact::Retried(run_settings) => draft.retry(*run_settings),
        Fact::Resumed { attendance, deadline, approvals } => draft.resume(attendance, deadline, approvals),
        Fact::Pinned(context, overview) => draft.pin(context, overview),
        Fact::OfferChanged { context, joined } => draft.pin_anew(context, joined),
        Fact::Failed { attempt, failure, usage } if draft.is_for_title(attempt) => {
            draft.fail_title(attempt, failure, usage);
        }
        Fact::Replied { attempt, parts, stop, usage, .. } if draft.is_for_title(attempt) => {
            draft.take_title(attempt, parts, stop, usage);
        }
        Fact::Failed { attempt, failure, usage } => draft.fail(attempt, failure, usage),
        Fact::Replied { attempt, parts, stop, usage, calls, misfit, malformed, retrieved } => {
            draft.reply(attempt, parts, stop, usage, calls, ReplyNotes { misfit, malformed, retrieved });
        }
        Fact::Planned { attempt, parts, stop, usage, steps } => draft.take_plan(attempt, parts, stop, usage, steps),
        Fact::StepReported(report) => draft.step_reported(report),
        Fact::StepAsked { child, asked } => draft.step_asked(child, *asked),
        Fact::HandedBack { attempt, text, usage } => draft.hand_back(attempt, text, usage),
        Fact::CallDone { call, finished } => draft.call_done(call, finished),
        Fact::CallNeedsApproval { call, preview, because } => draft.require_approval(call, preview, because),
        Fact::CallAllowed { call } => draft.allow_call(call),
        Fact::CallPaused { call, pause } => draft.call_paused(call, pause),
        Fact::Elicited { call, elicitation } => draft.elicit(call, elicitation),
        Fact::CallVerified { call, verified } => draft.call_verified(call, verified),
        Fact::Answered { question, answer, by } => draft.answer(question, answer, by),
        Fact::Stopped(by) => draft.stop(by),
        Fact::Snapshot(taken) => draft.snapshot_taken(taken),
        Fact::FilesChanged(changed) => draft.files_changed(changed),
        Fact::Undo(asked) => draft.undo(*asked),
        Fact::Restored { undo, left_alone } => draft.restored(undo, left_alone),
        Fact::CompactionUndone(next_run) => draft.undo_compaction(next_run.map(|settings| *settings)),
        Fact::Forked => draft.fork(),
    }
    Some(draft)
}

/// What is known of a reply besides its content.
struct ReplyNotes {
    /// Why it does not fit the requested output.
    misfit: Option<String>,
    /// Why a call in it could not be parsed.
    malformed: Option<String>,
    /// The estimated tokens of the passages that were sent for its turn.
    retrieved: u64,
}

impl Draft<'_> {
    /// Accepts a message: it starts a run, or joins the open one where the policy says so (L7).
    fn message(&mut self, message: MessageAccepted, run_settings: RunSettings) {
        let busy = self.control.opened.is_none() || self.control.undo.is_some();
        if busy || self.state.transcript.seen.contains_key(&message.message_id) {
            return;
        }
        let joins = self.run().map(Run::takes_words);
        if joins == Some(false) {
            return;
        }
        self.push(message);
        if joins.is_none() {
            self.start_run(run_settings, None);
        }
    }

    /// Retries a failed run on the same history (J3).
    fn retry(&mut self, run_settings: RunSettings) {
        let idle = self.run().is_none() && self.control.undo.is_none();
        let Some((last, ended)) = self.control.last.clone().filter(|_| idle) else { return };
        match ended.reason {
            EndReason::Failed
            | EndReason::TurnCap
            | EndReason::BudgetSpent
            | EndReason::Unfinished
            | EndReason::Cancelled => self.start_run(run_settings, Some(last)),
            EndReason::Completed | EndReason::Asked | EndReason::Conversed => {}
        }
    }

    fn pin(&mut self, context: PinnedContext, overview: Option<Box<WorkspaceOverview>>) {
        let Some(run) = self.run().filter(|run| run.wants_context()) else { return };
        let begins = matches!(run.phase, Phase::Pinning);
        let same = self.state.transcript.context.as_deref() == Some(&context);
        let (context, overview) = ((!same).then_some(context), overview.filter(|_| begins));
        self.push(ContextPinned { context, joined: BTreeSet::new(), overview });
        if begins {
            self.first_turn();
        }
    }

    fn fail(&mut self, key: AttemptKey, failure: Failure, usage: Option<Usage>) {
        let Some((run, attempt)) = self.current(key).filter(|(run, _)| run.stop.is_none()) else { return };
        let mode = attempt.mode;
        if failure.spent_elsewhere.is_some() {
            let model = run.model_of(attempt);
            let (next, role) = (NextAttempt::End, ModelRole::Turn);
            let failed = AttemptFailed { attempt: key.attempt, model, failure, next, usage, role };
            return self.spent_elsewhere(failed, mode);
        }
        let shorter = if mode.role().is_turn() { self.shorter_history(run, &failure) } else { None };
        // Without an offer, the tool that was refused is that of the output.
        let calls = failure.no_tools && !self.offers_output_alone(run);
        let dialect = if calls { self.other_dialect(&run.model_of(attempt)) } else { None };
        let form = self.other_output_form(run, attempt, &failure);
        let next = match (&shorter, dialect, form) {
            (Some(_), _, _) => NextAttempt::Shorter,
            (None, Some(dialect), _) => NextAttempt::Dialect { dialect },
            (None, None, Some(form)) => NextAttempt::Output { form },
            (None, None, None) => match next_attempt(self.state.session, run, attempt, &failure, self.at) {
                NextAttempt::End if mode == TurnMode::Summary => NextAttempt::PlainSummary,
                next => next,
            },
        };
        let breach = self.breach_after(attempt, &next, usage);
        let asks = breach.is_none_or(|breach| self.asks_about(&breach));
        let next = match (breach, mode) {
            // No more is spent on a summary; the turn after it is judged by itself.
            (Some(_), TurnMode::Summary) => NextAttempt::PlainSummary,
            // Nor on a router: without its verdict the run offers tools.
            (Some(_), TurnMode::Route) => NextAttempt::End,
            (Some(_), _) if !asks => NextAttempt::End,
            (Some(_) | None, _) => next,
        };
        let ends = next == NextAttempt::End;
        let (model, ending) = (run.model_of(attempt), ending_failure(run, attempt, failure.clone(), self.at));
        // A failed call for a summary has the role of a turn, as before there were others.
        let role = if mode == TurnMode::Summary { ModelRole::Turn } else { mode.role() };
        let failed = AttemptFailed { attempt: key.attempt, model, failure, next, usage, role };
        if mode == TurnMode::Summary {
            return self.summary_failed(failed);
        }
        self.push(failed);
        if let Some(step) = shorter.filter(|_| asks) {
            self.evict_after_overflow(step, mode);
        }
        if let Some(breach) = breach.filter(|_| mode != TurnMode::Route) {
            self.stop_at_limit(&breach, None);
        } else if ends {
            self.end_without_model(mode, ending);
        }
    }

    fn reply(
        &mut self,
        key: AttemptKey,
        mut parts: Vec<Part>,
        stop: StopReason,
        usage: Usage,
        mut calls: Vec<PreparedCall>,
        ReplyNotes { misfit, malformed, retrieved }: ReplyNotes,
    ) {
        let Some((run, attempt)) = self.current(key) else { return };
        if run.stop.is_some() {
            return self.hand_back(key, Part::joined_text(&parts), usage);
        }
        let (mode, model) = (attempt.mode, run.model_of(attempt));
        if mode == TurnMode::Route {
            return self.take_intent(key, parts, stop, usage);
        }
        let (cost, cut) = (run.cost(&model, &usage), self.cut_input(key, &usage));
        let cache = self.cache_report(&model, mode, &usage);
        let withheld = matches!(stop, StopReason::Filtered | StopReason::Refused | StopReason::Error);
        if mode != TurnMode::Tools || withheld {
            // No tools were offered, or the provider withheld the reply: its calls are dropped.
            parts.retain(|part| !matches!(part, Part::Call { .. }));
            calls.clear();
        }
        // A reply with calls does not end the run, so its text is needed only in its parts.
        let text = if calls.is_empty() { Part::joined_text(&parts) } else { String::new() };
        let attempt = key.attempt;
        self.push(ModelReplied {
            attempt,
            model,
            parts,
            stop,
            usage,
            cost,
            partial: false,
            misfit: misfit.clone(),
            malformed: malformed.clone(),
            role: mode.role(),
            cache,
            cut,
            retrieved,
            intent: None,
        });
        if mode == TurnMode::Summary {
            return self.take_summary(if withheld { "" } else { &text });
        }
        if withheld {
            let failure = Failure::new(FailureClass::Filtered, withheld_message(stop, &text));
            return self.end(EndReason::Failed, text, Some(failure));
        }
        if !calls.is_empty() {
            return self.take_calls(calls);
        }
        if stop == StopReason::Paused && mode.role().is_turn() && self.run().is_some_and(Run::continues_paused_reply) {
            return self.continue_paused_reply(mode);
        }
        if let Some(told) = malformed.filter(|_| mode == TurnMode::Tools) {
            return self.send_call_back("a call that can't be read", &told);
        }
        match mode {
            TurnMode::WrapUp => {
                let text = if is_blank(&text) { texts::NOTHING_TO_SAY.to_owned() } else { text };
                self.end(EndReason::Unfinished, text, None);
            }
            TurnMode::Tools | TurnMode::Talk => self.take_text_reply(mode, stop, &text, misfit),
            TurnMode::Synthesis => self.end_synthesis(&text),
            TurnMode::Summary | TurnMode::Title | TurnMode::Plan | TurnMode::Route => {}
        }
    }

    /// Returns how the request of a turn stands to the provider's cache. A summary sends only a part of the history.
    fn cache_report(&self, model: &ModelName, mode: TurnMode, usage: &Usage) -> Option<Box<CacheReport>> {
        let known = self.run().and_then(|run| run.started.model(model));
        let answered = AnsweredRequest { model, mode, usage, at: self.at, known };
        let report = self.state.transcript.cache.report(&answered).filter(|_| mode.role().is_turn());
        report.map(Box::new)
    }

    fn call_done(&mut self, call: CallId, finished: CallResult) {
        let Some(running) = self.running(call) else { return };
        // A question that the tool asked is void once the call has its result.
        let asked = running.asks.clone();
        let text = match &running.edited {
            Some(arguments) => texts::edited(arguments.as_str()) + &finished.text,
            None => finished.text,
        };
        let outcome = finished.outcome;
        let ended = running.request.ending.filter(|_| outcome == OutcomeKind::Ok).map(|ending| (ending, text.clone()));
        let whole = CallFinished {
            call,
            outcome,
            text,
            cut: finished.cut,
            took_ms: finished.took_ms,
            answered_from: None,
            structured: finished.structured,
            images: finished.images,
            exit: finished.exit,
            origin: finished.origin,
            remedy: finished.remedy,
        };
        let shortened = self.shortened(running, &whole);
        self.push(shortened.unwrap_or(whole));
        if let Some(asked) = asked {
            self.take_default(&asked);
        }
        if let Some(items) = finished.plan {
            self.push(PlanChanged { items });
        }
        if let Some(files) = finished.files.filter(|files| !files.is_empty()) {
            self.files_changed(files);
        }
        match ended {
            Some((ending, text)) => self.end_by_call(ending, text),
            None => self.go_on_with_calls(),
        }
    }

    /// Returns the call with this id, if it may be running, or is being verified or checked.
    pub(crate) fn running(&self, call: CallId) -> Option<&Call> {
        let found = self.run()?.calls().iter().find(|known| known.request.call == call)?;
        matches!(found.state, CallState::Started | CallState::Verifying | CallState::NeedsPermissionCheck)
            .then_some(found)
    }

    fn call_verified(&mut self, call: CallId, verified: VerifiedCall) {
        let known = self.running(call).filter(|known| known.state == CallState::Verifying);
        let Some(known) = known.cloned() else { return };
        match verified {
            VerifiedCall::Done(finished) => return self.call_done(call, *finished),
            VerifiedCall::NotDone => self.push(CallSettled { call, settlement: Settlement::RunAgain }),
            VerifiedCall::Unknown => self.settle_by_policy(&known),
        }
        self.go_on_with_calls();
    }

    fn answer(&mut self, question: QuestionId, answer: Answer, by: AnsweredBy) {
        let Some(asked) = self.pending(question) else { return };
        if !asked.options.contains(&answer.option) || !elicit::has_its_arguments(&asked, &answer) {
            return;
        }
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.clone());
        let grant = match answer.option {
            QuestionOption::Session | QuestionOption::Always => rule.map(|rule| Grant { rule }),
            QuestionOption::No
            | QuestionOption::Once
            | QuestionOption::Edit
            | QuestionOption::RunAgain
            | QuestionOption::Interrupt
            | QuestionOption::Submit
            | QuestionOption::Dismiss => None,
        };
        let option = answer.option;
        let refusal = texts::refused(by, answer.reason.as_deref());
        let without_call = self.run().map_or(0, |run| run.without_call);
        self.push(QuestionAnswered { question, answer, by, grant });
        match (asked.kind, option) {
            (QuestionKind::Approval { call }, QuestionOption::No) => {
                self.finish(call, OutcomeKind::Denied, refusal);
                self.go_on_with_calls();
            }
            (QuestionKind::Settlement { call }, QuestionOption::Interrupt) => {
                self.interrupt(call);
                self.go_on_with_calls();
            }
            (QuestionKind::Settlement { call }, _) => {
                self.push(CallSettled { call, settlement: Settlement::RunAgain });
                self.go_on_with_calls();
            }
            (QuestionKind::Approval { .. } | QuestionKind::Elicitation { .. }, _) => self.go_on_with_calls(),
            // The child session is told, and goes on.
            (QuestionKind::Step { .. }, _) => {}
            (QuestionKind::Cycle, QuestionOption::Once) => self.go_on_after_pause(without_call),
            (QuestionKind::Cycle, _) => self.halt(without_call),
            (QuestionKind::Stuck, QuestionOption::Once) => self.take_up(),
            (QuestionKind::Purse { turn, .. }, QuestionOption::Once) => self.go_on_spending(turn),
            (QuestionKind::Purse { limit, .. }, _) => self.keep_limit(limit),
            (QuestionKind::Stuck, _) => {
                let failure = Failure::new(FailureClass::Internal, "The run made no progress and was given up.");
                self.end(EndReason::Failed, failure.message.clone(), Some(failure));
            }
        }
    }

    /// Returns the question with this number, if it waits for an answer.
    fn pending(&self, question: QuestionId) -> Option<QuestionAsked> {
        let run = self.run()?;
        let of_calls = run.calls().iter().filter_map(Call::question);
        let of_step = run.step().into_iter().flat_map(|step| &step.open);
        run.parked
            .iter()
            .chain(of_calls)
            .chain(of_step)
            .find(|asked| asked.question == question)
            .map(|asked| asked.as_ref().clone())
    }
}

fn withheld_message(stop: StopReason, text: &str) -> String {
    let what = match stop {
        StopReason::Filtered => "The provider's filter withheld the answer",
        StopReason::Refused => "The model refused",
        StopReason::Error | StopReason::Stop | StopReason::Calls | StopReason::Length | StopReason::Paused => {
            "The provider reported an error as its answer"
        }
    };
    if text.trim().is_empty() { format!("{what}.") } else { format!("{what}: {text}") }
}
