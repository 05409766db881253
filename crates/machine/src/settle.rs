//! Resumes a run that another process left unfinished (J3, J4): the effect class of each unfinished call decides first,
//! then the policy.

use std::sync::Arc;

use windlass_vocab::{
    Answer, AnsweredBy, Attendance, CallId, CallSettled, EffectClass, OutcomeKind, Preview, QuestionAnswered,
    QuestionAsked, QuestionId, QuestionKind, QuestionOption, RunResumed, Settlement, Timestamp, UnfinishedCall,
};

use crate::calls::rule_to_allow;
use crate::control::{AskedBy, Call, CallState, Phase, Run};
use crate::draft::Draft;
use crate::fact::OpenApprovals;
use crate::snapshot_state::SnapshotState;
use crate::texts;

/// Resumes without progress after which a run is parked with a question.
const IDLE_RESUMES: u32 = 3;

impl Draft<'_> {
    /// Resumes the run in this process.
    pub(crate) fn resume(&mut self, attendance: Attendance, deadline: Option<Timestamp>, approvals: OpenApprovals) {
        let Some(run) = self.run() else { return };
        let withdrawn = match approvals {
            OpenApprovals::CheckedAgain => Some(open_approvals(run)),
            OpenApprovals::Answered => Some(Vec::new()),
            OpenApprovals::LeftAlone => None,
        };
        self.push(RunResumed { attendance, deadline, withdrawn });
        let Some(run) = self.run() else { return };
        if run.stop.is_some() {
            return;
        }
        if let Some(asked) = run.parked.clone() {
            // Nobody is available to stop a model that repeats itself, so the default stops it.
            if asked.kind == QuestionKind::Cycle && !self.is_attended() {
                let without_call = run.without_call;
                self.take_default(&asked);
                self.halt(without_call);
            } else if let QuestionKind::Purse { limit, .. } = asked.kind
                && !self.is_attended()
            {
                self.take_default(&asked);
                self.keep_limit(limit);
            }
            return;
        }
        if run.idle_resumes > IDLE_RESUMES {
            return self.ask_to_go_on(QuestionKind::Stuck, texts::STUCK_QUESTION);
        }
        self.take_up();
    }

    /// Settles the interrupted calls and continues the run.
    pub(crate) fn take_up(&mut self) {
        if self.is_calling() {
            self.settle_calls();
            if !self.is_attended() {
                self.give_up_on_questions();
            }
            self.go_on_with_calls();
        }
    }

    fn settle_calls(&mut self) {
        let started = |call: &&Call| match call.state {
            // The files it may change are not saved yet, so it has not run.
            CallState::Started if call.kept == SnapshotState::Missing => false,
            CallState::Started | CallState::Verifying => true,
            CallState::NeedsApproval
            | CallState::NeedsPermissionCheck
            | CallState::Ready
            | CallState::Asking(_)
            | CallState::Paused
            | CallState::Finished(_) => false,
        };
        let cut_short: Vec<Call> =
            self.run().map(Run::calls).unwrap_or_default().iter().filter(started).cloned().collect();
        for call in cut_short {
            let id = call.request.call;
            // A question that the tool asked is void after the process died.
            if let Some(asked) = &call.asks {
                self.take_default(asked);
            }
            match call.request.effect {
                EffectClass::ReadOnly | EffectClass::Idempotent => self.settled(id, Settlement::RunAgain),
                EffectClass::Verifiable => self.settled(id, Settlement::Verify),
                EffectClass::Once => self.settle_by_policy(&call),
            }
        }
    }

    /// Settles a call by the policy, where its effect class does not decide.
    pub(crate) fn settle_by_policy(&mut self, call: &Call) {
        let id = call.request.call;
        let row = self.run().map_or(UnfinishedCall::Interrupt, |run| run.policy().unfinished_call);
        match (row, self.is_attended()) {
            (UnfinishedCall::RunAgain, _) => self.settled(id, Settlement::RunAgain),
            (UnfinishedCall::Interrupt, _) | (UnfinishedCall::AskOrInterrupt, false) => {
                self.settled(id, Settlement::Interrupt);
                self.interrupt(id);
            }
            (UnfinishedCall::Ask, _) | (UnfinishedCall::AskOrInterrupt, true) => {
                self.settled(id, Settlement::Ask);
                self.ask_settlement(call);
            }
        }
    }

    fn ask_settlement(&mut self, call: &Call) {
        let request = &call.request;
        let tool = request.tool.as_ref().map_or(request.name.as_str(), |tool| tool.bare());
        let body = match (&call.edited, &request.preview) {
            (Some(edited), _) => edited.as_str().to_owned(),
            (None, Some(preview)) => preview.title.clone(),
            (None, None) => request.arguments.as_str().to_owned(),
        };
        self.push(QuestionAsked {
            question: self.control.next_question(),
            kind: QuestionKind::Settlement { call: request.call },
            preview: Some(Preview {
                title: format!("{tool} was cut short by a crash and may or may not have taken effect. Run it again?"),
                body,
                rule: None,
            }),
            options: vec![QuestionOption::RunAgain, QuestionOption::Interrupt],
            expires: None,
            default: QuestionOption::Interrupt,
            elicitation: None,
            because: None,
        });
    }

    fn settled(&mut self, call: CallId, settlement: Settlement) {
        self.push(CallSettled { call, settlement });
    }

    /// Gives questions their default at once when the person is no longer available (T8), except a settlement for which
    /// the policy requires a person.
    fn give_up_on_questions(&mut self) {
        let row = self.run().map_or(UnfinishedCall::Interrupt, |run| run.policy().unfinished_call);
        let asking: Vec<(CallId, Arc<QuestionAsked>)> = self
            .run()
            .map(Run::calls)
            .unwrap_or_default()
            .iter()
            .filter_map(|call| match &call.state {
                CallState::Asking(asked) => Some((call.request.call, Arc::clone(asked))),
                CallState::NeedsApproval
                | CallState::NeedsPermissionCheck
                | CallState::Ready
                | CallState::Started
                | CallState::Paused
                | CallState::Verifying
                | CallState::Finished(_) => None,
            })
            .collect();
        for (call, asked) in asking {
            match asked.kind {
                QuestionKind::Approval { .. } => {
                    self.take_default(&asked);
                    let remedy = rule_to_allow(asked.preview.as_ref());
                    self.refuse(call, OutcomeKind::Denied, texts::NOBODY_TO_ASK, remedy);
                }
                QuestionKind::Elicitation { .. } => self.take_default(&asked),
                QuestionKind::Settlement { .. } if row == UnfinishedCall::AskOrInterrupt => {
                    self.take_default(&asked);
                    self.interrupt(call);
                }
                QuestionKind::Settlement { .. }
                | QuestionKind::Step { .. }
                | QuestionKind::Cycle
                | QuestionKind::Stuck
                | QuestionKind::Purse { .. } => {}
            }
        }
    }

    pub(crate) fn take_default(&mut self, asked: &QuestionAsked) {
        let answer = Answer::plain(asked.default);
        self.push(QuestionAnswered { question: asked.question, answer, by: AnsweredBy::Expiry, grant: None });
    }
}

