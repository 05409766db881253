//! The state of the loop: small, so that `decide` can work on a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_vocab::{
    Attendance, CallId, CallRequested, CompactionMethod, ContextBudget, Intent, MessageId, ModelName, ModelReplied,
    ModelRole, Nudge, NudgeCause, Nudged, OutputForm, Part, Policy, QuestionAnswered, QuestionAsked, QuestionKind,
    Record, RunEnded, RunId, RunStarted, SessionOpened, Settlement, Spending, SpendingLimit, SpentElsewhere, StopBy,
    StopReason, SummaryTask, Timestamp, ToolName, TurnId, TurnMode, TurnStarted, UndoStarted, Usage, Verdict,
};

pub use crate::call::{AskedBy, Call, CallApproval, CallState, PausedCall};
use crate::found_window::FoundWindows;
use crate::guard::ProgressWatch;
use crate::judge::{RequestWords, RunEvidence};
use crate::script_result::judged_result;
use crate::snapshot_state::SnapshotState;
pub use crate::step::{PlanProgress, RunningStep};
use crate::unasked_files::UnaskedFiles;

/// The state of the loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopState {
    /// The record that opened the session.
    pub opened: Option<Arc<SessionOpened>>,
    /// Number of runs so far.
    pub runs: u32,
    /// Number of questions so far.
    pub questions: u32,
    /// The open run.
    pub run: Option<Run>,
    /// How the last run ended.
    pub last: Option<(RunId, Arc<RunEnded>)>,
    /// Models whose server supports no tools: calls are written as text (T4).
    pub toolless: BTreeSet<ModelName>,
    /// The windows that servers turned out to have, smaller than they were believed to be (M8).
    pub found_windows: FoundWindows,
    /// The form in which a model is asked for an output, where its server refused a more certain one (L10).
    pub output_forms: BTreeMap<ModelName, OutputForm>,
    /// Number of undos so far.
    pub undos: u32,
    /// The undo in progress.
    pub undo: Option<Arc<UndoStarted>>,
    /// The run after which a model is to write the session's title; `titled` is set once one was asked for.
    pub title: Option<Box<Run>>,
    pub(crate) titled: bool,
    /// What all runs so far have spent.
    pub spending: Spending,
    /// The limits that a person raised, with what they are now.
    pub raised_limits: BTreeMap<SpendingLimit, u64>,
    /// The plan of the last run that had one, and what came of it (S3).
    pub plan: Arc<PlanProgress>,
    /// Whether a person asked for a summary before the next run answers.
    pub compaction_wanted: bool,
    /// The session's own system prompt, which it keeps whatever is configured (C2).
    pub system: Option<Arc<str>>,
    /// The person's newest message: what the next run is about.
    pub(crate) request: Arc<RequestWords>,
    /// Set when the journal holds a record of a newer version: this binary may read but not write it.
    pub unknown: Option<Arc<str>>,
}

/// An open run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub id: RunId,
    /// The record with its policy and models.
    pub started: Arc<RunStarted>,
    /// The time by which it must end.
    pub deadline: Option<Timestamp>,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The current turn.
    pub turn: TurnId,
    /// What it waits for.
    pub phase: Phase,
    /// A question that blocks the whole run.
    pub parked: Option<Arc<QuestionAsked>>,
    /// Who asked for a stop, if anybody.
    pub stop: Option<StopBy>,
    /// Messages accepted since the turn began, which no model has seen.
    pub unseen: Vec<MessageId>,
    /// Resumes since the last progress.
    pub idle_resumes: u32,
    /// Consecutive empty replies.
    pub empties: u32,
    /// Continuations of replies that the length limit cut off.
    pub continued: u32,
    /// Consecutive replies that the provider paused.
    pub pauses: u32,
    /// Consecutive replies that were sent back because they had no call, or none that could be parsed.
    pub without_call: u32,
    /// Outputs sent back to the model because they did not fit the schema.
    pub corrections: u32,
    /// The answer so far: the text of the last reply, appended to those that were cut off or paused before it.
    pub answer: Arc<str>,
    /// Set while a reply that was cut off or paused is being continued.
    continuing: bool,
    /// Servers whose tools were added to the offer after it was pinned.
    pub joined: BTreeSet<String>,
    /// What a router said of its request, where one was asked.
    pub intent: Option<Intent>,
    /// The tools that the model has looked for and found.
    pub found: Arc<BTreeSet<ToolName>>,
    /// The tools called.
    pub tools: Arc<BTreeSet<ToolName>>,
    /// The tokens used.
    pub usage: Usage,
    /// Turns in which a summary, a plan, the answer from its results or a router's verdict was written; they don't count against the turn cap.
    pub summaries: u32,
    /// What the current turn summarises, if it does.
    pub summary: Option<SummaryTask>,
    /// Set when older turns were left out since the last reply.
    pub(crate) left_out_since_reply: bool,
    /// What fills the context window, as measured when the turn began.
    pub budget: Option<ContextBudget>,
    /// The windows that servers turned out to have.
    pub found_windows: FoundWindows,
    /// What it has spent.
    pub spending: Spending,
    /// What its child sessions have spent; other limits than its own and the session's count that by themselves.
    pub spent_by_children: Spending,
    /// What other runs have spent on the same day, as it was last recorded.
    pub spent_elsewhere: SpentElsewhere,
    /// What the progress guards have observed.
    pub watch: Arc<ProgressWatch>,
    /// What the records show of its work.
    pub(crate) evidence: Arc<RunEvidence>,
    /// The files that its scripts changed unasked.
    pub(crate) unasked_files: Arc<UnaskedFiles>,
    /// How many replies the judge has sent back.
    pub rejected_replies: u32,
    /// The model of the newest reply.
    pub replied_by: Option<ModelName>,
    /// The judge's nudge, sent in the turn after a reply that it sent back and in no other.
    pub judge_nudge: Option<Arc<str>>,
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The prefix and the offered tools.
    Pinning,
    /// A model's reply.
    Modelling(Attempt),
    /// The results of a reply's calls.
    Calling(Vec<Call>),
    /// The report of the child session that works on a step of the plan.
    Stepping(RunningStep),
    /// Nothing: `decide` is at work, or a person is asked whether the run should continue. At the end of a batch an
    /// open run is never in this phase unless it is parked.
    Between,
}

