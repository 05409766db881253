//! Plan, execute, synthesize (S3): a planner writes steps, the loop has each of them carried out by a child session, one
//! after the other, and a last model call writes the answer from what they reported.
//!
//! ```text
//! Plan turn ──► steps ──► ChildSpawned ──► ChildReported ──► … ──► Synthesis turn ──► RunEnded
//!      │ no plan                              │ a step fails twice
//!      └──────────────► plain loop ◄──────────┘  (with what is done in its context)
//! ```
//!
//! A step made for one of several files that fails does not keep the others from being done; it is named in the answer.
//! What is not done is always added to the answer here, whatever the model writes.

use windlass_vocab::{
    CallId, ChildReported, ChildSpawned, EndReason, EndsBy, Failure, NudgeCause, Part, PlanChanged, PlanItem,
    PlanStatus, Planning, QuestionAsked, QuestionKind, QuestionOption, ReplyFault, Spending, StopReason, TurnMode,
    Usage,
};

use crate::AttemptKey;
use crate::blank::is_blank;
use crate::control::Run;
use crate::draft::Draft;
use crate::judge::Judgement;
use crate::notes::cut_text;
use crate::plan::PlannedStep;
use crate::{plan_texts, texts};

/// How many child sessions try a step.
const TRIES: usize = 2;
/// The most bytes of a child's answer, and the most names of files it changed, that its report keeps.
const ANSWER: usize = 2_000;
const CHANGED: usize = 50;

impl Run {
    /// Whether it begins with a plan. A form that the answer must have is the plain loop's business.
    fn begins_with_plan(&self) -> bool {
        let wanted = match self.policy().planning {
            Planning::Always => true,
            Planning::No | Planning::Optional => false,
        };
        wanted && self.started.output.is_none() && self.started.retry_of.is_none()
    }
}