impl Run {
    /// Whether only an answer can continue the run: no call was running that a resume could settle.
    pub(crate) fn waits_for_a_person(&self) -> bool {
        let any = |wanted: fn(&CallState) -> bool| self.calls().iter().any(|call| wanted(&call.state));
        any(|state| matches!(state, CallState::Asking(_)))
            && !any(|state| matches!(state, CallState::Started | CallState::Verifying))
    }

    /// Voids the permission checks and previews of another process (X6).
    pub(crate) fn leave_process(&mut self, resumed: &RunResumed) {
        let Phase::Calling(calls) = &mut self.phase else { return };
        calls.iter_mut().for_each(Call::leave_process);
        // An older version left open approvals as they were.
        let Some(withdrawn) = &resumed.withdrawn else { return };
        for call in calls {
            call.asked_by = AskedBy::AnEarlierOne;
            let counts_no_more = match &call.state {
                CallState::NeedsApproval => true,
                CallState::Asking(asked) => withdrawn.contains(&asked.question),
                CallState::NeedsPermissionCheck
                | CallState::Ready
                | CallState::Started
                | CallState::Paused
                | CallState::Verifying
                | CallState::Finished(_) => false,
            };
            if counts_no_more {
                call.state = CallState::NeedsPermissionCheck;
            }
        }
    }
}

/// Returns the approval questions that wait for an answer.
pub(crate) fn open_approvals(run: &Run) -> Vec<QuestionId> {
    let questions = run.calls().iter().filter_map(Call::question);
    questions.filter(|asked| matches!(asked.kind, QuestionKind::Approval { .. })).map(|asked| asked.question).collect()
}