/// A model call to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its number in the turn, from 1.
    pub number: u32,
    /// Its number with this model, from 1; non-streaming calls and shortened histories don't count.
    pub tries: u32,
    /// The model's index in the chain.
    pub model: usize,
    /// The purpose of the turn.
    pub mode: TurnMode,
    /// Set when it must not stream.
    pub whole: bool,
    /// The earliest time it may start.
    pub not_before: Option<Timestamp>,
    /// Set when the context must be pinned again first, with calls written as text.
    pub unpinned: bool,
}

impl Run {
    /// Returns a run that has just started on this request; `found_windows` are those that earlier runs found.
    pub(crate) fn new(started: &RunStarted, found_windows: FoundWindows, request: &RequestWords) -> Self {
        Self {
            id: started.run,
            started: Arc::new(started.clone()),
            deadline: started.deadline,
            attendance: started.attendance,
            turn: TurnId(0),
            phase: Phase::Pinning,
            parked: None,
            stop: None,
            unseen: Vec::new(),
            idle_resumes: 0,
            empties: 0,
            continued: 0,
            pauses: 0,
            without_call: 0,
            corrections: 0,
            answer: Arc::default(),
            continuing: false,
            joined: BTreeSet::new(),
            intent: None,
            found: Arc::default(),
            tools: Arc::default(),
            usage: Usage::default(),
            summaries: 0,
            summary: None,
            left_out_since_reply: false,
            budget: None,
            found_windows,
            spending: Spending::default(),
            spent_by_children: Spending::default(),
            spent_elsewhere: SpentElsewhere {
                day: started.spent_today.as_deref().copied().unwrap_or_default(),
                agent: started.spent_by_agent.as_deref().copied().unwrap_or_default(),
            },
            watch: Arc::default(),
            evidence: Arc::new(RunEvidence::new(request.clone())),
            unasked_files: Arc::default(),
            rejected_replies: 0,
            replied_by: None,
            judge_nudge: None,
        }
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.started.policy
    }

