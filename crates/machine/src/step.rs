//! The state of a plan that the loop carries out (S3): its steps, what they brought, and the child session that works on
//! one of them.

use std::sync::Arc;

use windlass_vocab::{
    Answer, CallId, ChildReported, ChildSpawned, EndReason, PlanChanged, PlanItem, QuestionAnswered, QuestionAsked,
    QuestionId, QuestionKind, RunStarted, Spending, TextOrigin,
};

use crate::control::{LoopState, Phase, Run};

/// The plan of the last run that had one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanProgress {
    /// Its steps.
    pub items: Vec<PlanItem>,
    /// What child sessions reported, in order.
    pub reports: Vec<StepReport>,
}

/// What a child session reported about its step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// The step, from 0.
    pub step: usize,
    /// How the child's run ended.
    pub reason: EndReason,
    /// Its answer.
    pub answer: String,
    /// The files it changed.
    pub changed: Vec<String>,
    /// Where text came from that it was shown and nobody has checked (X4).
    pub origins: Vec<TextOrigin>,
}

impl StepReport {
    /// Whether the step is done.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        match self.reason {
            EndReason::Completed | EndReason::Conversed => true,
            EndReason::Asked
            | EndReason::Unfinished
            | EndReason::Cancelled
            | EndReason::TurnCap
            | EndReason::BudgetSpent
            | EndReason::Failed => false,
        }
    }
}

/// A step that a child session works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningStep {
    /// The child's position.
    pub child: CallId,
    /// The step, from 0.
    pub step: u32,
    /// Questions of the child that the person is asked.
    pub open: Vec<Arc<QuestionAsked>>,
    /// Answers for the child, by the number that the question has there.
    pub answers: Vec<(QuestionId, Answer)>,
}

impl RunningStep {
    /// Returns a number that grows with each question and each answer.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        // An answered question counts twice: when it was asked and when it was answered.
        let rounds = self.open.len() + 2 * self.answers.len();
        u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// Whether the person was asked this question of the child.
    #[must_use]
    pub fn has_passed_on(&self, question: QuestionId) -> bool {
        let is_open = self.open.iter().any(|asked| question_of_child(asked) == Some(question));
        is_open || self.answers.iter().any(|(answered, _)| *answered == question)
    }

    fn answered(&mut self, answered: &QuestionAnswered) {
        let Some(place) = self.open.iter().position(|asked| asked.question == answered.question) else { return };
        let asked = self.open.remove(place);
        self.answers.extend(question_of_child(&asked).map(|question| (question, answered.answer.clone())));
    }
}

/// Returns the number that a passed on question has in the child session.
#[must_use]
pub fn question_of_child(asked: &QuestionAsked) -> Option<QuestionId> {
    match asked.kind {
        QuestionKind::Step { question, .. } => Some(question),
        QuestionKind::Approval { .. }
        | QuestionKind::Settlement { .. }
        | QuestionKind::Elicitation { .. }
        | QuestionKind::Cycle
        | QuestionKind::Stuck
        | QuestionKind::Purse { .. } => None,
    }
}

impl Run {
    /// Returns the step that a child session works on.
    #[must_use]
    pub fn step(&self) -> Option<&RunningStep> {
        match &self.phase {
            Phase::Stepping(step) => Some(step),
            Phase::Pinning | Phase::Modelling(_) | Phase::Calling(_) | Phase::Between => None,
        }
    }

    fn step_mut(&mut self) -> Option<&mut RunningStep> {
        match &mut self.phase {
            Phase::Stepping(step) => Some(step),
            Phase::Pinning | Phase::Modelling(_) | Phase::Calling(_) | Phase::Between => None,
        }
    }

    /// Applies a question that a child asks.
    pub(crate) fn step_asks(&mut self, asked: &QuestionAsked) {
        if let Some(step) = self.step_mut() {
            step.open.push(Arc::new(asked.clone()));
        }
    }

    /// Applies the answer to a question that a child asks.
    pub(crate) fn step_answered(&mut self, answered: &QuestionAnswered) {
        if let Some(step) = self.step_mut() {
            step.answered(answered);
        }
    }

    /// Returns what it has spent, with its children.
    pub(crate) fn spent_in_all(&self) -> Spending {
        let mut spent = self.spending;
        spent += self.spent_by_children;
        spent
    }
}

impl LoopState {
    /// Forgets the plan of the run before, unless this run retries it.
    pub(crate) fn begin_plan(&mut self, started: &RunStarted) {
        if started.retry_of.is_none() && self.plan != Arc::default() {
            self.plan = Arc::default();
        }
    }

    /// Applies a plan that the loop carries out. A model that keeps a list of its own does so by a call.
    pub(crate) fn plan_changed(&mut self, changed: &PlanChanged) {
        let Some(run) = &mut self.run else { return };
        if run.phase == Phase::Between {
            Arc::make_mut(&mut self.plan).items.clone_from(&changed.items);
        } else {
            run.evidence().plan.clone_from(&changed.items);
        }
    }

    /// Applies the start of a child session.
    pub(crate) fn child_spawned(&mut self, spawned: &ChildSpawned) {
        let ChildSpawned { child, step } = *spawned;
        if let Some(run) = &mut self.run {
            run.phase = Phase::Stepping(RunningStep { child, step, open: Vec::new(), answers: Vec::new() });
        }
    }

    /// Applies the report of a child session: what it spent counts for this session and its run (M7).
    pub(crate) fn child_reported(&mut self, reported: &ChildReported) {
        self.spending += reported.spent;
        let Some(run) = &mut self.run else { return };
        run.idle_resumes = 0;
        run.usage += reported.usage;
        run.spent_by_children += reported.spent;
        run.evidence().step_changed(&reported.changed);
        let step = run.step().filter(|step| step.child == reported.child).map(|step| step.step);
        run.phase = Phase::Between;
        let Some(step) = step else { return };
        Arc::make_mut(&mut self.plan).reports.push(StepReport {
            step: usize::try_from(step).unwrap_or(usize::MAX),
            reason: reported.reason,
            answer: reported.answer.clone(),
            changed: reported.changed.clone(),
            origins: reported.origins.clone(),
        });
    }
}