impl Draft<'_> {
    /// Starts the first turn of a run: the plan, where it begins with one and there are tools to carry it out.
    pub(crate) fn first_turn(&mut self) {
        let plans = self.run().is_some_and(Run::begins_with_plan) && self.usual_mode() == TurnMode::Tools;
        if plans {
            return self.start_turn(TurnMode::Plan);
        }
        let retries = self.run().is_some_and(|run| run.started.retry_of.is_some());
        if retries && !self.control.plan.reports.is_empty() {
            let told = plan_texts::left(&self.control.plan);
            self.nudge(NudgeCause::PlanLeft, "the run before had a plan", &told);
        }
        self.next_turn();
    }

    /// Takes the planner's reply. Fewer than two steps are no plan.
    pub(crate) fn take_plan(
        &mut self,
        key: AttemptKey,
        parts: Vec<Part>,
        stop: StopReason,
        usage: Usage,
        steps: Vec<PlannedStep>,
    ) {
        let Some((run, attempt)) = self.current(key) else { return };
        if run.stop.is_some() {
            return self.hand_back(key, String::new(), usage);
        }
        let replied = run.plain_reply((key, attempt), parts, stop, usage);
        self.push(replied);
        if steps.len() < 2 {
            return self.next_turn();
        }
        let item = |PlannedStep { step, file }| PlanItem { step, status: PlanStatus::Open, file };
        self.go_on_with_plan(steps.into_iter().map(item).collect());
    }

    /// Goes on with a plan whose steps stand like this: with the next step, or with the answer.
    fn go_on_with_plan(&mut self, mut items: Vec<PlanItem>) {
        if let Some(next) = items.iter_mut().find(|item| is_owed(item)) {
            next.status = PlanStatus::Doing;
        }
        self.push(PlanChanged { items });
        self.next_step();
    }

    /// Starts the child session of the next step, unless a limit forbids it (M7); the answer where no step is left.
    pub(crate) fn next_step(&mut self) {
        let plan = std::sync::Arc::clone(&self.control.plan);
        let Some(step) = plan.items.iter().position(is_owed) else { return self.start_turn(TurnMode::Synthesis) };
        let Some(run) = self.run() else { return };
        let first = run.first_model();
        let child = CallId { run: run.id, turn: run.turn, index: count(plan.reports.len()) };
        if let Some(breach) = self.breach(&first, Spending::default()) {
            // The turn in the question is the one that the plan leads to.
            return self.stop_at_limit(&breach, Some(TurnMode::Synthesis));
        }
        self.push(ChildSpawned { child, step: count(step) });
    }

    /// Takes the report of the child session that works on a step, and goes on.
    pub(crate) fn step_reported(&mut self, report: ChildReported) {
        let ChildReported { child, session, reason, answer, mut changed, origins, usage, spent } = report;
        let Some(running) = self.run().and_then(Run::step).filter(|step| step.child == child) else { return };
        let open = running.open.clone();
        let step = usize::try_from(running.step).unwrap_or(usize::MAX);
        let answer = cut_text(&answer, ANSWER);
        changed.truncate(CHANGED);
        self.push(ChildReported { child, session, reason, answer: answer.clone(), changed, origins, usage, spent });
        // Nobody waits for these answers any more.
        open.iter().for_each(|asked| self.take_default(asked));
        if self.run().is_some_and(|run| run.stop.is_some()) {
            return self.end(EndReason::Cancelled, "", None);
        }
        match reason {
            EndReason::Completed | EndReason::Conversed => self.step_is(step, PlanStatus::Done),
            EndReason::Cancelled => self.end(EndReason::Cancelled, "", None),
            EndReason::BudgetSpent => self.end(EndReason::BudgetSpent, answer, None),
            EndReason::Asked => self.leave_plan(step),
            EndReason::Unfinished | EndReason::TurnCap | EndReason::Failed => self.step_failed(step),
        }
    }

    fn step_is(&mut self, step: usize, status: PlanStatus) {
        let mut items = self.control.plan.items.clone();
        if let Some(item) = items.get_mut(step) {
            item.status = status;
        }
        self.go_on_with_plan(items);
    }

    /// Tries a step once more, goes on with the next file, or leaves the plan.
    fn step_failed(&mut self, step: usize) {
        let plan = &self.control.plan;
        if plan.reports.iter().filter(|report| report.step == step).count() < TRIES {
            return self.next_step();
        }
        if plan.items.get(step).is_some_and(|item| item.file.is_some()) {
            return self.step_is(step, PlanStatus::Failed);
        }
        self.leave_plan(step);
    }

    /// Goes on without the plan: the model is told what is done.
    fn leave_plan(&mut self, step: usize) {
        let mut items = self.control.plan.items.clone();
        if let Some(item) = items.get_mut(step) {
            item.status = PlanStatus::Failed;
        }
        self.push(PlanChanged { items });
        let (told, number) = (plan_texts::left(&self.control.plan), step + 1);
        self.nudge(NudgeCause::PlanLeft, format!("step {number} of the plan was not done"), &told);
        self.next_turn();
    }

    /// Asks the person a question of the child session that works on a step.
    pub(crate) fn step_asked(&mut self, child: CallId, asked: QuestionAsked) {
        let Some(running) = self.run().filter(|run| run.stop.is_none()).and_then(Run::step) else { return };
        if running.child != child || running.has_passed_on(asked.question) {
            return;
        }
        let (step, question) = (running.step, asked.question);
        let kind = QuestionKind::Step { child, step, question, subject: Box::new(asked.kind.clone()) };
        // The call that an edit would change is in the child's journal.
        let options = asked.options.iter().copied().filter(|option| *option != QuestionOption::Edit).collect();
        self.push(QuestionAsked { question: self.control.next_question(), kind, options, ..asked });
    }

    /// Ends the run with the answer that a model wrote from the results, or without one.
    pub(crate) fn end_synthesis(&mut self, text: &str) {
        let plan = &self.control.plan;
        let not_done = plan_texts::not_done(plan);
        let (written, reason) = match (is_blank(text), &not_done) {
            (true, _) => (plan_texts::results_alone(plan), EndReason::Unfinished),
            (false, Some(_)) => (text.trim_end().to_owned(), EndReason::Unfinished),
            (false, None) if self.lacks_change(text) => (text.to_owned(), EndReason::Unfinished),
            (false, None) => (text.to_owned(), EndReason::Completed),
        };
        let answer = std::iter::once(written).chain(not_done).collect::<Vec<_>>().join("\n\n");
        self.end(reason, answer, None);
    }

    /// Whether the steps left undone a change that the request asks for, by their records, where the policy has that judged:
    /// a step ends with its reply, whatever it did.
    fn lacks_change(&self, text: &str) -> bool {
        let is_change = |fault: &ReplyFault| {
            matches!(
                fault,
                ReplyFault::NothingChanged {} | ReplyFault::NotWritten { .. } | ReplyFault::NotChanged { .. }
            )
        };
        let judged = self.run().filter(|run| run.policy().ends_by == EndsBy::JudgedText);
        judged.is_some_and(|run| match self.judged(run, text) {
            Judgement::Complete => false,
            Judgement::Incomplete(faults) | Judgement::Deflecting(faults) => faults.iter().any(is_change),
        })
    }

    /// Does what follows when no model answers a turn of this mode: without a planner there is no plan, and without
    /// anybody to write the answer the results stand for it.
    pub(crate) fn end_without_model(&mut self, mode: TurnMode, failure: Failure) {
        match mode {
            TurnMode::WrapUp => self.end(EndReason::Unfinished, texts::NOTHING_TO_SAY, Some(failure)),
            TurnMode::Plan => self.next_turn(),
            // The context is pinned next, with tools.
            TurnMode::Route => {}
            TurnMode::Synthesis => self.end_synthesis(""),
            TurnMode::Tools | TurnMode::Talk | TurnMode::Summary | TurnMode::Title => {
                self.end(EndReason::Failed, failure.message.clone(), Some(failure));
            }
        }
    }
}

/// Whether a step is still to be done.
fn is_owed(item: &PlanItem) -> bool {
    match item.status {
        PlanStatus::Open | PlanStatus::Doing => true,
        PlanStatus::Done | PlanStatus::Failed => false,
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