    /// Returns the calls of the current turn.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        match &self.phase {
            Phase::Calling(calls) => calls,
            Phase::Pinning | Phase::Modelling(_) | Phase::Stepping(_) | Phase::Between => &[],
        }
    }

    fn call(&mut self, wanted: CallId) -> Option<&mut Call> {
        match &mut self.phase {
            Phase::Calling(calls) => calls.iter_mut().find(|call| call.request.call == wanted),
            Phase::Pinning | Phase::Modelling(_) | Phase::Stepping(_) | Phase::Between => None,
        }
    }

    pub(crate) fn apply(&mut self, record: &Record) {
        match record {
            Record::MessageAccepted(accepted) => {
                self.unseen.push(accepted.message_id.clone());
                self.without_call = 0;
                self.watch().person_spoke();
                self.evidence().request.add(accepted);
            }
            Record::RunResumed(resumed) => {
                self.watch().forget_reads();
                // A child session counts its own resumes.
                if !self.waits_for_a_person() && self.step().is_none() {
                    self.idle_resumes += 1;
                }
                self.attendance = resumed.attendance;
                // A deadline belongs to the caller that set it, and that caller is gone.
                self.deadline = resumed.deadline;
                self.leave_process(resumed);
            }
            Record::ContextPinned(pinned) => self.pinned(pinned),
            Record::TurnStarted(started) => self.begin_turn(started),
            Record::AttemptFailed(failed) => self.attempt_failed(failed),
            Record::ModelReplied(replied) => self.replied(replied),
            Record::CallRequested(requested) => self.request(requested),
            Record::CallStarted(started) => self.move_call(started.call, CallState::Started),
            Record::CallPaused(paused) => {
                self.idle_resumes = 0;
                self.move_call(paused.call, CallState::Paused);
                if let Some(call) = self.call(paused.call) {
                    call.pause = Some(Arc::new(PausedCall { at: paused.clone(), answers: Vec::new() }));
                }
            }
            Record::SnapshotTaken(taken) => {
                if let Some(call) = self.call(taken.call) {
                    call.kept = SnapshotState::Taken;
                }
            }
            Record::CallSettled(settled) => match settled.settlement {
                Settlement::RunAgain => self.move_call(settled.call, CallState::Started),
                Settlement::Verify => self.move_call(settled.call, CallState::Verifying),
                Settlement::Interrupt | Settlement::Ask => {}
            },
            Record::CallFinished(finished) => {
                self.idle_resumes = 0;
                self.keep_found_tools(finished);
                self.move_call(finished.call, CallState::Finished(finished.outcome));
                if let Phase::Calling(calls) = &self.phase {
                    Arc::make_mut(&mut self.watch).call_finished(calls, finished);
                    if let Some(call) = calls.iter().find(|call| call.request.call == finished.call) {
                        let (result, effects) = judged_result(self, finished);
                        Arc::make_mut(&mut self.evidence).call_finished(call, &result, effects);
                    }
                }
            }
            Record::QuestionAsked(asked) => self.ask(asked),
            Record::QuestionAnswered(answered) => self.answer(answered),
            Record::Nudged(nudged) => self.nudged(nudged),
            Record::ToolWithheld(withheld) => self.watch().withheld(withheld),
            Record::Compacted(compacted) => self.left_out_since_reply |= compacted.method != CompactionMethod::Shrunk,
            Record::CancelAsked(asked) => self.stop = Some(asked.by),
            Record::FilesChanged(changed) => {
                self.evidence().files_changed(changed);
                if UnaskedFiles::has(changed) {
                    Arc::make_mut(&mut self.unasked_files).add(changed);
                }
                if let Phase::Calling(calls) = &self.phase {
                    Arc::make_mut(&mut self.watch).files_changed(calls, changed);
                }
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::RunStarted(_)
            | Record::PlanChanged(_)
            | Record::ChildSpawned(_)
            | Record::ChildReported(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::RunEnded(_)
            | Record::Unknown(_) => {}
        }
    }

    fn watch(&mut self) -> &mut ProgressWatch {
        Arc::make_mut(&mut self.watch)
    }

    pub(crate) fn evidence(&mut self) -> &mut RunEvidence {
        Arc::make_mut(&mut self.evidence)
    }

    fn nudged(&mut self, nudged: &Nudged) {
        self.watch().nudged(nudged.why);
        if nudged.rejects_reply() {
            self.rejected_replies += 1;
            self.judge_nudge = Some(nudged.text.as_str().into());
        }
        match nudged.why {
            NudgeCause::Reply(Nudge::Empty) => {
                self.empties += 1;
                // The empty reply added nothing to the cut-off text, which still needs its continuation.
                self.continuing = !self.answer.is_empty();
            }
            NudgeCause::Reply(Nudge::CutOff) => {
                self.continued += 1;
                self.continuing = true;
            }
            NudgeCause::Misfit => self.corrections += 1,
            NudgeCause::Reply(Nudge::NoToolCall) => self.without_call += 1,
            NudgeCause::Reply(Nudge::Incomplete | Nudge::Deflection)
            | NudgeCause::ErrorTurns
            | NudgeCause::PlanLeft
            | NudgeCause::Withheld
            | NudgeCause::Cycle
            | NudgeCause::TurnCap
            | NudgeCause::Summarise
            | NudgeCause::ContextFull
            | NudgeCause::Halt => {}
        }
    }

    fn replied(&mut self, replied: &ModelReplied) {
        self.idle_resumes = 0;
        self.usage += replied.usage;
        self.phase = Phase::Between;
        if replied.role == ModelRole::Router {
            self.intent = replied.intent;
            self.phase = Phase::Pinning;
        }
        if !replied.role.is_of_conversation() {
            return;
        }
        self.left_out_since_reply = false;
        self.replied_by = Some(replied.model.clone());
        self.judge_nudge = None;
        self.add_to_answer(&replied.parts);
        let has_calls = replied.parts.iter().any(|part| matches!(part, Part::Call { .. }));
        let paused = replied.stop == StopReason::Paused && !has_calls;
        self.pauses = if paused { self.pauses + 1 } else { 0 };
        // What comes after the pause belongs to the same answer.
        self.continuing = self.continues_paused_reply();
    }

    /// Adds the text of a reply to the answer.
    fn add_to_answer(&mut self, parts: &[Part]) {
        let texts = || parts.iter().filter_map(Part::as_text);
        if texts().all(str::is_empty) {
            return;
        }
        if !texts().all(|text| text.trim().is_empty()) {
            self.empties = 0;
        }
        self.answer = std::iter::once(self.answer.as_ref()).chain(texts()).collect::<String>().into();
    }

    fn begin_turn(&mut self, started: &TurnStarted) {
        self.turn = started.turn;
        self.budget = started.budget;
        self.summary = started.summary;
        if started.mode.reads_request() {
            if !std::mem::take(&mut self.continuing) {
                self.answer = Arc::default();
            }
            self.unseen.clear();
        }
        self.summaries += u32::from(!started.mode.role().is_turn());
        self.phase = Phase::Modelling(Attempt {
            number: 1,
            tries: 1,
            model: 0,
            mode: started.mode,
            whole: false,
            not_before: None,
            unpinned: false,
        });
    }

    fn request(&mut self, requested: &CallRequested) {
        self.empties = 0;
        self.continued = 0;
        self.without_call = 0;
        if let Some(tool) = requested.tool.as_ref().filter(|tool| !self.tools.contains(*tool)) {
            Arc::make_mut(&mut self.tools).insert(tool.clone());
        }
        let state = if requested.verdict == Verdict::Ask { CallState::NeedsApproval } else { CallState::Ready };
        let kept = if requested.snapshot.is_none() { SnapshotState::NotNeeded } else { SnapshotState::Missing };
        let request = Arc::new(requested.clone());
        let (approved, asked_by) = (CallApproval::No, AskedBy::ThisProcess);
        let call =
            Call { request, edited: None, state, asks: None, pause: None, kept, approved, approval: None, asked_by };
        match &mut self.phase {
            Phase::Calling(calls) => calls.push(call),
            Phase::Pinning | Phase::Modelling(_) | Phase::Stepping(_) | Phase::Between => {
                self.phase = Phase::Calling(vec![call]);
            }
        }
    }

    /// Sets the state of a call, unless it has a result already.
    fn move_call(&mut self, wanted: CallId, state: CallState) {
        if let Some(call) = self.call(wanted).filter(|call| !call.is_finished()) {
            call.state = state;
            call.asks = None;
        }
    }

    fn ask(&mut self, asked: &QuestionAsked) {
        self.watch().forget_reads();
        match &asked.kind {
            QuestionKind::Approval { call } => {
                let asked = Arc::new(asked.clone());
                self.move_call(*call, CallState::Asking(Arc::clone(&asked)));
                if let Some(call) = self.call(*call) {
                    // Earlier approvals were about another question.
                    (call.approved, call.approval, call.asked_by) =
                        (CallApproval::No, Some(asked), AskedBy::ThisProcess);
                }
            }
            QuestionKind::Settlement { call } => {
                self.move_call(*call, CallState::Asking(Arc::new(asked.clone())));
            }
            QuestionKind::Elicitation { call, .. } => {
                let asked = Arc::new(asked.clone());
                match self.call(*call) {
                    Some(running) if running.state == CallState::Started => running.asks = Some(asked),
                    Some(_) | None => self.move_call(*call, CallState::Asking(asked)),
                }
            }
            QuestionKind::Step { .. } => self.step_asks(asked),
            QuestionKind::Cycle => {
                // The same question is used for replies without a call, which are not a cycle.
                if self.without_call == 0 {
                    self.watch().asked();
                }
                self.parked = Some(Arc::new(asked.clone()));
            }
            QuestionKind::Stuck | QuestionKind::Purse { .. } => self.parked = Some(Arc::new(asked.clone())),
        }
    }

    fn answer(&mut self, answered: &QuestionAnswered) {
        self.idle_resumes = 0;
        self.watch().forget_reads();
        if self.parked.as_ref().is_some_and(|asked| asked.question == answered.question) {
            self.parked = None;
            self.without_call = 0;
        }
        self.step_answered(answered);
        let Phase::Calling(calls) = &mut self.phase else { return };
        for call in calls {
            let asked = call.question().filter(|asked| asked.question == answered.question).cloned();
            if let Some(asked) = asked {
                call.answered(&asked, &answered.answer);
            }
        }
    }
}
